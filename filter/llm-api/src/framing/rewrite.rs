//! Changes an answer while it passes. A JSON text is held until it is complete; of a stream, one event is held.
//! Everything else passes at once, byte for byte. The caller decides what changes.

use super::{Framing, MARK, event_stream, sse_rewrite::Events};

/// Rewrites one answer.
#[derive(Debug)]
pub struct Rewriter {
    frames: Frames,
    /// The beginning of a JSON text or of a binary frame that is not complete yet.
    held: Vec<u8>,
    /// Most bytes that may be held.
    most: usize,
    has_given_up: bool,
}

#[derive(Debug)]
enum Frames {
    Json(JsonEnd),
    Sse(Events),
    /// With the headers for frames that are inserted.
    AwsEventStream(Vec<u8>),
    /// Nothing more changes, or a frame was too long to hold.
    Done,
}

/// The change of one event of a stream.
#[derive(Debug, Default)]
pub struct EventChange {
    /// Events to insert in front of it, as JSON. Their frames are like that of the last event that was a pattern.
    pub before: Vec<String>,
    /// Its new content. `None` if it does not change.
    pub json: Option<String>,
    /// Whether it is dropped.
    pub is_dropped: bool,
    pub is_pattern: bool,
}

/// The change that is made.
pub trait EventRewrite {
    /// The new content of a whole JSON answer. Returns `None` when it does not change.
    fn whole(&mut self, json: &str) -> Option<String>;

    /// The change of one event of a stream. `kind`: the event's type if the framing has one.
    fn event(&mut self, kind: &str, json: &str) -> EventChange;

    /// Events to insert at the end, or in front of everything that no longer changes.
    fn rest(&mut self) -> Vec<String>;
}

/// Makes the same change to a whole answer and to each event.
impl<F: FnMut(&str) -> Option<String>> EventRewrite for F {
    fn whole(&mut self, json: &str) -> Option<String> {
        self(json)
    }

    fn event(&mut self, _kind: &str, json: &str) -> EventChange {
        EventChange { json: self(json), ..EventChange::default() }
    }

    fn rest(&mut self) -> Vec<String> {
        Vec::new()
    }
}

impl Rewriter {
    /// Returns `None` when answers of this content type are not changed. `most`: bytes that may be held.
    pub fn new(content_type: &[u8], most: usize) -> Option<Self> {
        let frames = match Framing::of(content_type)? {
            Framing::Json | Framing::JsonArray => Frames::Json(JsonEnd::default()),
            Framing::Sse => Frames::Sse(Events::default()),
            Framing::AwsEventStream => Frames::AwsEventStream(Vec::new()),
        };
        Some(Self { frames, held: Vec::new(), most, has_given_up: false })
    }

    /// Whether all bytes so far are held.
    pub fn holds_all(&self) -> bool {
        matches!(self.frames, Frames::Json(_))
    }

    /// Whether something was too long or broken. From there on the answer is not changed.
    pub fn has_given_up(&self) -> bool {
        self.has_given_up
    }

    /// What passes in place of this part of the answer. Returns `None` when the part passes unchanged. `is_last`: no
    /// part follows.
    pub fn push(&mut self, part: &[u8], is_last: bool, change: &mut dyn EventRewrite) -> Option<Vec<u8>> {
        let held_before = self.held_bytes();
        let mut passed = Vec::with_capacity(part.len());
        match &mut self.frames {
            Frames::Done => return None,
            Frames::Json(end) => {
                let whole = end.find(part).map(|length| held_before.saturating_add(length));
                self.held.extend_from_slice(part);
                if let Some((whole, rest)) = whole.and_then(|whole| self.held.split_at_checked(whole)) {
                    let json = whole.strip_prefix(MARK).unwrap_or(whole);
                    let changed = change.whole(&String::from_utf8_lossy(json));
                    passed = changed.map_or_else(|| whole.to_vec(), String::into_bytes);
                    passed.extend_from_slice(rest);
                    self.frames = Frames::Done;
                    self.held.clear();
                }
            }
            Frames::Sse(events) => events.push(part, change, &mut passed),
            Frames::AwsEventStream(pattern) => {
                self.held.extend_from_slice(part);
                self.has_given_up |= !frames(&mut self.held, self.most, pattern, change, &mut passed);
            }
        }
        if self.held_bytes() > self.most {
            self.has_given_up = true;
        }
        if is_last || self.has_given_up {
            self.end(is_last, change, &mut passed);
        }
        let is_as_it_came = held_before == 0 && passed == part;
        (!is_as_it_came).then_some(passed)
    }

