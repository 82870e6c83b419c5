//! AWS event stream (`application/vnd.amazon.eventstream`): binary frames of headers and a payload. A frame consists of
//! its length and the length of its headers (4 bytes each, big-endian), the CRC-32 checksum of both, the headers, the
//! payload, and the checksum of everything before.

use crc32fast::hash;

pub const CONTENT_TYPE: &str = "application/vnd.amazon.eventstream";

/// The two lengths and their checksum.
const PRELUDE: usize = 12;
/// The checksum at the end.
const CHECKSUM: usize = 4;
/// The type of a header with a string value. Other types are not read.
const STRING: u8 = 7;

/// One frame, borrowed.
#[derive(Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// `:event-type`; empty if there is no such header.
    pub event_type: &'a str,
    /// `:message-type`: `event` or `exception`.
    pub message_type: &'a str,
    /// All headers, as they stand in the frame.
    pub headers: &'a [u8],
    pub payload: &'a [u8],
}

/// The bytes are not an event stream, or a frame is too long.
#[derive(Debug, PartialEq, Eq)]
pub struct Broken;

/// Assembles frames from chunks, with bounded memory.
#[derive(Debug, Default)]
pub struct Frames {
    unfinished: Vec<u8>,
}

impl Frames {
    /// Whether no incomplete frame is held.
    pub fn is_empty(&self) -> bool {
        self.unfinished.is_empty()
    }

    /// Gives each frame that is complete after `chunk`. `most`: bytes that a frame may have. After an error nothing
    /// more can be read, because it is unknown where the next frame begins.
    pub fn push(&mut self, chunk: &[u8], most: usize, mut read: impl FnMut(Frame<'_>)) -> Result<(), Broken> {
        self.unfinished.extend_from_slice(chunk);
        let mut rest = self.unfinished.as_slice();
        while let Some((frame, after)) = first(rest, most)? {
            read(frame);
            rest = after;
        }
        let done = self.unfinished.len().saturating_sub(rest.len());
        self.unfinished.drain(..done);
        Ok(())
    }
}

/// The first frame, and the bytes behind it. Returns `None` when it is incomplete. `most`: bytes that it may have.
pub fn first(bytes: &[u8], most: usize) -> Result<Option<(Frame<'_>, &[u8])>, Broken> {
    let Some(length) = length(bytes)? else { return Ok(None) };
    if length > most {
        return Err(Broken);
    }
    let Some((bytes, after)) = bytes.split_at_checked(length) else { return Ok(None) };
    Ok(Some((frame(bytes).ok_or(Broken)?, after)))
}

/// The length of the first frame, if its prelude is complete.
fn length(bytes: &[u8]) -> Result<Option<usize>, Broken> {
    let Some(prelude) = bytes.first_chunk::<PRELUDE>() else { return Ok(None) };
    let (lengths, checksum) = prelude.split_at(PRELUDE.saturating_sub(CHECKSUM));
    let length = usize::try_from(number(lengths).ok_or(Broken)?).map_err(|_| Broken)?;
    let is_sound = number(checksum) == Some(hash(lengths)) && length >= PRELUDE.saturating_add(CHECKSUM);
    if is_sound { Ok(Some(length)) } else { Err(Broken) }
}

fn number(bytes: &[u8]) -> Option<u32> {
    bytes.first_chunk().copied().map(u32::from_be_bytes)
}

fn frame(bytes: &[u8]) -> Option<Frame<'_>> {
    let (signed, checksum) = bytes.split_at_checked(bytes.len().checked_sub(CHECKSUM)?)?;
    if number(checksum)? != hash(signed) {
        return None;
    }
    let headers_length = usize::try_from(number(bytes.get(4..)?)?).ok()?;
    let (mut headers, payload) = signed.get(PRELUDE..)?.split_at_checked(headers_length)?;
    let mut frame = Frame { event_type: "", message_type: "", headers, payload };
    while let Some((name, value, rest)) = string_header(headers) {
        match name {
            b":event-type" => frame.event_type = std::str::from_utf8(value).ok()?,
            b":message-type" => frame.message_type = std::str::from_utf8(value).ok()?,
            _ => {}
        }
        headers = rest;
    }
    Some(frame)
}

