//! HTTP/1.1 byte by byte, for what no client library would send. Blocking.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};

use crate::process::PATIENCE;

/// One answer, its chunked coding undone.
#[derive(Clone, Debug)]
pub struct RawResponse {
    pub status: u16,
    /// Status line and headers as they came.
    pub head: String,
    pub body: Vec<u8>,
}

/// A connection on which bytes are written as they are given.
pub struct RawConnection {
    stream: TcpStream,
    unread: Vec<u8>,
}

impl RawConnection {
    pub fn open(to: SocketAddr) -> Self {
        let stream = TcpStream::connect(to).expect("a connection");
        stream.set_read_timeout(Some(PATIENCE)).expect("a time-out");
        Self { stream, unread: Vec::new() }
    }

    /// Errors are left to the answer: Envoy may close before it has read all.
    pub fn write(&mut self, bytes: &[u8]) {
        let _ = self.stream.write_all(bytes);
    }

    pub fn end_of_request(&mut self) {
        let _ = self.stream.shutdown(Shutdown::Write);
    }

    /// The next answer; nothing when the connection ends before one.
    pub fn response(&mut self) -> Option<RawResponse> {
        let head_end = self.read_until(|bytes| position(bytes, b"\r\n\r\n"))? + 4;
        let head = String::from_utf8_lossy(&self.unread[..head_end]).into_owned();
        self.unread.drain(..head_end);
        let status = head.split(' ').nth(1)?.parse().ok()?;
        let field = |name: &str| {
            head.lines().find_map(|line| {
                line.split_once(':')
                    .filter(|(n, _)| n.eq_ignore_ascii_case(name))
                    .map(|(_, v)| v.trim().to_owned())
            })
        };
        let body = if field("transfer-encoding").is_some_and(|coding| coding == "chunked") {
            self.chunks()?
        } else if let Some(length) = field("content-length") {
            let length: usize = length.parse().ok()?;
            self.read_until(|bytes| (bytes.len() >= length).then_some(length))?;
            self.unread.drain(..length).collect()
        } else {
            Vec::new()
        };
        Some(RawResponse { status, head, body })
    }

    fn chunks(&mut self) -> Option<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let line = self.read_until(|bytes| position(bytes, b"\r\n"))?;
            let size = usize::from_str_radix(std::str::from_utf8(&self.unread[..line]).ok()?, 16).ok()?;
            let whole = line + 2 + size + 2;
            self.read_until(|bytes| (bytes.len() >= whole).then_some(whole))?;
            body.extend_from_slice(&self.unread[line + 2..line + 2 + size]);
            self.unread.drain(..whole);
            if size == 0 {
                return Some(body);
            }
        }
    }

    fn read_until(&mut self, found: impl Fn(&[u8]) -> Option<usize>) -> Option<usize> {
        loop {
            if let Some(at) = found(&self.unread) {
                return Some(at);
            }
            let mut buffer = [0; 16_384];
            match self.stream.read(&mut buffer) {
                Ok(0) | Err(_) => return None,
                Ok(read) => self.unread.extend_from_slice(&buffer[..read]),
            }
        }
    }
}

/// `GET path` on a connection of its own; nothing when there is no answer.
pub fn get(from: SocketAddr, path: &str) -> Option<RawResponse> {
    ask(from, "GET", path)
}

/// The same with `POST`, and no body.
pub fn post(from: SocketAddr, path: &str) -> Option<RawResponse> {
    ask(from, "POST", path)
}

fn ask(from: SocketAddr, method: &str, path: &str) -> Option<RawResponse> {
    let stream = TcpStream::connect(from).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    let mut connection = RawConnection { stream, unread: Vec::new() };
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
    );
    connection.write(head.as_bytes());
    connection.response()
}

fn position(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}