    fn held_bytes(&self) -> usize {
        match &self.frames {
            Frames::Sse(events) => events.held(),
            _ => self.held.len(),
        }
    }

    /// Lets everything pass that is held.
    fn end(&mut self, is_whole: bool, change: &mut dyn EventRewrite, passed: &mut Vec<u8>) {
        match std::mem::replace(&mut self.frames, Frames::Done) {
            Frames::Sse(events) => events.end(is_whole, change, passed),
            Frames::AwsEventStream(pattern) => {
                for json in change.rest() {
                    passed.extend(event_stream::framed(&pattern, json.as_bytes()));
                }
            }
            Frames::Json(_) | Frames::Done => {}
        }
        passed.append(&mut self.held);
    }
}

/// Takes the complete binary frames. Returns false when no more can be read.
fn frames(
    held: &mut Vec<u8>,
    most: usize,
    pattern: &mut Vec<u8>,
    change: &mut dyn EventRewrite,
    passed: &mut Vec<u8>,
) -> bool {
    let mut rest = held.as_slice();
    let is_sound = loop {
        let (frame, after) = match event_stream::first(rest, most) {
            Ok(Some(first)) => first,
            Ok(None) => break true,
            Err(event_stream::Broken) => break false,
        };
        let json = std::str::from_utf8(frame.payload).unwrap_or_default();
        let changed = change.event(frame.event_type, json);
        for json in &changed.before {
            passed.extend(event_stream::framed(pattern, json.as_bytes()));
        }
        if changed.is_pattern {
            *pattern = frame.headers.to_vec();
        }
        match changed.json {
            _ if changed.is_dropped => {}
            Some(json) => passed.extend(event_stream::framed(frame.headers, json.as_bytes())),
            None => {
                let whole = rest.len().saturating_sub(after.len());
                passed.extend_from_slice(rest.get(..whole).unwrap_or_default());
            }
        }
        rest = after;
    };
    let done = held.len().saturating_sub(rest.len());
    held.drain(..done);
    is_sound
}

/// Finds the end of a JSON list or object in the chunks that it comes in.
#[derive(Debug, Default)]
pub(super) struct JsonEnd {
    depth: usize,
    is_in_string: bool,
    is_escaped: bool,
}

impl JsonEnd {
    /// Whether it has begun and not ended.
    pub(super) fn is_within(&self) -> bool {
        self.depth > 0
    }

