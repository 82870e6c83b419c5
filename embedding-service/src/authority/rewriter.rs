//! The bytes that a client sends, with `localhost` in the place of an authority that the transport would not accept. It
//! reads the HTTP/2 frames up to the headers of the first call. If their authority is valid, all further bytes pass as
//! they are. If not, every block of headers is written anew, because later blocks refer to earlier ones.

use std::io;

use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};
use loona_hpack::{Decoder, encoder::encode_integer_into};
use tonic::codegen::http::uri::Authority;

const REPLACEMENT: &[u8] = b"localhost";
const AUTHORITY: &[u8] = b":authority";

/// What a client sends first.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const FRAME_HEADER: usize = 9;
/// Largest frame that a client may send, as the transport leaves it.
const MAX_FRAME: usize = 16_384;
/// Largest block of headers, as sent and as it was before it was compressed. A call has a few hundred bytes.
const MAX_HEADERS: usize = 64 << 10;

const HEADERS: u8 = 1;
const CONTINUATION: u8 = 9;
const END_STREAM: u8 = 0x1;
const END_HEADERS: u8 = 0x4;
const PADDED: u8 = 0x8;
const PRIORITY: u8 = 0x20;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// Before the client's first bytes are there.
    #[default]
    Preface,
    /// Frames are read, so that the headers of the first call are found.
    Undecided,
    /// Every block of headers is written anew.
    Rewriting,
    /// Everything passes as it is.
    Untouched,
}

/// Between a client and the transport.
#[derive(Default)]
pub(super) struct Rewriter {
    state: State,
    /// Read and not yet understood.
    input: BytesMut,
    /// For the transport.
    output: BytesMut,
    /// What is left of a frame that passes as it is.
    passing: usize,
    block: Option<HeaderBlock>,
    decoder: Decoder<'static>,
}

/// The headers of a call, of which not all frames may be there.
struct HeaderBlock {
    stream: u32,
    end_stream: bool,
    fragments: BytesMut,
    /// The frames as they came.
    frames: BytesMut,
}

impl Rewriter {
    /// Takes bytes of the client.
    pub(super) fn add(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.input.extend_from_slice(bytes);
        self.process()
    }

    /// At most so many bytes for the transport.
    pub(super) fn take(&mut self, most: usize) -> BytesMut {
        self.output.split_to(self.output.len().min(most))
    }

    /// Whether nothing has to be looked at any more.
    pub(super) fn is_done(&self) -> bool {
        self.state == State::Untouched && self.output.is_empty()
    }