/// The name and value of the first header, if it is a string, and the bytes behind it.
fn string_header(bytes: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let (name_length, rest) = bytes.split_first()?;
    let (name, rest) = rest.split_at_checked(usize::from(*name_length))?;
    let (kind, rest) = rest.split_first()?;
    let (length, rest) = rest.split_first_chunk().filter(|_| *kind == STRING)?;
    let (value, rest) = rest.split_at_checked(usize::from(u16::from_be_bytes(*length)))?;
    Some((name, value, rest))
}

/// Writes a frame of an event with a JSON payload.
pub fn written(event_type: &str, payload: &str) -> Vec<u8> {
    with_headers([(":event-type", event_type), CONTENT, (":message-type", "event")], payload)
}

/// Writes a frame of an error, which ends the stream.
pub fn exception(kind: &str, payload: &str) -> Vec<u8> {
    with_headers([(":exception-type", kind), CONTENT, (":message-type", "exception")], payload)
}

const CONTENT: (&str, &str) = (":content-type", "application/json");

fn with_headers(pairs: [(&str, &str); 3], payload: &str) -> Vec<u8> {
    let mut headers = Vec::new();
    for (name, value) in pairs {
        headers.push(u8::try_from(name.len()).unwrap_or(0));
        headers.extend_from_slice(name.as_bytes());
        headers.push(STRING);
        headers.extend_from_slice(&u16::try_from(value.len()).unwrap_or(0).to_be_bytes());
        headers.extend_from_slice(value.as_bytes());
    }
    framed(&headers, payload.as_bytes())
}

/// Writes a frame of these headers and this payload.
pub fn framed(headers: &[u8], payload: &[u8]) -> Vec<u8> {
    let length = [PRELUDE, headers.len(), payload.len(), CHECKSUM].into_iter().fold(0, usize::saturating_add);
    let mut frame = Vec::with_capacity(length);
    frame.extend_from_slice(&u32::try_from(length).unwrap_or(0).to_be_bytes());
    frame.extend_from_slice(&u32::try_from(headers.len()).unwrap_or(0).to_be_bytes());
    frame.extend_from_slice(&hash(&frame).to_be_bytes());
    frame.extend_from_slice(headers);
    frame.extend_from_slice(payload);
    frame.extend_from_slice(&hash(&frame).to_be_bytes());
    frame
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8], chunk: usize) -> Result<Vec<(String, String)>, Broken> {
        let (mut frames, mut found) = (Frames::default(), Vec::new());
        for chunk in bytes.chunks(chunk) {
            frames.push(chunk, 1_000, |frame| {
                assert_eq!(frame.message_type, "event");
                found
                    .push((frame.event_type.to_owned(), String::from_utf8_lossy(frame.payload).into_owned()));
            })?;
        }
        Ok(found)
    }

    #[test]
    fn what_is_written_reads_back_however_it_is_cut() {
        let bytes = [written("messageStart", "{}"), written("messageStop", r#"{"a":1}"#)].concat();
        let expected = [("messageStart", "{}"), ("messageStop", r#"{"a":1}"#)]
            .map(|(kind, payload)| (kind.to_owned(), payload.to_owned()));
        for chunk in [1, 5, 12, 50, bytes.len()] {
            assert_eq!(read(&bytes, chunk).unwrap(), expected);
        }
    }

    /// The example in the format's documentation: no headers, the payload `{'foo':'bar'}`.
    #[test]
    fn a_frame_from_elsewhere_is_read() {
        let bytes = b"\x00\x00\x00\x1d\x00\x00\x00\x00\xfd\x52\x8c\x5a{'foo':'bar'}\xc3\x65\x39\x36";
        let mut payloads = Vec::new();
        Frames::default().push(bytes, 1_000, |frame| payloads.push(frame.payload.to_vec())).unwrap();
        assert_eq!(payloads, [b"{'foo':'bar'}".to_vec()]);
    }

    #[test]
    fn a_flipped_bit_anywhere_is_noticed() {
        let bytes = written("metadata", r#"{"usage":{}}"#);
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert_ne!(read(&damaged, 1_000), read(&bytes, 1_000), "{at}");
        }
        assert_eq!(read(&written("x", &"y".repeat(2_000)), 100), Err(Broken));
    }
}
