//! The framing `application/vnd.amazon.eventstream`, from its specification: total length, length of the headers,
//! CRC-32 of both, headers, payload, CRC-32 of everything before. Numbers are big-endian. Only string headers (type 7)
//! are used.

use bytes::Bytes;
use serde_json::Value;

pub const CONTENT_TYPE: &str = "application/vnd.amazon.eventstream";

/// The prelude and both checksums.
const AROUND: usize = 16;
const STRING: u8 = 7;

/// One message of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    pub headers: Vec<(String, String)>,
    pub payload: Bytes,
}

impl Frame {
    /// An event of the operation's output.
    pub fn event(kind: &str, payload: &Value) -> Self {
        Self::event_of_text(kind, payload.to_string())
    }

    /// The same with the text of the payload.
    pub fn event_of_text(kind: &str, payload: impl Into<String>) -> Self {
        let headers =
            [(":event-type", kind), (":content-type", "application/json"), (":message-type", "event")];
        Self::of(&headers, payload.into())
    }

    /// The message that ends a stream that failed after it had begun.
    pub fn exception(kind: &str, payload: &Value) -> Self {
        let headers = [
            (":exception-type", kind),
            (":content-type", "application/json"),
            (":message-type", "exception"),
        ];
        Self::of(&headers, payload.to_string())
    }

    fn of(headers: &[(&str, &str)], payload: String) -> Self {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Self { headers, payload: payload.into() }
    }

    /// The value of a header. Empty if it is absent.
    pub fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.payload).expect("a payload of JSON")
    }

    pub fn bytes(&self) -> Bytes {
        let mut headers = Vec::new();
        for (name, value) in &self.headers {
            headers.push(u8::try_from(name.len()).expect("a short name"));
            headers.extend_from_slice(name.as_bytes());
            headers.push(STRING);
            headers.extend_from_slice(&u16::try_from(value.len()).expect("a short value").to_be_bytes());
            headers.extend_from_slice(value.as_bytes());
        }
        let number = |length: usize| u32::try_from(length).expect("a length").to_be_bytes();
        let mut frame = Vec::new();
        frame.extend_from_slice(&number(AROUND + headers.len() + self.payload.len()));
        frame.extend_from_slice(&number(headers.len()));
        frame.extend_from_slice(&crc32fast::hash(&frame).to_be_bytes());
        frame.extend_from_slice(&headers);
        frame.extend_from_slice(&self.payload);
        frame.extend_from_slice(&crc32fast::hash(&frame).to_be_bytes());
        frame.into()
    }
}

/// Reads a whole stream. The error says what is wrong with it.
pub fn read(mut stream: &[u8]) -> Result<Vec<Frame>, String> {
    let mut frames = Vec::new();
    while !stream.is_empty() {
        let total = number(stream, 0)? as usize;
        if total < AROUND || total > stream.len() {
            return Err(format!("a frame of {total} bytes, and {} are left", stream.len()));
        }
        let (frame, rest) = stream.split_at(total);
        for (what, end) in [("prelude", 8), ("frame", total - 4)] {
            if number(frame, end)? != crc32fast::hash(&frame[..end]) {
                return Err(format!("the checksum of the {what} is wrong"));
            }
        }
        let end_of_headers = 12 + number(frame, 4)? as usize;
        if end_of_headers > total - 4 {
            return Err("the headers are longer than the frame".to_owned());
        }
        let headers = headers(&frame[12..end_of_headers]).ok_or("the headers cannot be read")?;
        frames.push(Frame { headers, payload: Bytes::copy_from_slice(&frame[end_of_headers..total - 4]) });
        stream = rest;
    }
    Ok(frames)
}

fn number(bytes: &[u8], at: usize) -> Result<u32, String> {
    let four = bytes.get(at..at + 4).and_then(|four| four.try_into().ok());
    four.map(u32::from_be_bytes).ok_or_else(|| "it ends within a frame".to_owned())
}

fn headers(mut bytes: &[u8]) -> Option<Vec<(String, String)>> {
    let mut headers = Vec::new();
    while let Some((length, rest)) = bytes.split_first() {
        let (name, rest) = rest.split_at_checked(usize::from(*length))?;
        let (kind, rest) = rest.split_first()?;
        if *kind != STRING {
            return None;
        }
        let (length, rest) = rest.split_first_chunk::<2>()?;
        let (value, rest) = rest.split_at_checked(usize::from(u16::from_be_bytes(*length)))?;
        headers.push((String::from_utf8(name.to_vec()).ok()?, String::from_utf8(value.to_vec()).ok()?));
        bytes = rest;
    }
    Some(headers)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frames that AWS publishes with its client libraries.
    #[test]
    fn known_frames() {
        let empty = Frame { headers: vec![], payload: Bytes::new() };
        assert_eq!(*empty.bytes(), *b"\x00\x00\x00\x10\x00\x00\x00\x00\x05\xc2\x48\xeb\x7d\x98\xc8\xff");
        let payload = Frame { headers: vec![], payload: Bytes::from_static(b"{'foo':'bar'}") };
        assert_eq!(
            *payload.bytes(),
            *b"\x00\x00\x00\x1d\x00\x00\x00\x00\xfd\x52\x8c\x5a{'foo':'bar'}\xc3\x65\x39\x36"
        );
    }

    #[test]
    fn what_is_written_is_read_and_any_flipped_bit_is_noticed() {
        let frames = [
            Frame::event("messageStart", &serde_json::json!({"role": "assistant"})),
            Frame::exception("throttlingException", &serde_json::json!({"message": "Too many tokens."})),
        ];
        let stream: Vec<u8> = frames.iter().flat_map(Frame::bytes).collect();
        assert_eq!(read(&stream).as_deref(), Ok(&frames[..]));
        for at in 0..stream.len() {
            let mut broken = stream.clone();
            broken[at] ^= 1;
            assert!(read(&broken).is_err(), "byte {at}");
        }
    }
}
