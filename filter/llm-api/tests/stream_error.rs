//! What ends a stream under way: an event of the dialect, with an error that says why.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

use sentinel_llm_api::{
    framing::{Framing, event_stream, passing::PassingFrames},
    registry,
};
use sentinel_wire::{Dialect, Stream};
use serde_json::Value;

const WHY: &str = "This agent was stopped:\n\"enough\" 🛑";

#[test]
fn every_dialect_ends_a_stream_with_a_whole_frame_that_says_why() {
    for dialect in registry::ALL {
        let label = dialect.label();
        let end = dialect.stream_error(403, WHY);
        let wire = Dialect::of_label(label).unwrap();
        let is_framed = wire.streams().contains(&Stream::Frames);
        let framing = if is_framed { Framing::AwsEventStream } else { Framing::Sse };
        let mut frames = PassingFrames::of(framing).unwrap();
        frames.pass(&end);
        assert_eq!(frames.finish_frame(b"x"), Some(0), "{label}: all of it is whole");
        let (payload, name) = if is_framed {
            let (frame, rest) = event_stream::first(&end, 10_000).unwrap().unwrap();
            assert!(rest.is_empty());
            (String::from_utf8(frame.payload.to_vec()).unwrap(), frame.message_type.to_owned())
        } else {
            let text = String::from_utf8(end).unwrap();
            let line = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
            (line("data: ").to_owned(), line("event: ").to_owned())
        };
        let said: Value = serde_json::from_str(&payload).unwrap();
        let message = [&said["error"]["message"], &said["message"]].into_iter().find(|said| said.is_string());
        assert_eq!(message.and_then(Value::as_str), Some(WHY), "{label}: {said}");
        assert_eq!(name, wire.error_event(), "{label}");
    }
}