    /// Where it ends in this chunk.
    #[inline(never)]
    pub(super) fn find(&mut self, part: &[u8]) -> Option<usize> {
        for (at, byte) in part.iter().enumerate() {
            if self.is_in_string {
                match byte {
                    _ if self.is_escaped => self.is_escaped = false,
                    b'\\' => self.is_escaped = true,
                    b'"' => self.is_in_string = false,
                    _ => {}
                }
                continue;
            }
            match byte {
                b'"' => self.is_in_string = true,
                b'{' | b'[' => self.depth = self.depth.saturating_add(1),
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        return Some(at.saturating_add(1));
                    }
                }
                _ => {}
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What passes of an answer in chunks of this size, and how much of it before the last chunk.
    fn passed(kind: &str, answer: &str, size: usize, most: usize) -> (String, usize) {
        let mut rewriter = Rewriter::new(kind.as_bytes(), most).unwrap();
        let mut change = |json: &str| json.contains("old").then(|| json.replace("old", "new and\nlonger"));
        let (mut passed, mut before) = (Vec::new(), 0);
        let parts: Vec<&[u8]> = answer.as_bytes().chunks(size).collect();
        for (at, part) in parts.iter().enumerate() {
            let is_last = at + 1 == parts.len();
            if is_last {
                before = passed.len();
            }
            passed.extend(rewriter.push(part, is_last, &mut change).unwrap_or_else(|| part.to_vec()));
        }
        (String::from_utf8(passed).unwrap(), before)
    }

    #[test]
    fn json_is_changed_as_a_whole_however_it_is_cut() {
        let answer = " {\"a\":[\"old\\\"}]\",{}]}\n";
        for size in [1, 3, 100] {
            let (changed, _) = passed("application/json", answer, size, 1_000);
            assert_eq!(changed, answer.replace("old", "new and\nlonger"), "{size}");
        }
        for broken in ["", "{\"old\"", "}", "\"old\"", "7"] {
            assert_eq!(passed("application/json; charset=utf-8", broken, 2, 1_000).0, broken);
        }
    }

    #[test]
    fn of_a_stream_only_the_lines_of_data_wait() {
        let stream = ": ping\r\nevent: old\ndata: {\"old\":1}\r\n\ndata:{\"other\":2}\n\nid: 7\ndata: old";
        let expected =
            stream.replacen("event: old", "event: #", 1).replace("old", "new and longer").replace('#', "old");
        for size in [1, 2, 7, 200] {
            assert_eq!(passed("text/event-stream", stream, size, 1_000).0, expected, "{size}");
        }
        let (_, before) = passed("text/event-stream", ": a long comment without an end", 5, 1_000);
        assert_eq!(before, 30, "a line that holds no data passes as it comes");
    }

    #[test]
    fn lines_end_in_three_ways_and_one_json_may_stand_in_many() {
        let no_json = ["\u{feff}event: a", "data: {\"old\":", ""];
        let spread =
            ["data: {", ": old", "data:  \"a{\":[\"old\",", "id: 7", "data: 2]", "data: }", "retry: 1", ""];
        let joined = [": old", "id: 7", "data: { \"a{\":[\"new and longer\", 2] }", "retry: 1", ""];
        let other = ["data: {\"other\":", "data:2}", "", "", "x: {", ""];
        for end in ["\n", "\r", "\r\n"] {
            let [stream, expected] = [&spread[..], &joined[..]]
                .map(|event| [&no_json[..], event, &other[..], event].concat().join(end));
            for size in [1, 2, 3, 5, 500] {
                assert_eq!(passed("text/event-stream", &stream, size, 1_000).0, expected, "{end:?} {size}");
            }
            let marked = format!("\u{feff}data: {{\"old\":{end}data: 1}}");
            for size in [1, 2, 500] {
                let (changed, _) = passed("text/event-stream", &marked, size, 1_000);
                assert!(changed.ends_with("data: {\"new and longer\": 1}"), "{changed:?}");
                assert!(passed("text/event-stream", &marked, size, 8).0.ends_with("1}"));
            }
        }
        assert_eq!(passed("application/json", "\u{feff}[\"old\"]", 2, 100).0, "[\"new and\nlonger\"]");
        assert_eq!(passed("application/json", "\u{feff}[\"other\"]", 2, 100).0, "\u{feff}[\"other\"]");
    }

    #[test]
    fn bytes_that_are_no_utf8_hide_nothing_and_pass() {
        let mut change = |json: &str| json.contains("old").then(|| json.replace("old", "new"));
        for (kind, before, after) in [("text/event-stream", "data: ", "\n\n"), ("application/json", "", "")] {
            for (word, changed) in [("old", "[\"\u{fffd}new\"]".as_bytes()), ("other", b"[\"\xffother\"]")] {
                let answer =
                    [before.as_bytes(), b"[\"\xff", word.as_bytes(), b"\"]", after.as_bytes()].concat();
                let passed = Rewriter::new(kind.as_bytes(), 100).unwrap().push(&answer, true, &mut change);
                let expected = [before.as_bytes(), changed, after.as_bytes()].concat();
                assert_eq!(passed.unwrap_or(answer), expected, "{kind} {word}");
            }
        }
    }

    /// Drops every event.
    struct Nothing;

    impl EventRewrite for Nothing {
        fn whole(&mut self, _: &str) -> Option<String> {
            None
        }

        fn event(&mut self, _: &str, _: &str) -> EventChange {
            EventChange { is_dropped: true, ..EventChange::default() }
        }

        fn rest(&mut self) -> Vec<String> {
            Vec::new()
        }
    }

    #[test]
    fn a_dropped_event_goes_with_its_end_wherever_it_is_cut() {
        for end in ["\n", "\r", "\r\n"] {
            let stream = [": a", "event: b", "data: {", "data: }", "", ": c", ""].join(end);
            for size in [1, 2, 3, 100] {
                let mut rewriter = Rewriter::new(b"text/event-stream", 1_000).unwrap();
                let mut passed = Vec::new();
                for part in stream.as_bytes().chunks(size) {
                    passed.extend(rewriter.push(part, false, &mut Nothing).unwrap_or_else(|| part.to_vec()));
                }
                assert_eq!(String::from_utf8(passed).unwrap(), format!(": a{end}: c{end}"), "{end:?} {size}");
            }
        }
    }

    #[test]
    fn what_is_too_long_passes_as_it_is() {
        let json = format!("{{\"old\":\"{}\"}}", "x".repeat(500));
        assert_eq!(passed("application/json", &json, 50, 100), (json.clone(), json.len() / 50 * 50));
        let stream = format!("data: {json}\n\ndata: {{\"old\":1}}\n\n");
        assert_eq!(passed("text/event-stream", &stream, 50, 100).0, stream);
    }
}
