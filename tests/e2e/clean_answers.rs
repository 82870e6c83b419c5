//! Clean answers on the real Envoy: what reaches the agent, when, and with which headers.

use std::io::Write;

use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use hyper::HeaderMap;
use sentinel_harness::provider::{Answer, Gate, Piece, Reply, bedrock, faithful, reply::text_for, speak};
use sentinel_harness::{Dialect, Stack, client};
use serde_json::json;

use crate::support::QUESTION;

const SAID: &str = "<think>First I look\n\nat it.</think>\n\n<final>It is seven, as `<think>` says.</final>";
const LEFT: &str = "It is seven, as `<think>` says.";

fn stack() -> Stack {
    Stack::builder()
        .config(
            &json!({"semantic": {"enabled": false}, "score": {"enabled": false}, "clean": {"enabled": true}}),
        )
        .start()
}

fn trailers() -> Piece {
    let mut trailers = HeaderMap::new();
    trailers.insert("x-checksum", "1".parse().expect("a value"));
    Piece::Trailers(trailers)
}

/// The same bytes in pieces of this size.
fn in_pieces(answer: Answer, size: usize) -> Answer {
    let body = bytes_of(&answer);
    let pieces = body.chunks(size).map(|piece| Piece::Bytes(Bytes::copy_from_slice(piece))).collect();
    Answer { pieces, ..answer }
}

fn bytes_of(answer: &Answer) -> Vec<u8> {
    let bytes = |piece: &Piece| if let Piece::Bytes(bytes) = piece { bytes.to_vec() } else { Vec::new() };
    answer.pieces.iter().flat_map(bytes).collect()
}

fn contains(body: &[u8], text: &str) -> bool {
    body.windows(text.len()).any(|part| part == text.as_bytes())
}

/// The expected answer: the provider's, with only the text replaced.
fn expected(stack: &Stack) -> Vec<u8> {
    bytes_of(&speak(&stack.provider.last(), &Reply::Text(LEFT.into())))
}

#[tokio::test]
async fn whole_answers_are_cleaned_however_they_come() {
    let mut stack = stack();
    for (how, size, has_trailers) in
        [("with a length", usize::MAX, false), ("in chunks", 50, false), ("with trailers", 50, true)]
    {
        stack.provider.script(move |request| {
            let mut answer = in_pieces(speak(request, &Reply::Text(SAID.into())), size);
            if has_trailers {
                answer.pieces.push(trailers());
            }
            answer
        });
        for dialect in Dialect::ALL {
            let response = stack.ask(dialect, dialect.label(), &format!("{QUESTION} {how}")).await;
            assert_eq!(response.status, 200, "{dialect:?} {how}");
            assert_eq!(
                String::from_utf8_lossy(&response.body),
                String::from_utf8_lossy(&expected(&stack)),
                "{dialect:?} {how}"
            );
            let length = response.header("content-length").map(str::to_owned);
            let is_right = length.is_none_or(|length| length == response.body.len().to_string());
            assert!(is_right, "{dialect:?} {how}");
            assert_eq!(response.verdict(), "allow", "{dialect:?}");
            assert_eq!(response.header("x-sentinel-no-reply"), None);
        }
    }
    let cleaned =
        |kind| stack.count("sentinel_answers_cleaned_total", &[("kind", kind), ("dialect", "openai_chat")]);
    assert_eq!((cleaned("thinking"), cleaned("final"), cleaned("tool_xml")), (3, 3, 0));
    stack.assert_sound();
}

#[tokio::test]
async fn streams_are_cleaned_wherever_they_are_cut() {
    let mut stack = stack();
    for size in [1, 33, 100_000] {
        stack.provider.script(move |request| in_pieces(speak(request, &Reply::Text(SAID.into())), size));
        for dialect in Dialect::ALL {
            let response = stack.ask_stream(dialect, dialect.label(), &format!("{QUESTION} {size}")).await;
            assert_eq!(response.status, 200, "{dialect:?}");
            assert!(!contains(&response.body, "First I look"), "{dialect:?} {size}");
            assert!(contains(&response.body, "seven"), "{dialect:?} {size}");
            assert!(contains(&response.body, "`<think>`"), "{dialect:?} {size}");
        }
    }
    stack.assert_sound();
}

