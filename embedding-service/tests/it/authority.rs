//! Clients on the Unix socket that send no authority, an empty one, or the socket's path, as grpc-python does. Their frames are
//! written by hand here: the clients in Rust send a proper one.

use loona_hpack::{Decoder, Encoder};
use prost::Message as _;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::UnixStream,
};

use crate::support::{Server, request};

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RESET: u8 = 3;
const SETTINGS: u8 = 4;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

fn call(encoder: &mut Encoder<'_>, stream: u32, authority: Option<&str>) -> Vec<u8> {
    let mut headers: Vec<(&[u8], &[u8])> = vec![
        (b":method", b"POST"),
        (b":scheme", b"http"),
        (b":path", b"/sentinel.v1.EmbeddingService/CheckLoop"),
    ];
    headers.extend(authority.map(|authority| (b":authority".as_slice(), authority.as_bytes())));
    headers.extend([(b"te".as_slice(), b"trailers".as_slice()), (b"content-type", b"application/grpc")]);
    let message = request("r", "hello").encode_to_vec();
    let length = u32::try_from(message.len()).unwrap().to_be_bytes();
    let message = [&[0], length.as_slice(), &message].concat();
    [frame(HEADERS, END_HEADERS, stream, &encoder.encode(headers)), frame(DATA, END_STREAM, stream, &message)]
        .concat()
}

/// The status of each call, in the order in which they end.
async fn statuses(socket: &mut UnixStream, calls: usize) -> Vec<String> {
    let (mut decoder, mut found) = (Decoder::new(), Vec::new());
    while found.len() < calls {
        let mut header = [0; 9];
        socket.read_exact(&mut header).await.unwrap();
        let length = u32::from_be_bytes([0, header[0], header[1], header[2]]);
        let mut payload = vec![0; usize::try_from(length).unwrap()];
        socket.read_exact(&mut payload).await.unwrap();
        match header[3] {
            RESET => found.push("reset".to_owned()),
            HEADERS => {
                let headers = decoder.decode(&payload).unwrap();
                let status = headers.into_iter().find(|(name, _)| name == b"grpc-status");
                found.extend(status.map(|(_, status)| String::from_utf8(status).unwrap()));
            }
            _ => {}
        }
    }
    found
}

#[tokio::test]
async fn a_client_is_answered_whatever_authority_it_names() {
    let server = Server::start_without_model(&[]).await;
    let path = server.running.addresses().uds.clone().unwrap();
    for authority in [None, Some(""), Some("%2Ftmp%2Fservice.sock"), Some("/tmp/s.sock"), Some("localhost")] {
        let mut socket = UnixStream::connect(&path).await.unwrap();
        let mut encoder = Encoder::new();
        let mut sent = [b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(), frame(SETTINGS, 0, 0, &[])].concat();
        sent.extend((0..3).flat_map(|call_number| call(&mut encoder, 1 + 2 * call_number, authority)));
        socket.write_all(&sent).await.unwrap();
        assert_eq!(statuses(&mut socket, 3).await, ["0", "0", "0"], "{authority:?}");
    }
}
