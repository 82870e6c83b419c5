//! Clean answers from the outside: what of an answer reaches the agent, in every dialect, whole and as a stream that is cut
//! wherever it may be.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    reason = "a test may fail"
)]

#[path = "support/answers.rs"]
mod answers;

use answers::{DIALECTS, Dialect};
use sentinel_config::Config;
use sentinel_llm_api::framing::event_stream;
use sentinel_pipeline::clean_text::Removal;
use sentinel_pipeline::{
    bypass::Bypass,
    in_memory::{ClientRequest, Exchange, InMemory, ProviderResponse},
    metric::{CleanKind, Metric},
};
use sentinel_wire::Dialect as Wire;

const CLEAN: &str = r#"{"clean":{"enabled":true},"semantic":{"enabled":false}}"#;
const ARGUMENTS: &str = r#"{"a":"<think>x</think>"}"#;
/// Tags and marks in pieces as models send them.
const PIECES: [&str; 9] = [
    "<th",
    "ink>Hm, ",
    "no.</think",
    ">\n\nIt is",
    " 7 < 8 [x",
    "]. `<final>` ",
    "<final>So",
    "</final> it is.\n[Tool Ca",
    "ll: f]\n{\"a\": 1}\n",
];
const LEFT: &str = "It is 7 < 8 [x]. `<final>` <final>So</final> it is.\n";

fn host(config: &str) -> InMemory {
    InMemory::new(Config::from_json(config.as_bytes()).unwrap())
}

fn passed(
    host: &mut InMemory,
    dialect: &Dialect,
    content_type: &str,
    body: &[u8],
    part: Option<usize>,
) -> Exchange {
    let request = ClientRequest::post(dialect.path, dialect.request.as_str()).with("x-agent-id", "a");
    let response =
        ProviderResponse { content_type: content_type.into(), part, ..ProviderResponse::json(body) };
    let exchange = host.exchange(&request, &response);
    assert!(!exchange.hangs, "{}", dialect.label());
    exchange
}

fn streamed(dialect: &Dialect, body: &[u8], part: Option<usize>) -> Vec<u8> {
    passed(&mut host(CLEAN), dialect, dialect.content_type, body, part).received
}

#[test]
fn a_whole_answer_is_cleaned_and_all_else_of_it_stays() {
    for dialect in DIALECTS.iter() {
        let said = "It is \"7\". ".repeat(20) + "So it is.";
        let text = format!("<think>Hm.</think>\n\n{said}\n\n{said}\n");
        let left = format!("{said}\n\n{said}");
        let (body, expected) = (dialect.whole(&text), dialect.whole(&left));
        for part in [None, Some(1), Some(100)] {
            let mut host = host(CLEAN);
            let exchange = passed(&mut host, dialect, "application/json", body.as_bytes(), part);
            assert_eq!(
                String::from_utf8(exchange.received.clone()).unwrap(),
                expected,
                "{}",
                dialect.label()
            );
            assert_eq!(exchange.header("content-length"), Some(expected.len().to_string().as_str()));
            assert!(exchange.removed.is_empty());
            for (step, count) in [(Removal::Thinking, 1), (Removal::BlankLines, 1), (Removal::Final, 0)] {
                assert_eq!(
                    host.counted(Metric::Cleaned(CleanKind::Removal(step), dialect.label())),
                    count,
                    "{step:?}"
                );
            }
        }
        let only = dialect.whole("<think>Nothing else.</think>");
        let exchange = passed(&mut host(CLEAN), dialect, "application/json", only.as_bytes(), None);
        assert_eq!(exchange.received, only.into_bytes(), "no answer is emptied");
    }
}

#[test]
fn a_stream_is_the_same_wherever_it_is_cut() {
    for dialect in DIALECTS.iter() {
        let body = dialect.frames(&PIECES).concat();
        let whole = streamed(dialect, &body, None);
        let read = dialect.read(dialect.content_type, &whole);
        assert_eq!(read, (LEFT.to_owned(), ARGUMENTS.to_owned()), "{}", dialect.label());
        // Every place of each framing; the other dialects have the same ones.
        let step =
            if matches!(dialect.wire, Wire::OpenaiChat | Wire::Anthropic | Wire::Bedrock) { 1 } else { 11 };
        for part in (1..body.len()).step_by(step) {
            let received = streamed(dialect, &body, Some(part));
            assert!(received == whole, "{} in parts of {part}", dialect.label());
        }
    }
}