/// What an answer may be about or made of, and an answer that would be empty.
#[tokio::test]
async fn ordinary_answers_stay() {
    let said_twice = "It takes more than a few words to be sure that this was said twice. ".repeat(2);
    let twice = format!("{said_twice}So it is.\n\n{said_twice}So it is.");
    let answers = [
        "Row, row, row your boat.\n\nRow, row, row your boat.\n\nGently down the stream.\n",
        "  a | b\n  --|--\n  1 | 2\n",
        "Use this\n<function name=\"f\"><body/></function>",
        "<note><to>Ann</to>\n  <body>Come</body></note>",
        "The form is:\n<tool_call>{\"name\":\"f\"}</tool_call>",
        "Roses are red,\n  violets are blue,\n\n    sugar is sweet.",
        "<thought> opens a thought and </thought> ends it.",
        "<think>Nothing else.</think>",
        "<tool_call>{\"name\":\"f\",\"arguments\":{}}</tool_call>",
        &twice,
    ];
    let mut stack = stack();
    for (number, text) in (1..).zip(answers) {
        let reply = Reply::Text(text.to_owned());
        stack.provider.script(move |request| speak(request, &reply));
        for dialect in Dialect::ALL {
            // Questions differ, so that no answer is one to a repetition.
            let question = format!("{QUESTION} {}", text_for(&number.to_string()));
            let whole = stack.ask(dialect, dialect.label(), &question).await;
            let sent = bytes_of(&speak(&stack.provider.last(), &Reply::Text(text.to_owned())));
            assert_eq!(
                String::from_utf8_lossy(&whole.body),
                String::from_utf8_lossy(&sent),
                "{dialect:?}, {text}"
            );
            // What might have become a tag comes in an event of its own.
            let stream = stack.ask_stream(dialect, dialect.label(), &format!("{question} Once more?")).await;
            assert_eq!(dialect.answer_text(&stream.body), text, "{dialect:?}");
        }
    }
    stack.assert_sound();
}

/// The provider sends its next chunk only when the agent has got the last one.
#[tokio::test]
async fn a_stream_without_anything_to_clean_passes_chunk_by_chunk() {
    let mut stack = stack();
    for dialect in Dialect::ALL {
        let gate = Gate::closed();
        let provider_gate = gate.clone();
        stack.provider.script(move |request| faithful(request).gated(&provider_gate));
        let body = dialect.ask(QUESTION, true).to_string();
        let headers = [("x-agent-id", dialect.label())];
        let mut answer = client::stream(stack.address(), dialect.path(true), &headers, body).await;
        let chunks = speak(&stack.provider.last(), &Reply::Text(text_for(QUESTION))).pieces;
        for (number, expected) in chunks.iter().enumerate() {
            let Piece::Bytes(expected) = expected else { panic!("the script sends bytes only") };
            let mut got = Vec::new();
            while got.len() < expected.len() {
                got.extend_from_slice(&answer.chunk().await.expect("a chunk"));
            }
            assert_eq!(got, **expected, "{dialect:?}: chunk {number}");
            gate.open();
        }
        assert_eq!(answer.chunk().await, None, "{dialect:?}: something after the end");
    }
    stack.assert_sound();
}

