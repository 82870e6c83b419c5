//! An answer that is changed while it passes. A JSON text is held until it is complete; of a stream, one line is held.
//! Everything else passes at once, byte for byte. The caller decides what is changed, and how.

use super::Framing;

/// Rewrites one answer.
#[derive(Debug)]
pub struct Rewriter {
    frames: Frames,
    /// What has come of the frame that is not whole yet.
    held: Vec<u8>,
    /// Bytes that may be held.
    most: usize,
}

#[derive(Debug)]
enum Frames {
    Json(JsonEnd),
    Sse,
    /// Nothing more is to be changed, or a frame was too long to be held.
    Done,
}

/// From the JSON of a frame to what is to stand in its place; nothing where it stays.
pub type Change<'c> = &'c mut dyn FnMut(&str) -> Option<String>;

impl Rewriter {
    /// Nothing where answers of this content type are not changed. `most`: bytes that may be held.
    pub fn new(content_type: &[u8], most: usize) -> Option<Self> {
        let frames = match Framing::of(content_type)? {
            Framing::Json | Framing::JsonArray => Frames::Json(JsonEnd::default()),
            Framing::Sse => Frames::Sse,
            Framing::AwsEventStream => return None,
        };
        Some(Self { frames, held: Vec::new(), most })
    }

    /// What passes in the place of this part of the answer; nothing where it passes as it is. `is_last`: no part follows.
    pub fn push(&mut self, part: &[u8], is_last: bool, change: Change<'_>) -> Option<Vec<u8>> {
        let held_before = self.held.len();
        let mut passed = match &mut self.frames {
            Frames::Done => return None,
            Frames::Json(end) => {
                self.held.extend_from_slice(part);
                let whole = end.find(part).map(|length| held_before.saturating_add(length));
                let Some((whole, rest)) = whole.and_then(|whole| self.held.split_at_checked(whole)) else {
                    return self.keep(part, held_before, is_last, Vec::new());
                };
                let changed = std::str::from_utf8(whole).ok().and_then(change);
                let mut passed = changed.map_or_else(|| whole.to_vec(), String::into_bytes);
                passed.extend_from_slice(rest);
                self.frames = Frames::Done;
                self.held.clear();
                return Some(passed);
            }
            Frames::Sse => Vec::with_capacity(part.len()),
        };
        for line in part.split_inclusive(|byte| *byte == b'\n') {
            self.held.extend_from_slice(line);
            if line.ends_with(b"\n") {
                let whole = std::mem::take(&mut self.held);
                passed.extend(changed_line(&whole, change).unwrap_or(whole));
            }
        }
        self.keep(part, held_before, is_last, passed)
    }

    /// What passes where a frame is not whole. A part that is kept whole, or passes whole, needs no replacement of its own.
    fn keep(&mut self, part: &[u8], before: usize, is_last: bool, mut passed: Vec<u8>) -> Option<Vec<u8>> {
        let may_matter = !matches!(self.frames, Frames::Sse) || may_be_data(&self.held);
        if self.held.len() > self.most {
            self.frames = Frames::Done;
        }
        if is_last || !may_matter || matches!(self.frames, Frames::Done) {
            passed.append(&mut self.held);
        }
        let is_as_it_came = before == 0 && passed == part;
        (!is_as_it_came).then_some(passed)
    }
}

/// Whether a line that begins like this may hold data.
fn may_be_data(line: &[u8]) -> bool {
    line.len() >= DATA.len() && line.starts_with(DATA) || line.len() < DATA.len() && DATA.starts_with(line)
}

const DATA: &[u8] = b"data:";

/// A line of data with other JSON in it.
fn changed_line(line: &[u8], change: Change<'_>) -> Option<Vec<u8>> {
    let data = std::str::from_utf8(line.strip_prefix(DATA)?).ok()?;
    let json = data.trim();
    let start = data.len().saturating_sub(data.trim_start().len());
    let end = start.saturating_add(json.len());
    let changed = change(json)?;
    // Line breaks in JSON are white space: in a line of data they would end it.
    let changed = changed.replace(['\r', '\n'], " ");
    Some([DATA, data.get(..start)?.as_bytes(), changed.as_bytes(), data.get(end..)?.as_bytes()].concat())
}

/// Finds the end of a JSON list or object in the parts in which it comes.
#[derive(Debug, Default)]
struct JsonEnd {
    depth: usize,
    is_in_string: bool,
    is_escaped: bool,
}

impl JsonEnd {
    /// Where it ends in this part.
    fn find(&mut self, part: &[u8]) -> Option<usize> {
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

    /// What passes of an answer that comes in parts of this size, and how much of it before the last part.
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
        let expected = stream.replacen("{\"old\"", "{\"new and longer\"", 1);
        for size in [1, 2, 7, 200] {
            assert_eq!(passed("text/event-stream", stream, size, 1_000).0, expected, "{size}");
        }
        let (_, before) = passed("text/event-stream", "event: a long line without an end", 5, 1_000);
        assert_eq!(before, 30, "a line that holds no data passes as it comes");
    }

    #[test]
    fn what_is_too_long_passes_as_it_is() {
        let json = format!("{{\"old\":\"{}\"}}", "x".repeat(500));
        assert_eq!(passed("application/json", &json, 50, 100), (json.clone(), json.len() / 50 * 50));
        let stream = format!("data: {json}\n\ndata: {{\"old\":1}}\n\n");
        assert_eq!(passed("text/event-stream", &stream, 50, 100).0, stream);
    }
}