/// What becomes of an answer, by example: `golden/clean/<dialect>.whole` and `.stream`. `UPDATE_GOLDEN=1 cargo test -p
/// sentinel-pipeline --test clean` writes them anew.
#[test]
fn cleaned_answers_are_as_they_were() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/clean");
    for dialect in DIALECTS.iter() {
        let whole = dialect.whole(&PIECES.concat());
        let whole = passed(&mut host(CLEAN), dialect, "application/json", whole.as_bytes(), None).received;
        let stream = streamed(dialect, &dialect.frames(&PIECES).concat(), None);
        for (kind, actual) in [("whole", whole), ("stream", stream)] {
            let path = folder.join(format!("{}.{kind}", dialect.label()));
            if std::env::var_os("UPDATE_GOLDEN").is_some() {
                std::fs::create_dir_all(&folder).unwrap();
                std::fs::write(&path, &actual).unwrap();
            }
            let expected = std::fs::read(&path).unwrap();
            let (expected, actual) = (String::from_utf8_lossy(&expected), String::from_utf8_lossy(&actual));
            assert_eq!(expected, actual, "{} is not what becomes of it", path.display());
        }
    }
}

#[test]
fn deltas_may_be_cut_wherever_they_like() {
    let text = PIECES.concat();
    for dialect in DIALECTS.iter() {
        for at in (0..=text.len()).filter(|at| text.is_char_boundary(*at)) {
            let (head, tail) = text.split_at(at);
            let received = streamed(dialect, &dialect.frames(&[head, tail]).concat(), None);
            assert_eq!(dialect.read(dialect.content_type, &received).0, LEFT, "{} at {at}", dialect.label());
        }
    }
}

#[test]
fn what_holds_nothing_to_clean_is_not_touched() {
    let text = [
        "Look: `<think>`,",
        " [a](b) < c\n```\n",
        "<final>x</final>\n[Tool Call: y]\n```\n",
        "\n\nSame.\n\nSame.",
        "  \n",
    ];
    for dialect in DIALECTS.iter() {
        let body = dialect.frames(&text).concat();
        for part in [None, Some(1), Some(7), Some(64)] {
            assert!(streamed(dialect, &body, part) == body, "{} in parts of {part:?}", dialect.label());
        }
        let whole = dialect.whole("Look: `<think>` <b>c</b>.");
        let mut host = host(CLEAN);
        let exchange = passed(&mut host, dialect, "application/json", whole.as_bytes(), Some(9));
        assert_eq!(exchange.received, whole.as_bytes());
        assert_eq!((exchange.header("content-length"), exchange.removed.len()), (None, 0));
        assert!(host.counters.keys().all(|name| !name.contains("cleaned")), "{:?}", host.counters);
    }
}

/// Each frame goes on when it comes. So does a text, except for what may become a tag.
#[test]
fn nothing_waits_that_need_not() {
    for dialect in DIALECTS.iter() {
        let frames = dialect.frames(&["One ", "two ", "three <fi", "ve"]);
        for (at, frame) in frames.iter().enumerate() {
            let before = frames[..at].concat();
            let now = frames[..=at].concat();
            let (before, now) = (streamed_so_far(dialect, &before), streamed_so_far(dialect, &now));
            let is_held = frame.windows(3).any(|bytes| bytes == b"<fi")
                || frame.windows(3).any(|bytes| bytes == b"\"ve");
            assert!(is_held || now[before.len()..] == **frame, "{} {at}", dialect.label());
        }
        let three = streamed_so_far(dialect, &frames[..frames.len().min(6)].concat());
        assert!(three.windows(6).any(|bytes| bytes == b"three "), "{}", dialect.label());
    }
}

fn streamed_so_far(dialect: &Dialect, body: &[u8]) -> Vec<u8> {
    let request = ClientRequest::post(dialect.path, dialect.request.as_str());
    let response = ProviderResponse {
        content_type: dialect.content_type.into(),
        is_cut_off: true,
        ..ProviderResponse::json(body)
    };
    host(CLEAN).exchange(&request, &response).received
}