#[tokio::test]
async fn an_answer_that_says_nothing_is_marked() {
    let mut stack = stack();
    stack.provider.script(|request| {
        // What a provider says of itself is not our word.
        speak(request, &Reply::Text("<think>Stored.</think>NO_REPLY".into()))
            .with("x-sentinel-no-reply", "maybe")
    });
    for dialect in Dialect::ALL {
        let whole = stack.ask(dialect, dialect.label(), QUESTION).await;
        assert_eq!(whole.header("x-sentinel-no-reply"), Some("true"), "{dialect:?}");
        let stream = stack.ask_stream(dialect, dialect.label(), "And now, once more?").await;
        assert_eq!(stream.header("x-sentinel-no-reply"), None, "{dialect:?}");
    }
    let lines = stack.envoy.log().lines().filter(|line| line.contains(r#""event":"no_reply""#)).count();
    assert_eq!(lines, 2 * Dialect::ALL.len());
    stack.assert_sound();
}

/// Nothing of what cannot be cleaned is lost, whatever it is and however it ends.
#[tokio::test]
async fn what_cannot_be_cleaned_passes_byte_for_byte() {
    let mut stack = stack();
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    gzip.write_all(SAID.as_bytes()).expect("compressed");
    let gzip = gzip.finish().expect("compressed");
    let json = |body: Vec<u8>| Answer::of(200, "application/json", vec![Piece::Bytes(body.into())]);
    let large =
        format!(r#"{{"choices":[{{"message":{{"content":"<think>a</think>{}"}}}}]}}"#, "z".repeat(3_000_000));
    let answers = [
        ("compressed", json(gzip).with("content-encoding", "gzip")),
        ("not JSON", json(b"{\"choices\": [".to_vec())),
        ("not JSON, in pieces", in_pieces(json(b"{\"choices\": [\"<think>a</think>".to_vec()), 5)),
        ("invalid UTF-8", json(vec![0xff; 100])),
        ("large", json(large.clone().into_bytes())),
        ("large, in pieces", in_pieces(json(large.into_bytes()), 60_000)),
        ("no content", Answer::of(204, "application/json", vec![])),
        ("an empty body", Answer::of(200, "application/json", vec![])),
        ("noise", Answer::events(vec!["\u{0}\u{1}data data:\n\n\n\n:::\r\r\n".to_owned()])),
        ("an endless line", Answer::events(vec!["data: ".to_owned() + &"y".repeat(3_000_000)])),
        ("frames that end with an exception", bedrock::broken_events("one two three four five")),
    ];
    for (what, answer) in answers {
        for has_trailers in [false, true] {
            let expected = bytes_of(&answer);
            let (status, mut answer) = (answer.status, answer.clone());
            if has_trailers {
                answer.pieces.push(trailers());
            }
            stack.provider.script(move |_| answer.clone());
            for dialect in [Dialect::OpenaiChat, Dialect::Anthropic, Dialect::Bedrock] {
                let response = stack.ask(dialect, what, "Tell me something long about rivers").await;
                assert_eq!(response.status, status, "{dialect:?}, {what}");
                let (got, sent) = (response.body.len(), expected.len());
                assert!(
                    response.body == expected,
                    "{dialect:?}, {what}, trailers {has_trailers}: {got} of {sent}"
                );
            }
        }
    }
    assert!(stack.count("sentinel_bypasses_total", &[("cause", "uncleaned")]) > 0);
    stack.assert_sound();
}

/// A stream that ends without a final event: the text that was held back comes last, also before trailers.
#[tokio::test]
async fn a_stream_that_ends_inside_of_a_tag_loses_nothing() {
    let mut stack = stack();
    for has_trailers in [false, true] {
        stack.provider.script(move |_| {
            let event = json!({"choices": [{"index": 0, "delta": {"content": "It is seven <thi"}}]});
            let mut answer = Answer::events(vec![format!("data: {event}\n\n")]);
            if has_trailers {
                answer.pieces.push(trailers());
            }
            answer
        });
        let response = stack.ask_stream(Dialect::OpenaiChat, "cut", QUESTION).await;
        let body = String::from_utf8_lossy(&response.body).into_owned();
        assert!(body.contains("It is seven") && body.contains("<thi"), "trailers {has_trailers}: {body}");
    }
    stack.assert_sound();
}
