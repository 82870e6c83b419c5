//! Asks the real embedding service in place of Envoy: one gRPC call over its socket, without a deadline. If the service does not
//! answer, the replay ends: its figures would be those of a filter without the service.

use std::path::Path;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper::client::conn::http2::{SendRequest, handshake};
use hyper_util::rt::{TokioExecutor, TokioIo};
use prost::Message;
use sentinel_pipeline::host::{Question, ServiceReply};
use sentinel_proto::v1::{CheckLoopRequest, CheckLoopResponse};
use tokio::net::UnixStream;
use tokio::runtime::Runtime;

pub struct Asking {
    runtime: Runtime,
    connection: SendRequest<Full<Bytes>>,
}

/// Length prefix of a gRPC message: a flag, and four bytes of length.
const PREFIX: usize = 5;

impl Asking {
    pub fn connect(socket: &Path) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let connection = runtime.block_on(async {
            let stream = UnixStream::connect(socket).await;
            let stream = stream.unwrap_or_else(|error| panic!("the embedding service is not there: {error}"));
            let hands = handshake(TokioExecutor::new(), TokioIo::new(stream)).await;
            let (connection, driver) =
                hands.unwrap_or_else(|error| panic!("the embedding service speaks no HTTP/2: {error}"));
            tokio::spawn(driver);
            connection
        });
        Self { runtime, connection }
    }

    pub fn ask(&mut self, question: &Question) -> ServiceReply {
        let message = CheckLoopRequest {
            tenant_id: question.tenant.clone(),
            prompt: question.prompt.clone(),
            agent_id: question.agent.clone(),
            run_id: question.run.clone(),
            similarity_threshold: Some(question.similarity_threshold),
            repeats: question.repeats,
            record: None,
            cache: None,
            cache_only: false,
        };
        let mut body = vec![0; PREFIX];
        message.encode(&mut body).expect("a vector takes everything");
        let length = u32::try_from(body.len() - PREFIX).expect("a prompt of less than 4 GiB");
        body[1..PREFIX].copy_from_slice(&length.to_be_bytes());
        let answer = self.runtime.block_on(call(&mut self.connection, body));
        let answer =
            answer.unwrap_or_else(|problem| panic!("the embedding service does not answer: {problem}"));
        ServiceReply {
            loop_detected: answer.loop_detected,
            max_similarity: answer.max_similarity,
            matches: answer.matches,
            related: answer.related,
            cache: None,
        }
    }
}

async fn call(connection: &mut SendRequest<Full<Bytes>>, body: Vec<u8>) -> Result<CheckLoopResponse, String> {
    let request = Request::post("http://service/sentinel.v1.EmbeddingService/CheckLoop")
        .header("content-type", "application/grpc")
        .header("te", "trailers")
        .body(Full::new(Bytes::from(body)))
        .map_err(|error| error.to_string())?;
    let response = connection.send_request(request).await.map_err(|error| error.to_string())?;
    // An error without a message stands in the headers, any other in the trailers.
    let in_headers = response.headers().get("grpc-status").cloned();
    let collected = response.into_body().collect().await.map_err(|error| error.to_string())?;
    let status =
        collected.trailers().and_then(|trailers| trailers.get("grpc-status")).cloned().or(in_headers);
    if status.as_ref().is_none_or(|status| status != "0") {
        return Err(format!("gRPC status {status:?}"));
    }
    let bytes = collected.to_bytes();
    let message = bytes.get(PREFIX..).ok_or("an empty answer")?;
    CheckLoopResponse::decode(message).map_err(|error| error.to_string())
}
