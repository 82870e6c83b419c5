//! Server-sent events. Every provider sends an event's data as a single `data:` line.

/// Assembles lines from chunks, with bounded memory.
#[derive(Debug, Default)]
pub struct Lines {
    unfinished: Vec<u8>,
    /// The incomplete line was too long and is dropped.
    is_too_long: bool,
}

/// A line was too long and is lost.
#[derive(Debug, PartialEq, Eq)]
pub struct TooLong;

impl Lines {
    /// Gives the data of each event that is complete after `chunk`, or `None` if it is not UTF-8. `most`: bytes that a
    /// line may have.
    pub fn push(
        &mut self,
        chunk: &[u8],
        most: usize,
        mut event: impl FnMut(Option<&str>),
    ) -> Result<(), TooLong> {
        let mut result = Ok(());
        for line in chunk.split_inclusive(|byte| *byte == b'\n') {
            if self.unfinished.len().saturating_add(line.len()) > most {
                self.is_too_long = true;
                self.unfinished.clear();
                result = Err(TooLong);
            }
            if !line.ends_with(b"\n") {
                if !self.is_too_long {
                    self.unfinished.extend_from_slice(line);
                }
            } else if std::mem::take(&mut self.is_too_long) {
                self.unfinished.clear();
            } else if self.unfinished.is_empty() {
                data(line, &mut event);
            } else {
                self.unfinished.extend_from_slice(line);
                data(&std::mem::take(&mut self.unfinished), &mut event);
            }
        }
        result
    }

    /// Gives the last line, which may lack its end.
    pub fn end(self, mut event: impl FnMut(Option<&str>)) {
        data(&self.unfinished, &mut event);
    }
}

fn data(line: &[u8], event: &mut impl FnMut(Option<&str>)) {
    if let Some(data) = line.strip_prefix(b"data:") {
        event(std::str::from_utf8(data).ok().map(str::trim));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(stream: &str, chunk: usize, most: usize) -> (Vec<String>, bool) {
        let (mut lines, mut events, mut lost) = (Lines::default(), Vec::new(), false);
        for chunk in stream.as_bytes().chunks(chunk) {
            lost |= lines.push(chunk, most, |data| events.extend(data.map(str::to_owned))).is_err();
        }
        lines.end(|data| events.extend(data.map(str::to_owned)));
        (events, lost)
    }

    #[test]
    fn events_are_the_same_however_they_are_cut() {
        let stream = "event: x\ndata: one\r\n\r\n: ping\n\ndata:two\n\ndata: é\n\ndata: last";
        for chunk in [1, 2, 3, 7, 100] {
            let expected = ["one", "two", "é", "last"].map(str::to_owned).to_vec();
            assert_eq!(read(stream, chunk, 100), (expected, false), "{chunk}");
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_lost_and_the_next_is_not() {
        let stream = format!("data: {}\ndata: b\n", "a".repeat(200));
        for chunk in [1, 50, 500] {
            assert_eq!(read(&stream, chunk, 100), (vec!["b".to_owned()], true), "{chunk}");
        }
    }
}