#[test]
fn what_does_not_end_goes_back_before_the_text_ends() {
    for dialect in DIALECTS.iter() {
        for (pieces, expected) in [
            (vec!["It is <think>", "seven, ", "<b>I"], "It is <think>seven, <b>I"),
            (vec!["It is 7 <thi"], "It is 7 <thi"),
            (vec!["<think>a</think>"], "<think>a</think>"),
            (vec!["Yes.\n<tool_call>", "{}</tool_call>", " No."], "Yes.\n<tool_call>{}</tool_call> No."),
            (vec!["Yes.\n<tool_call>", "{}</tool_call>", "\n"], "Yes.\n"),
            (vec!["  "], "  "),
            (vec!["\n\n", "", "Hi"], "Hi"),
        ] {
            let body = dialect.frames(&pieces).concat();
            for part in [None, Some(1), Some(50)] {
                let received = streamed(dialect, &body, part);
                let read = dialect.read(dialect.content_type, &received);
                assert_eq!(
                    read,
                    (expected.to_owned(), ARGUMENTS.to_owned()),
                    "{} {pieces:?}",
                    dialect.label()
                );
            }
        }
    }
}

#[test]
fn a_stream_that_ends_inside_of_a_tag_loses_nothing() {
    for dialect in DIALECTS.iter() {
        let frames = dialect.frames(&["It is 7", " <thin"]);
        let at = frames.iter().position(|frame| frame.windows(5).any(|bytes| bytes == b" <thi")).unwrap();
        let mut body = frames[..=at].concat();
        let whole = dialect.read(dialect.content_type, &streamed(dialect, &body, Some(3)));
        assert_eq!(whole.0, "It is 7 <thin", "{}", dialect.label());
        // Without the end of its last event, too.
        body.truncate(body.len() - if dialect.wire == Wire::Bedrock { 0 } else { 2 });
        let received = streamed(dialect, &body, None);
        assert_eq!(dialect.read(dialect.content_type, &received).0, "It is 7 <thin", "{}", dialect.label());
    }
}

/// What OpenAI's Responses and Gemini's interactions say again at the end of a text is what was said.
#[test]
fn copies_are_what_the_pieces_were() {
    for wire in [Wire::OpenaiResponses, Wire::GeminiInteractions] {
        let dialect = DIALECTS.iter().find(|dialect| dialect.wire == wire).unwrap();
        let received = String::from_utf8(streamed(dialect, &dialect.frames(&PIECES).concat(), None)).unwrap();
        let copies = received.matches(&sentinel_llm_api::json::quoted(LEFT)).count();
        assert_eq!(copies, if wire == Wire::OpenaiResponses { 4 } else { 1 }, "{received}");
        assert!(!received.contains("ink>Hm"), "{received}");
    }
}

