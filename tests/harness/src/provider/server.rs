//! The mock provider's HTTP side: HTTP/1.1 and HTTP/2 with prior knowledge on one port.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use http_body_util::channel::Channel;
use http_body_util::{BodyExt, Either, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use tokio::net::TcpListener;

use super::{Answer, Piece, Received, Shared, event_stream};

type Body = Either<Full<Bytes>, Channel<Bytes, io::Error>>;

pub(super) async fn run(listener: TcpListener, shared: Arc<Shared>) {
    for connection in 0.. {
        let Ok((stream, _)) = listener.accept().await else { continue };
        let _ = stream.set_nodelay(true);
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            let service = service_fn(|request| answer(connection, request, Arc::clone(&shared)));
            // It fails when the other side breaks off, which tests do on purpose.
            let _ = auto::Builder::new(TokioExecutor::new())
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}

async fn answer(
    connection: usize,
    request: Request<Incoming>,
    shared: Arc<Shared>,
) -> Result<Response<Body>, Infallible> {
    let received = receive(connection, request).await;
    shared.received.lock().expect("no one panics with it").push(received.clone());
    let script = Arc::clone(&*shared.script.lock().expect("no one panics with it"));
    let Answer { status, headers, mut pieces } = script(&received);
    if let Some(Piece::Head(gate)) = pieces.first().cloned() {
        gate.pass().await;
        pieces.remove(0);
    }
    let streams = headers.get("content-type").is_some_and(|value| {
        [b"text/event-stream".as_slice(), event_stream::CONTENT_TYPE.as_bytes()]
            .iter()
            .any(|kind| value.as_bytes().starts_with(kind))
    });
    let plain = !streams && pieces.iter().all(|piece| matches!(piece, Piece::Bytes(_)));
    let body = if plain {
        let all: BytesMut = pieces
            .into_iter()
            .flat_map(|piece| if let Piece::Bytes(bytes) = piece { bytes } else { Bytes::new() })
            .collect();
        Either::Left(Full::new(all.freeze()))
    } else {
        let (sender, body) = Channel::new(1);
        tokio::spawn(send(sender, pieces));
        Either::Right(body)
    };
    let mut response = Response::new(body);
    *response.status_mut() = hyper::StatusCode::from_u16(status).expect("a status");
    *response.headers_mut() = headers;
    Ok(response)
}

async fn receive(connection: usize, request: Request<Incoming>) -> Received {
    let (parts, mut incoming) = request.into_parts();
    let (mut body, mut trailers, mut complete) = (BytesMut::new(), None, true);
    while let Some(frame) = incoming.frame().await {
        match frame.map(hyper::body::Frame::into_data) {
            Ok(Ok(data)) => body.extend_from_slice(&data),
            Ok(Err(frame)) => trailers = frame.into_trailers().ok(),
            Err(_) => {
                complete = false;
                break;
            }
        }
    }
    Received {
        connection,
        method: parts.method.to_string(),
        path: parts.uri.path_and_query().map_or_else(String::new, ToString::to_string),
        authority: parts.uri.authority().map(ToString::to_string),
        headers: parts.headers,
        body: body.freeze(),
        trailers,
        complete,
    }
}

async fn send(mut sender: http_body_util::channel::Sender<Bytes, io::Error>, pieces: Vec<Piece>) {
    for piece in pieces {
        let sent = match piece {
            Piece::Bytes(bytes) => sender.send_data(bytes).await,
            Piece::Trailers(trailers) => sender.send_trailers(trailers).await,
            Piece::Await(gate) | Piece::Head(gate) => {
                gate.pass().await;
                Ok(())
            }
            Piece::Pause(time) => {
                tokio::time::sleep(time).await;
                Ok(())
            }
            Piece::Cut => return sender.abort(io::Error::other("cut by the script")),
        };
        if sent.is_err() {
            return;
        }
    }
}