    /// Moves as much of the input to the output as can be understood.
    fn process(&mut self) -> io::Result<()> {
        loop {
            match self.state {
                State::Preface => {
                    if self.input.len() < PREFACE.len() && PREFACE.starts_with(&self.input) {
                        return Ok(());
                    }
                    let is_http2 = self.input.starts_with(PREFACE);
                    self.passing = if is_http2 { PREFACE.len() } else { 0 };
                    self.state = if is_http2 { State::Undecided } else { State::Untouched };
                }
                State::Untouched => {
                    self.output.unsplit(self.input.split());
                    return Ok(());
                }
                State::Undecided | State::Rewriting => {
                    if !self.next_frame()? {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Handles a frame, or what there is of one that passes; false if more has to be read first.
    fn next_frame(&mut self) -> io::Result<bool> {
        if self.passing > 0 {
            let there = self.input.split_to(self.passing.min(self.input.len()));
            self.passing = self.passing.saturating_sub(there.len());
            self.output.extend_from_slice(&there);
            return Ok(self.passing == 0);
        }
        let Some(header) = self.input.first_chunk::<FRAME_HEADER>() else { return Ok(false) };
        let [l0, l1, l2, kind, flags, s0, s1, s2, s3] = *header;
        let length = usize::try_from(u32::from_be_bytes([0, l0, l1, l2])).unwrap_or(usize::MAX);
        let stream = u32::from_be_bytes([s0, s1, s2, s3]);
        let whole = length.saturating_add(FRAME_HEADER);
        if kind != HEADERS && kind != CONTINUATION {
            self.passing = whole;
            return Ok(true);
        }
        if length > MAX_FRAME {
            return self.give_up();
        }
        if self.input.len() < whole {
            return Ok(false);
        }
        let frame = self.input.split_to(whole).freeze();
        let payload = frame.slice(FRAME_HEADER..);
        let mut block = match (kind, self.block.take()) {
            (HEADERS, None) => HeaderBlock {
                stream,
                end_stream: flags & END_STREAM != 0,
                fragments: BytesMut::new(),
                frames: BytesMut::new(),
            },
            (CONTINUATION, Some(block)) if block.stream == stream => block,
            (_, block) => {
                let before = block.map(|block| block.frames).unwrap_or_default();
                self.put_back(before, &frame);
                return self.give_up();
            }
        };
        let fragment = if kind == HEADERS { fragment(payload, flags) } else { Some(payload) };
        let Some(fragment) =
            fragment.filter(|fragment| block.fragments.len().saturating_add(fragment.len()) <= MAX_HEADERS)
        else {
            self.put_back(block.frames, &frame);
            return self.give_up();
        };
        block.fragments.extend_from_slice(&fragment);
        block.frames.extend_from_slice(&frame);
        if flags & END_HEADERS == 0 {
            self.block = Some(block);
            return Ok(true);
        }
        self.headers_complete(block)?;
        Ok(true)
    }

    /// Puts frames before what is to be read next.
    fn put_back(&mut self, mut before: BytesMut, frame: &Bytes) {
        before.extend_from_slice(frame);
        before.unsplit(self.input.split());
        self.input = before;
    }

    /// What is no HTTP/2 is for the transport to refuse, unless blocks before it were written anew: then what the
    /// transport knows of the client's headers is not what the client thinks.
    fn give_up(&mut self) -> io::Result<bool> {
        if self.state == State::Rewriting {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "headers that cannot be read"));
        }
        self.state = State::Untouched;
        Ok(true)
    }

    /// The headers of a call are all there.
    fn headers_complete(&mut self, block: HeaderBlock) -> io::Result<()> {
        let headers = self.decode(&block.fragments);
        match (self.state, headers) {
            (State::Rewriting, None) => {
                Err(io::Error::new(io::ErrorKind::InvalidData, "headers that cannot be read"))
            }
            (State::Rewriting, Some(headers)) | (_, Some(headers @ Headers { replaced: true, .. })) => {
                self.state = State::Rewriting;
                self.write_frames(&block, &headers.encoded);
                Ok(())
            }
            _ => {
                self.state = State::Untouched;
                self.output.unsplit(block.frames);
                Ok(())
            }
        }
    }

    /// The headers of a block, written anew; nothing if they cannot be read or are too many.
    fn decode(&mut self, block: &[u8]) -> Option<Headers> {
        let mut headers = Headers { encoded: Vec::new(), replaced: false };
        let mut fits = true;
        let decoded = self.decoder.decode_with_cb(block, |name, value| {
            let foreign = *name == *AUTHORITY && Authority::try_from(&*value).is_err();
            headers.replaced |= foreign;
            fits = fits && headers.push(&name, if foreign { REPLACEMENT } else { &value });
        });
        decoded.ok().filter(|()| fits).map(|()| headers)
    }

    fn write_frames(&mut self, block: &HeaderBlock, headers: &[u8]) {
        let mut kind = HEADERS;
        let mut left = headers;
        loop {
            let (fragment, rest) = left.split_at_checked(MAX_FRAME).unwrap_or((left, &[]));
            left = rest;
            let end_stream = if kind == HEADERS && block.end_stream { END_STREAM } else { 0 };
            let end_headers = if left.is_empty() { END_HEADERS } else { 0 };
            // Never more than `MAX_FRAME`.
            self.output.put_uint(u64::try_from(fragment.len()).unwrap_or_default(), 3);
            self.output.put_u8(kind);
            self.output.put_u8(end_stream | end_headers);
            self.output.put_u32(block.stream);
            self.output.put_slice(fragment);
            if left.is_empty() {
                return;
            }
            kind = CONTINUATION;
        }
    }
}

/// Headers as HPACK, each in full: nothing refers to what was sent before.
struct Headers {
    encoded: Vec<u8>,
    /// Whether an authority was replaced.
    replaced: bool,
}

impl Headers {
    /// False if there are too many.
    fn push(&mut self, name: &[u8], value: &[u8]) -> bool {
        /// A literal that is not to be remembered, with a name of its own.
        const LITERAL: u8 = 0;
        self.encoded.push(LITERAL);
        for text in [name, value] {
            // Writing to memory does not fail.
            let _ = encode_integer_into(text.len(), 7, 0, &mut self.encoded);
            self.encoded.extend_from_slice(text);
        }
        self.encoded.len() <= MAX_HEADERS
    }
}

/// The headers in a HEADERS frame, without padding and priority; nothing if it is too short for them.
fn fragment(mut payload: Bytes, flags: u8) -> Option<Bytes> {
    let padding = if flags & PADDED != 0 { usize::from(payload.try_get_u8().ok()?) } else { 0 };
    if flags & PRIORITY != 0 {
        // The stream that it depends on, and its weight: five bytes.
        payload.try_get_u32().ok()?;
        payload.try_get_u8().ok()?;
    }
    let length = payload.len().checked_sub(padding)?;
    payload.truncate(length);
    Some(payload)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: u8, flags: u8, stream: u8, payload: &[u8]) -> Vec<u8> {
        let length = u16::try_from(payload.len()).unwrap().to_be_bytes();
        [&[0, length[0], length[1], kind, flags, 0, 0, 0, stream], payload].concat()
    }

    fn headers(authority: &[u8]) -> Vec<u8> {
        let mut headers = Headers { encoded: Vec::new(), replaced: false };
        headers.push(b":method", b"POST");
        headers.push(AUTHORITY, authority);
        headers.push(b"te", b"trailers");
        headers.encoded
    }

    /// What the transport gets of what a client sends, `step` bytes at a time.
    fn passed(sent: &[u8], step: usize) -> io::Result<Vec<u8>> {
        let mut rewriter = Rewriter::default();
        for bytes in sent.chunks(step) {
            rewriter.add(bytes)?;
        }
        Ok(rewriter.output.to_vec())
    }

    const SETTINGS: u8 = 4;
    const DATA: u8 = 0;

    #[test]
    fn what_has_a_proper_authority_passes_untouched() {
        for authority in [b"localhost".as_slice(), b"127.0.0.1:50051", b"service.example"] {
            let sent = [
                PREFACE.to_vec(),
                frame(SETTINGS, 0, 0, &[]),
                frame(HEADERS, END_HEADERS, 1, &headers(authority)),
                frame(DATA, END_STREAM, 1, b"message"),
                frame(HEADERS, END_HEADERS, 3, b"whatever comes then"),
            ]
            .concat();
            for step in [1, 7, sent.len()] {
                assert_eq!(passed(&sent, step).unwrap(), sent, "{step}");
            }
        }
        for other in [b"GET / HTTP/1.1\r\n\r\n".as_slice(), b"PRI * HTTP/2.0 and something else entirely"] {
            assert_eq!(passed(other, 1).unwrap(), other);
        }
    }

    #[test]
    fn an_authority_that_is_none_is_replaced_in_every_call() {
        for authority in [b"".as_slice(), b"tmp%2Fservice.sock", b"/tmp/service.sock"] {
            let call = |stream, authority: &[u8]| {
                [
                    frame(HEADERS, END_HEADERS, stream, &headers(authority)),
                    frame(DATA, END_STREAM, stream, b"message"),
                ]
                .concat()
            };
            let calls = |authority| [PREFACE.to_vec(), call(1, authority), call(3, authority)].concat();
            let sent = calls(authority);
            for step in [1, 7, sent.len()] {
                assert_eq!(passed(&sent, step).unwrap(), calls(REPLACEMENT), "{step}");
            }
        }
    }

    #[test]
    fn padding_priority_and_continuations_are_understood() {
        let block = headers(b"");
        let (start, rest) = block.split_at(5);
        let padded = [&[3, 0, 0, 0, 0, 16], start, &[0; 3]].concat();
        let sent = [
            PREFACE.to_vec(),
            frame(HEADERS, PADDED | PRIORITY | END_STREAM, 1, &padded),
            frame(CONTINUATION, END_HEADERS, 1, rest),
        ]
        .concat();
        let wanted =
            [PREFACE.to_vec(), frame(HEADERS, END_STREAM | END_HEADERS, 1, &headers(REPLACEMENT))].concat();
        assert_eq!(passed(&sent, 3).unwrap(), wanted);
    }

    #[test]
    fn what_cannot_be_read_is_left_to_the_transport_or_ends_the_connection() {
        let odd = [
            frame(HEADERS, PADDED | END_HEADERS, 1, &[200]),
            frame(HEADERS, END_HEADERS, 1, &[0xff; 9]),
            frame(CONTINUATION, END_HEADERS, 1, b"x"),
            [frame(HEADERS, 0, 1, b""), frame(CONTINUATION, END_HEADERS, 5, b"")].concat(),
            frame(HEADERS, END_HEADERS, 1, &vec![0; MAX_FRAME + 1]),
        ];
        for odd in odd {
            let first = [PREFACE, &odd].concat();
            assert_eq!(passed(&first, 11).unwrap(), first);
            let later = [PREFACE, &frame(HEADERS, END_HEADERS, 1, &headers(b"")), &odd].concat();
            assert!(passed(&later, 11).is_err());
        }
    }

    #[test]
    fn endless_headers_are_not_kept() {
        let mut sent = [PREFACE.to_vec(), frame(HEADERS, 0, 1, b"")].concat();
        for _ in 0..20 {
            sent.extend(frame(CONTINUATION, 0, 1, &[0; MAX_FRAME]));
        }
        assert_eq!(passed(&sent, 4096).unwrap(), sent, "the transport refuses them");
    }
}
