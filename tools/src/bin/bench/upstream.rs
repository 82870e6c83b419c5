//! A provider that costs almost nothing: one thread for each connection, which reads a request to its end and answers
//! with one small completion in the dialect of the path. It ignores the content of the request.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

const TEXT: &str = "The order is complete and on its way; nothing else is open for this customer.";

/// The answers for paths that contain one of these. Every other path gets a chat completion.
fn answers() -> [(&'static str, String); 4] {
    [
        (
            "/v1/messages",
            format!(
                r#"{{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[{{"type":"text","text":"{TEXT}"}}],"stop_reason":"end_turn","stop_sequence":null,"usage":{{"input_tokens":412,"output_tokens":17}}}}"#
            ),
        ),
        (
            "/v1/responses",
            format!(
                r#"{{"id":"resp_1","object":"response","created_at":1700000000,"status":"completed","model":"gpt-5-mini","output":[{{"type":"message","id":"msg_1","status":"completed","role":"assistant","content":[{{"type":"output_text","annotations":[],"text":"{TEXT}"}}]}}],"usage":{{"input_tokens":412,"output_tokens":17,"total_tokens":429}}}}"#
            ),
        ),
        (
            ":generateContent",
            format!(
                r#"{{"candidates":[{{"content":{{"role":"model","parts":[{{"text":"{TEXT}"}}]}},"finishReason":"STOP","index":0}}],"usageMetadata":{{"promptTokenCount":412,"candidatesTokenCount":17,"totalTokenCount":429}}}}"#
            ),
        ),
        (
            "",
            format!(
                r#"{{"id":"chatcmpl-1","object":"chat.completion","created":1700000000,"model":"gpt-5-mini","choices":[{{"index":0,"message":{{"role":"assistant","content":"{TEXT}"}},"logprobs":null,"finish_reason":"stop"}}],"usage":{{"prompt_tokens":412,"completion_tokens":17,"total_tokens":429}}}}"#
            ),
        ),
    ]
}

/// Starts it on a free port for the lifetime of the program. Returns the port.
pub fn start() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port for the provider");
    let port = listener.local_addr().expect("an address").port();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || serve(stream));
        }
    });
    port
}

/// Until the client closes the connection.
fn serve(mut stream: TcpStream) {
    let _ = stream.set_nodelay(true);
    let answers = answers().map(|(path, body)| {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ";
        (path, format!("{head}{}\r\n\r\n{body}", body.len()))
    });
    let mut unread = Vec::new();
    let mut buffer = vec![0; 65_536];
    loop {
        let head = loop {
            if let Some(head) = head_of(&unread) {
                break head;
            }
            match stream.read(&mut buffer) {
                Ok(read @ 1..) => unread.extend_from_slice(&buffer[..read]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                _ => return,
            }
        };
        let length =
            header(&unread[..head], "content-length").and_then(|length| length.parse::<usize>().ok());
        let Some(length) = length else {
            eprintln!("the bench's provider got a request without a length: it cannot tell where it ends");
            return;
        };
        let asked =
            String::from_utf8_lossy(unread[..head].split(|byte| *byte == b'\r').next().unwrap_or_default());
        let answer =
            answers.iter().find(|(path, _)| asked.contains(path)).map_or("", |(_, answer)| answer.as_str());
        let mut missing = (head + 4 + length).saturating_sub(unread.len());
        let kept = (head + 4 + length).min(unread.len());
        unread.drain(..kept);
        while missing > 0 {
            let room = missing.min(buffer.len());
            match stream.read(&mut buffer[..room]) {
                Ok(read @ 1..) => missing -= read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                _ => return,
            }
        }
        if stream.write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

/// The length of the head at the start of `bytes`, without the empty line. `None` if it is incomplete.
pub fn head_of(bytes: &[u8]) -> Option<usize> {
    bytes.windows(4).position(|window| window == b"\r\n\r\n")
}

/// First value of a header in a head.
pub fn header<'a>(head: &'a [u8], name: &str) -> Option<&'a str> {
    let head = std::str::from_utf8(head).ok()?;
    head.split("\r\n")
        .find_map(|line| line.split_once(':').filter(|(n, _)| n.eq_ignore_ascii_case(name)))
        .map(|(_, value)| value.trim())
}