#[test]
fn choices_and_calls_beside_a_text_are_not_said_twice() {
    let chat = &DIALECTS[0];
    let chunk = |choices: &str| {
        format!("data: {{\"id\":\"c\",\"usage\":{{\"prompt_tokens\":5}},\"choices\":[{choices}]}}\n\n")
    };
    let body = [
        chunk(r#"{"index":0,"delta":{"content":"A <","tool_calls":[{"index":0,"id":"t","function":{"name":"f","arguments":"{}"}}]}},{"index":1,"delta":{"content":"<think>"}}"#),
        chunk(r#"{"index":1,"delta":{"content":"b</think>B C"},"finish_reason":"stop"}"#),
        chunk(r#"{"index":0,"delta":{},"finish_reason":"stop"}"#),
        "data: [DONE]\n\n".to_owned(),
    ]
    .concat();
    let received = String::from_utf8(streamed(chat, body.as_bytes(), None)).unwrap();
    let texts: Vec<(u64, String)> = received
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line.strip_prefix("data: ")?).ok())
        .flat_map(|chunk| chunk["choices"].as_array().unwrap().clone())
        .map(|choice| {
            (choice["index"].as_u64().unwrap(), choice["delta"]["content"].as_str().unwrap_or("").to_owned())
        })
        .collect();
    let said = |wanted: u64| {
        texts.iter().filter(|(index, _)| *index == wanted).map(|(_, text)| text.as_str()).collect::<String>()
    };
    assert_eq!((said(0), said(1)), ("A <".to_owned(), "B C".to_owned()), "{received}");
    assert_eq!(received.matches("\"arguments\"").count(), 1, "{received}");
}

/// Servers that speak OpenAI's format answer with a list of parts where the model thinks aloud.
#[test]
fn a_text_in_parts_is_cleaned_and_thoughts_that_stand_apart_stay() {
    let chat = &DIALECTS[0];
    let thought = r#"{"type":"thinking","thinking":[{"type":"text","text":"<final>Hm.</final>"}]}"#;
    let message = |first: &str, second: &str| {
        format!(
            r#"[{thought},{{"type":"text","text":"{first}"}}, {{"type":"reference","text":"<final>"}},{{"type":"text","text":"{second}"}}]"#
        )
    };
    let whole = |content: &str| {
        format!(r#"{{"choices":[{{"message":{{"role":"assistant","content":{content}}}}}]}}"#)
    };
    // What begins in one part may end in the next.
    let (came, left) =
        (whole(&message("<think>A", "b</think><final>It is 7")), whole(&message("", "It is 7")));
    let exchange = passed(&mut host(CLEAN), chat, "application/json", came.as_bytes(), Some(9));
    assert_eq!(String::from_utf8(exchange.received).unwrap(), left);
    let chunk =
        |content: &str| format!("data: {{\"choices\":[{{\"delta\":{{\"content\":{content}}}}}]}}\n\n");
    let stream = |contents: [&str; 3]| {
        contents.map(chunk).concat()
            + "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
    };
    let came = stream([&message("<think>A", "b</th"), "\"ink><final>It is\"", "\" 7</final>\""]);
    let left = stream([&message("", ""), "\"It is\"", "\" 7\""]);
    for part in [None, Some(1), Some(30)] {
        let received = String::from_utf8(streamed(chat, came.as_bytes(), part)).unwrap();
        assert_eq!(received, left, "{part:?}");
    }
}

#[test]
fn half_a_character_passes_and_what_was_held_stands_before_it() {
    let chat = &DIALECTS[0];
    let chunk = |content: &str| {
        format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{content}\"}}}}]}}\n\n")
    };
    let broken = chunk(r"\ud83d");
    let body = [chunk("a <think>b"), broken.clone(), chunk("<final>c"), "data: [DONE]\n\n".into()].concat();
    let received = String::from_utf8(streamed(chat, body.as_bytes(), Some(10))).unwrap();
    let at = |needle: &str| received.find(needle).unwrap_or_else(|| panic!("{needle} in {received}"));
    assert!(at("<think>b") < at(&broken) && at(&broken) < at("<final>c"), "{received}");
    let whole = r#"{"choices":[{"message":{"content":"\ud83d <think>x</think>"}}]}"#;
    let mut host = host(CLEAN);
    assert_eq!(
        passed(&mut host, chat, "application/json", whole.as_bytes(), None).received,
        whole.as_bytes()
    );
    assert_eq!(host.counted(Metric::Bypasses(Bypass::Uncleaned)), 1);
}

#[test]
fn an_answer_that_says_nothing_is_marked() {
    let text = "<think>Stored.</think>NO_REPLY";
    let chat = &DIALECTS[0];
    let body = format!(r#"{{"choices":[{{"message":{{"content":"{text}"}}}}]}}"#);
    let mut host = host(CLEAN);
    let marked = passed(&mut host, chat, "application/json", body.as_bytes(), Some(20));
    assert_eq!(marked.header("x-sentinel-no-reply"), Some("true"));
    let stream = format!(
        "data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\ndata: [DONE]\n\n"
    );
    let stream = passed(&mut host, chat, "text/event-stream", stream.as_bytes(), None);
    assert_eq!(stream.header("x-sentinel-no-reply"), None, "its headers have gone on");
    // An answer that calls a tool goes on.
    passed(&mut host, chat, "application/json", chat.whole(text).as_bytes(), None);
    assert_eq!(host.counted(Metric::Cleaned(CleanKind::NoReply, "openai_chat")), 2);
    let told: Vec<serde_json::Value> =
        host.lines("no_reply").into_iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        told.iter().map(|line| (&line["event"], &line["marked"])).collect::<Vec<_>>(),
        [(&"no_reply".into(), &true.into()), (&"no_reply".into(), &false.into())]
    );
    assert!(host.log.iter().all(|line| !line.contains("Stored")));
    let mut elsewhere = self::host("{}");
    let plain = passed(&mut elsewhere, chat, "application/json", body.as_bytes(), None);
    assert_eq!(plain.header("x-sentinel-no-reply"), None, "off by default");
    assert_eq!(plain.received, body.into_bytes());
}

/// Answers that were made to be costly: many texts, many events, one pattern all over.
#[test]
fn costly_answers_pass() {
    let (chat, gemini) = (&DIALECTS[0], &DIALECTS[3]);
    let choices = r#"{"message":{"content":"<think>a</think>b"}},"#.repeat(20_000);
    let many = format!("{{\"choices\":[{}]}}", choices.trim_end_matches(','));
    let chunks = r#"{"candidates":[{"content":{"parts":[{"text":"<think>a"}]}}]},"#.repeat(4_000);
    let array = format!("[{}]", chunks.trim_end_matches(','));
    for (dialect, body) in [(chat, &many), (gemini, &array)] {
        let mut host = host(CLEAN);
        let exchange = passed(&mut host, dialect, "application/json", body.as_bytes(), Some(60_000));
        assert_eq!(exchange.received.len(), body.len(), "{}", dialect.label());
    }
    for unit in ["<", "<think>", "[Tool Call: ", "`", "\\n\\n"] {
        let delta = format!(
            "data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{}\"}}}}]}}\n\n",
            unit.repeat(50)
        );
        let received = streamed(chat, delta.repeat(500).as_bytes(), Some(4_000));
        assert!(!received.is_empty(), "{unit}");
    }
}

#[test]
fn observe_counts_and_touches_nothing() {
    for dialect in DIALECTS.iter() {
        let mut host = host(r#"{"mode":"observe","clean":{"enabled":true}}"#);
        for (content_type, body) in [
            ("application/json", dialect.whole("<think>a</think>b").into_bytes()),
            (dialect.content_type, dialect.frames(&PIECES).concat()),
        ] {
            let exchange = passed(&mut host, dialect, content_type, &body, Some(30));
            assert!(exchange.received == body && exchange.headers.is_empty() && exchange.removed.is_empty());
        }
        assert_eq!(
            host.counted(Metric::Cleaned(CleanKind::Removal(Removal::Thinking), dialect.label())),
            2,
            "{}",
            dialect.label()
        );
    }
}

#[test]
fn without_held_headers_answers_are_cleaned_all_the_same() {
    let chat = &DIALECTS[0];
    let mut host = host(r#"{"hold_headers":false,"clean":{"enabled":true}}"#);
    let body = chat.whole("<think>a</think>NO_REPLY");
    let exchange = passed(&mut host, chat, "application/json", body.as_bytes(), Some(30));
    assert_eq!(exchange.received, chat.whole("NO_REPLY").into_bytes());
    assert_eq!(exchange.removed, ["content-length"]);
}

#[test]
fn what_cannot_be_cleaned_passes_and_is_counted() {
    let config = r#"{"max_body_bytes":2048,"clean":{"enabled":true}}"#;
    for dialect in DIALECTS.iter() {
        let long = format!("<think>a</think>{}", "x".repeat(3_000));
        for (content_type, body) in [
            ("text/html", b"<think>a</think>".to_vec()),
            ("application/json", dialect.whole(&long).into_bytes()),
            (dialect.content_type, dialect.frames(&[&long]).concat()),
            ("application/json", b"{\"choices\":".to_vec()),
            (event_stream::CONTENT_TYPE, b"no event stream, by its checksums".to_vec()),
        ] {
            let mut host = host(config);
            let exchange = passed(&mut host, dialect, content_type, &body, Some(500));
            assert!(exchange.received == body, "{} {content_type}", dialect.label());
            let is_cut = body.len() == 11;
            assert_eq!(
                host.counted(Metric::Bypasses(Bypass::Uncleaned)),
                u64::from(!is_cut),
                "{}",
                dialect.label()
            );
        }
    }
}

/// The next request says what the agent got, and the loop is found in that.
#[test]
fn what_is_remembered_is_what_the_agent_got() {
    for (config, expected) in [(CLEAN, "hint"), (r#"{"semantic":{"enabled":false}}"#, "allow")] {
        let mut host = host(config);
        let mut history = Vec::new();
        let mut verdicts = Vec::new();
        for turn in 0..8 {
            host.now += 1_000;
            history.push(serde_json::json!({"role": "user", "content": "What is the state of the order?"}));
            let body = serde_json::json!({"model": "m", "messages": history}).to_string();
            let request = ClientRequest::post("/v1/chat/completions", body).with("x-agent-id", "a");
            let thought: String = (0..40).map(|word| format!("w{} ", turn * 100 + word)).collect();
            let text = format!("<think>{thought}</think>I cannot find that order.");
            let answer =
                serde_json::json!({"choices": [{"message": {"role": "assistant", "content": text}}]});
            let exchange = host.exchange(&request, &ProviderResponse::json(answer.to_string()));
            verdicts.push(exchange.verdict().unwrap_or("none").to_owned());
            let Ok(got) = serde_json::from_slice::<serde_json::Value>(&exchange.received) else { break };
            history.push(got["choices"][0]["message"].clone());
        }
        assert!(
            verdicts.iter().any(|verdict| verdict != "allow") == (expected == "hint"),
            "{config}: {verdicts:?}"
        );
    }
}
