//! A faulty embedding service. Tests use the real one for everything that works.

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::channel::Channel;
use http_body_util::{BodyExt, Either, Empty};
use hyper::body::Incoming;
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper::{HeaderMap, Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use prost::Message;
use sentinel_proto::v1::{CheckLoopRequest, CheckLoopResponse};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};

use crate::threads::Threads;

#[derive(Clone, Debug)]
pub enum Behaviour {
    /// Answers with this message after this time.
    Answer(CheckLoopResponse, Duration),
    /// A gRPC error with this code.
    Refuse(u16),
    /// A gRPC answer whose message is these bytes (length prefix included), with status 0.
    Bytes(Vec<u8>),
    /// These headers, these bytes (length prefix included) and these trailers. Without bytes and trailers the answer
    /// has only headers, as from a service that refuses at once.
    Whole(HeaderMap, Vec<u8>, Option<HeaderMap>),
    /// HTTP 200 with a web page, as from a wrong server.
    Page,
    /// Bytes that are not HTTP.
    Noise,
    /// Accepts the call and closes the connection.
    HangUp,
    /// Accepts the call and never answers.
    Silence,
}

pub struct FakeService {
    shared: Arc<Shared>,
    socket: PathBuf,
    _threads: Threads,
}

struct Shared {
    behaviour: Mutex<Behaviour>,
    calls: Mutex<Vec<(HeaderMap, CheckLoopRequest)>>,
    paths: Mutex<Vec<String>>,
}

impl FakeService {
    pub fn start(socket: &Path, behaviour: Behaviour) -> Self {
        let threads = Threads::start();
        let listener = threads.inside(|| UnixListener::bind(socket)).expect("the socket is free");
        let shared = Arc::new(Shared {
            behaviour: Mutex::new(behaviour),
            calls: Mutex::new(Vec::new()),
            paths: Mutex::new(Vec::new()),
        });
        threads.spawn(run(listener, Arc::clone(&shared)));
        Self { shared, socket: socket.to_path_buf(), _threads: threads }
    }

    pub fn behave(&self, behaviour: Behaviour) {
        *self.shared.behaviour.lock().expect("no one panics with it") = behaviour;
    }

    /// The requests so far.
    pub fn calls(&self) -> Vec<CheckLoopRequest> {
        let calls = self.shared.calls.lock().expect("no one panics with it");
        calls.iter().map(|(_, call)| call.clone()).collect()
    }

    /// The path of each call, also of calls that are not the embedding service's.
    pub fn paths(&self) -> Vec<String> {
        self.shared.paths.lock().expect("no one panics with it").clone()
    }

    /// The metadata of each call.
    pub fn metadata(&self) -> Vec<HeaderMap> {
        let calls = self.shared.calls.lock().expect("no one panics with it");
        calls.iter().map(|(metadata, _)| metadata.clone()).collect()
    }
}

impl Drop for FakeService {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.socket);
    }
}

impl Shared {
    fn behaviour(&self) -> Behaviour {
        self.behaviour.lock().expect("no one panics with it").clone()
    }
}

async fn run(listener: UnixListener, shared: Arc<Shared>) {
    while let Ok((stream, _)) = listener.accept().await {
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            if matches!(shared.behaviour(), Behaviour::Noise) {
                return noise(stream).await;
            }
            let service = service_fn(|request| answer(request, Arc::clone(&shared)));
            let _ = http2::Builder::new(TokioExecutor::new())
                .serve_connection(TokioIo::new(stream), service)
                .await;
        });
    }
}

async fn noise(mut stream: UnixStream) {
    let mut asked = [0; 64];
    let _ = stream.read(&mut asked).await;
    let _ = stream.write_all(b"\x00\xff\xfe this is no HTTP \x80\x81").await;
}

type Body = Either<Channel<Bytes, std::io::Error>, Empty<Bytes>>;

async fn answer(request: Request<Incoming>, shared: Arc<Shared>) -> Result<Response<Body>, Infallible> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    shared.paths.lock().expect("no one panics with it").push(head.uri.path().to_owned());
    if let Ok(call) = CheckLoopRequest::decode(body.get(5..).unwrap_or_default()) {
        shared.calls.lock().expect("no one panics with it").push((head.headers, call));
    }
    let (mut sender, body) = Channel::<Bytes, std::io::Error>::new(2);
    let mut response = Response::new(Either::Left(body));
    response.headers_mut().insert("content-type", "application/grpc".parse().expect("a value"));
    match shared.behaviour() {
        Behaviour::Answer(message, after) => {
            tokio::time::sleep(after).await;
            let message = message.encode_to_vec();
            let mut framed = vec![0];
            framed.extend_from_slice(&u32::try_from(message.len()).expect("a short message").to_be_bytes());
            framed.extend_from_slice(&message);
            finish(&mut sender, framed, 0).await;
        }
        Behaviour::Bytes(bytes) => finish(&mut sender, bytes, 0).await,
        Behaviour::Whole(headers, bytes, trailers) => {
            *response.headers_mut() = headers;
            match trailers {
                None if bytes.is_empty() => *response.body_mut() = Either::Right(Empty::new()),
                trailers => {
                    if !bytes.is_empty() {
                        let _ = sender.send_data(Bytes::from(bytes)).await;
                    }
                    if let Some(trailers) = trailers {
                        let _ = sender.send_trailers(trailers).await;
                    }
                }
            }
        }
        Behaviour::Refuse(code) => finish(&mut sender, Vec::new(), code).await,
        Behaviour::Page => {
            response.headers_mut().insert("content-type", "text/html".parse().expect("a value"));
            let _ = sender.send_data(Bytes::from_static(b"<html>It works!</html>")).await;
        }
        Behaviour::HangUp | Behaviour::Noise => sender.abort(std::io::Error::other("hangs up")),
        Behaviour::Silence => std::future::pending().await,
    }
    Ok(response)
}

async fn finish(
    sender: &mut http_body_util::channel::Sender<Bytes, std::io::Error>,
    message: Vec<u8>,
    status: u16,
) {
    if !message.is_empty() {
        let _ = sender.send_data(Bytes::from(message)).await;
    }
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", status.into());
    let _ = sender.send_trailers(trailers).await;
}
