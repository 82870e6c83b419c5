//! From the provider: in the headers, the body and the trailers of an answer.

use sentinel_harness::Dialect;
use sentinel_harness::provider::{Answer, Piece, faithful};

use super::{FOREIGN, Findings, ask, by_default, headers};
use crate::support::CHAT;

#[tokio::test]
async fn in_each_header_of_an_answer() {
    let mut stack = by_default();
    let mut findings = Findings::default();
    for stream in [false, true] {
        for name in [
            "content-type",
            "content-encoding",
            "x-request-id",
            "retry-after",
            "set-cookie",
            "x-sentinel-verdict",
            "x-sentinel-reason",
            "traceparent",
            "mcp-session-id",
            "x-more",
        ] {
            let what = format!("{name}, {}", if stream { "events" } else { "JSON" });
            stack.provider.script(move |request| {
                let mut answer = faithful(request);
                answer.headers.extend(headers(&[(name, FOREIGN)]));
                answer
            });
            let response = ask(&stack, CHAT, stream, &what);
            stack.provider.script(faithful);
            findings.judge(&stack, &what, response.as_ref());
        }
    }
    findings.none(&mut stack);
}

/// It comes to the agent byte for byte.
#[tokio::test]
async fn in_the_body_and_the_trailers_of_an_answer() {
    let mut stack = by_default();
    let mut findings = Findings::default();
    let pieces = |all: &[&[u8]]| -> Vec<Piece> {
        all.iter().map(|piece| Piece::Bytes(piece.to_vec().into())).collect()
    };
    let (json, events) = ("application/json", "text/event-stream");
    let cases: [(&str, &str, Vec<Piece>); 9] = [
        ("all of it", json, pieces(&[FOREIGN])),
        ("all of it, an error", json, pieces(&[FOREIGN])),
        (
            "inside the answer's text",
            json,
            pieces(&[br#"{"choices":[{"message":{"role":"assistant","content":"caf"#, FOREIGN, br#""}}]}"#]),
        ),
        ("in a key", json, pieces(&[br#"{"a"#, FOREIGN, br#"":1,"usage":{"prompt_tokens":1}}"#])),
        ("all of it, events", events, pieces(&[FOREIGN, b"\n\n", FOREIGN])),
        (
            "in the data of an event",
            events,
            pieces(&[
                b"data: {\"choices\":[{\"delta\":{\"content\":\"caf",
                FOREIGN,
                b"\"}}]}\n\ndata: [DONE]\n\n",
            ]),
        ),
        ("in the name of an event", events, pieces(&[b"event: ", FOREIGN, b"\ndata: {}\n\n"])),
        (
            "a letter in two pieces",
            events,
            pieces(&[
                b"data: {\"choices\":[{\"delta\":{\"content\":\"\xe2\x82",
                b"\xac\"}}]}\n\ndata: [DONE]\n\n",
            ]),
        ),
        (
            "trailers",
            events,
            vec![
                Piece::Bytes("data: [DONE]\n\n".into()),
                Piece::Trailers(headers(&[("x-more", FOREIGN), ("grpc-message", FOREIGN)])),
            ],
        ),
    ];
    for dialect in Dialect::ALL {
        for (what, kind, pieces) in &cases {
            let status = if what.ends_with("an error") { 500 } else { 200 };
            let answer = Answer::of(status, kind, pieces.clone());
            let sent: Vec<u8> = pieces
                .iter()
                .flat_map(|piece| if let Piece::Bytes(bytes) = piece { bytes.to_vec() } else { Vec::new() })
                .collect();
            stack.provider.script(move |_| answer.clone());
            let what = format!("{dialect:?}, {what}");
            let response = ask(&stack, dialect, *kind == events, &what);
            stack.provider.script(faithful);
            let got = response.map(|response| (response.status, response.body));
            findings.expect(got == Some((status, sent)), || format!("{what}: the agent got {got:?}"));
            findings.still_works(&stack, &what);
        }
    }
    findings.none(&mut stack);
}
