//! One question about other material each time: another picture, file, page, or system text. The answers are alike.

use sentinel_tests::provider::{Reply, speak};
use sentinel_tests::stack::in_run;
use sentinel_tests::{Dialect, Stack};
use serde_json::{Value, json};

use super::{REQUESTS, Way, verdicts, with_instructions};

const QUESTION: &str = "Is there a person in the material that I have given to you?";

/// A kind of material, and the request about piece `n` of it.
type Material = (&'static str, fn(Dialect, bool, usize) -> Value);

const MATERIALS: [Material; 5] = [
    ("picture", |dialect, stream, n| about(dialect, stream, picture(dialect, n))),
    ("file", |dialect, stream, n| about(dialect, stream, file(dialect, n))),
    ("instructions", |dialect, stream, n| {
        let body = dialect.ask(QUESTION, stream);
        with_instructions(dialect, body, &format!("The page says: {}", page(n)))
    }),
    ("page before", |dialect, stream, n| {
        let page = page(n);
        dialect.conversation(&[("user", &page), ("assistant", "I have read it."), ("user", QUESTION)], stream)
    }),
    ("page in a text of its own", |dialect, stream, n| {
        let page = page(n);
        match dialect {
            // Its roles alternate.
            Dialect::Bedrock => about(dialect, stream, json!({ "text": page })),
            _ => dialect.conversation(&[("user", &page), ("user", QUESTION)], stream),
        }
    }),
];

/// Three letters are all that differs.
fn page(n: usize) -> String {
    let word = ["alder", "birch", "cedar", "dogwood", "elm", "fir"][n % 6];
    let other = ["north", "east", "south", "west"][n / 6 % 4];
    format!("A {word} stands in the {other} of the garden, and nobody is seen beside it at this hour.")
}

/// As base64; digits are part of it, and only they differ.
fn picture(dialect: Dialect, n: usize) -> Value {
    let data = format!("iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB{n:04}CAYAAAAfFcSJAAAADUlEQVR42mNk");
    match dialect {
        Dialect::OpenaiChat => {
            json!({"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{data}")}})
        }
        Dialect::OpenaiResponses => {
            json!({"type": "input_image", "image_url": format!("data:image/png;base64,{data}")})
        }
        Dialect::Anthropic | Dialect::VertexAnthropic => {
            json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}})
        }
        Dialect::Gemini => json!({"inlineData": {"mimeType": "image/png", "data": data}}),
        Dialect::GeminiInteractions => json!({"type": "image", "mime_type": "image/png", "data": data}),
        Dialect::Bedrock => json!({"image": {"format": "png", "source": {"bytes": data}}}),
    }
}

/// By id or address, as each provider keeps files.
fn file(dialect: Dialect, n: usize) -> Value {
    match dialect {
        Dialect::OpenaiChat => json!({"type": "file", "file": {"file_id": format!("file-{n}")}}),
        Dialect::OpenaiResponses => json!({"type": "input_file", "file_id": format!("file-{n}")}),
        Dialect::Anthropic | Dialect::VertexAnthropic => {
            json!({"type": "document", "source": {"type": "url", "url": format!("https://example.com/{n}.pdf")}})
        }
        Dialect::Gemini => {
            json!({"fileData": {"mimeType": "audio/mpeg", "fileUri": format!("https://example.com/v1beta/files/{n}")}})
        }
        Dialect::GeminiInteractions => {
            json!({"type": "document", "mime_type": "application/pdf", "uri": format!("https://example.com/files/{n}")})
        }
        Dialect::Bedrock => {
            json!({"document": {"format": "pdf", "name": "scan", "source": {"s3Location": {"uri": format!("s3://scans/{n}.pdf")}}}})
        }
    }
}

/// One message: the material, and the question.
fn about(dialect: Dialect, stream: bool, material: Value) -> Value {
    let text = match dialect {
        Dialect::OpenaiResponses => json!({"type": "input_text", "text": QUESTION}),
        Dialect::Gemini | Dialect::Bedrock => json!({"text": QUESTION}),
        _ => json!({"type": "text", "text": QUESTION}),
    };
    let message = match dialect {
        Dialect::Gemini => json!({"role": "user", "parts": [material, text]}),
        Dialect::GeminiInteractions => json!({"type": "user_input", "content": [material, text]}),
        _ => json!({"role": "user", "content": [material, text]}),
    };
    dialect.with_turns(vec![message], stream)
}

/// Line by line the same answer.
fn always_no(stack: &Stack) {
    stack.provider.script(|request| speak(request, &Reply::Text("No, there is none.".into())));
}

#[tokio::test]
async fn another_piece_each_time_is_other_work() {
    let mut stack = Stack::builder().service().start();
    always_no(&stack);
    for way in Way::all() {
        for (kind, request) in MATERIALS {
            let agent = way.agent(kind);
            let body = |n| request(way.dialect, way.stream, n).to_string();
            let seen = verdicts(&stack, way, &in_run(&agent), REQUESTS, body).await;
            assert!(seen.iter().all(|verdict| verdict == "allow"), "{kind}, {way:?}: {seen:?}");
        }
    }
    stack.assert_sound();
}

/// The other side: the same piece again and again is a loop, and neither a clock nor a counter in the instructions hides it.
#[tokio::test]
async fn the_same_piece_again_is_a_loop() {
    let mut stack = Stack::builder().start();
    always_no(&stack);
    for way in Way::all() {
        for (kind, request) in MATERIALS {
            let agent = way.agent(kind);
            let body = |n: usize| {
                let body = request(way.dialect, way.stream, 7);
                if kind == "instructions" {
                    return body.to_string();
                }
                let clock = format!("Be brief. It is 2026-03-04T10:{n:02}:07Z, request {n}.");
                with_instructions(way.dialect, body, &clock).to_string()
            };
            let seen = verdicts(&stack, way, &in_run(&agent), 6, body).await;
            assert!(seen.contains(&"hint".to_owned()), "{kind}, {way:?}: {seen:?}");
            assert_eq!(seen.last().map(String::as_str), Some("kill"), "{kind}, {way:?}: {seen:?}");
        }
    }
    stack.assert_sound();
}
