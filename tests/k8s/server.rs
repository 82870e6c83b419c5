//! A small HTTP server of the test's own: a place to fetch from, or a webhook.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

/// Status and body for a path and a body.
type Answer = dyn Fn(&str, &[u8]) -> (u16, Vec<u8>);

/// Answers every request with what `answer` makes of its path and body: status and body. It ends with the test program.
pub fn serve(answer: impl Fn(&str, &[u8]) -> (u16, Vec<u8>) + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    let answer = Arc::new(answer);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let answer = Arc::clone(&answer);
            thread::spawn(move || talk(stream, &*answer));
        }
    });
    address
}

fn talk(stream: TcpStream, answer: &Answer) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut stream = stream;
    loop {
        let mut first = String::new();
        reader.read_line(&mut first).ok().filter(|read| *read > 0)?;
        let path = first.split(' ').nth(1)?.to_owned();
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
            let line = line.trim();
            if line.is_empty() {
                break;
            }
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse().ok()?;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        let (status, body) = answer(&path, &body);
        write!(stream, "HTTP/1.1 {status} Answer\r\ncontent-length: {}\r\n\r\n", body.len()).ok()?;
        stream.write_all(&body).ok()?;
    }
}
