//! Where one frame of a stream ends and the next begins, while its bytes pass: a stream can be ended there.

use super::Framing;

/// The frames of a stream that is passing.
#[derive(Debug)]
pub enum PassingFrames {
    /// Server-sent events: the last bytes that have passed.
    Events { last: [u8; 3] },
    /// AWS event stream: what has passed of a frame's length, and how much of the frame is to come.
    Binary { length: Vec<u8>, left: usize },
}

/// Bytes of the length of an AWS frame.
const LENGTH: usize = 4;

impl PassingFrames {
    /// Returns `None` for what is no stream of frames.
    pub fn of(framing: Framing) -> Option<Self> {
        match framing {
            Framing::Sse => Some(Self::Events { last: *b"\n\n\n" }),
            Framing::AwsEventStream => Some(Self::Binary { length: Vec::new(), left: 0 }),
            Framing::Json | Framing::JsonArray => None,
        }
    }

    /// This part passes.
    pub fn pass(&mut self, part: &[u8]) {
        match self {
            Self::Events { last } => {
                for byte in part.get(part.len().saturating_sub(last.len())..).unwrap_or_default() {
                    let [_, second, third] = *last;
                    *last = [second, third, *byte];
                }
            }
            Self::Binary { length, left } => {
                let mut rest = part;
                while !rest.is_empty() {
                    let taken = step(length, left, rest);
                    rest = rest.get(taken..).unwrap_or_default();
                }
            }
        }
    }

    /// Lets pass as much of a part as belongs to the frame that has begun, and returns how many bytes these are. Returns `None`
    /// when all of the part does and more is to come.
    pub fn finish_frame(&mut self, part: &[u8]) -> Option<usize> {
        let mut passed = 0_usize;
        while !self.is_between() {
            let rest = part.get(passed..).filter(|rest| !rest.is_empty())?;
            let taken = match self {
                Self::Events { .. } => {
                    let end = rest.iter().position(|byte| *byte == b'\n');
                    let taken = end.map_or(rest.len(), |end| end.saturating_add(1));
                    self.pass(rest.get(..taken).unwrap_or_default());
                    taken
                }
                Self::Binary { length, left } => step(length, left, rest),
            };
            passed = passed.saturating_add(taken);
        }
        Some(passed)
    }

    /// Whether all frames that have begun are whole.
    fn is_between(&self) -> bool {
        match self {
            // An empty line ends an event.
            Self::Events { last } => last.ends_with(b"\n\n") || last == b"\n\r\n",
            Self::Binary { length, left } => length.is_empty() && *left == 0,
        }
    }
}

/// The bytes of `rest` that belong to the length of a frame, or to one frame behind its length: at least one.
fn step(length: &mut Vec<u8>, left: &mut usize, rest: &[u8]) -> usize {
    if *left > 0 {
        let taken = rest.len().min(*left);
        *left = left.saturating_sub(taken);
        return taken;
    }
    let taken = rest.len().min(LENGTH.saturating_sub(length.len()));
    length.extend(rest.iter().take(taken));
    if let Ok(whole) = <[u8; LENGTH]>::try_from(length.as_slice()) {
        length.clear();
        *left = usize::try_from(u32::from_be_bytes(whole)).unwrap_or(usize::MAX).saturating_sub(LENGTH);
    }
    taken.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::framing::event_stream::written;

    /// Where the stream can be ended if `after` bytes have passed, with parts of each length.
    fn ends(framing: Framing, stream: &[u8], after: usize) -> Option<usize> {
        let mut found = Vec::new();
        for length in 1..=stream.len() {
            let mut frames = PassingFrames::of(framing).unwrap();
            stream[..after].chunks(length).for_each(|part| frames.pass(part));
            let mut passed = after;
            let end = stream[after..].chunks(length).chain([&[][..]]).find_map(|part| {
                let end = frames.finish_frame(part).map(|end| passed + end);
                passed += part.len();
                end
            });
            found.push(end);
        }
        found.dedup();
        assert_eq!(found.len(), 1, "{found:?}");
        found[0]
    }

    #[test]
    fn a_stream_ends_behind_the_frame_that_has_begun() {
        let events = b"event: a\ndata: 1\n\ndata: 2\r\n\r\ndata: 3";
        for (after, end) in
            [(0, Some(0)), (1, Some(18)), (17, Some(18)), (18, Some(18)), (19, Some(29)), (30, None)]
        {
            assert_eq!(ends(Framing::Sse, events, after), end, "{after}");
        }
        let (first, second) = (written("a", "{}"), written("b", r#"{"c":1}"#));
        let (one, all) = (first.len(), first.len() + second.len());
        let frames = [first, second, vec![0, 0]].concat();
        for (after, end) in
            [(0, Some(0)), (2, Some(one)), (one, Some(one)), (one + 9, Some(all)), (all + 1, None)]
        {
            assert_eq!(ends(Framing::AwsEventStream, &frames, after), end, "{after}");
        }
        assert!(PassingFrames::of(Framing::Json).is_none());
    }

    #[test]
    fn a_length_that_is_none_does_not_stop_the_stream() {
        let mut frames = PassingFrames::of(Framing::AwsEventStream).unwrap();
        frames.pass(&[0; 64]);
        assert!(frames.finish_frame(&[0; 64]).is_some());
    }
}
