//! What the tests share: where the real parts are, settings, a running server and its clients.

pub mod cluster;
pub mod gate;
pub mod http;
pub mod proxy;
pub mod redis;
pub mod texts;
pub mod tls;

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use self::gate::{Gate, Gated};
use clap::Parser;
use embedding_service::{
    embed::{Embedder, model_id::ModelId},
    server::{self, Running},
    settings::{RawSettings, Settings},
};
use sentinel_proto::v1::{
    CheckLoopRequest, CheckLoopResponse, embedding_service_client::EmbeddingServiceClient,
};
use tempfile::TempDir;
use tonic::{
    Status,
    transport::{Channel, Endpoint},
};
use tonic_health::pb::{
    HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient,
};

/// A real part: at the path in the environment variable, else below `.parts/` of the repository.
pub fn part(variable: &str, below_parts: &str) -> PathBuf {
    let path = std::env::var_os(variable).map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../.parts").join(below_parts),
        PathBuf::from,
    );
    assert!(path.exists(), "{} is not there: run `make setup`, or set {variable}", path.display());
    path
}

pub fn library() -> PathBuf {
    part("ORT_DYLIB_PATH", "onnxruntime/libonnxruntime.so")
}

pub fn model() -> PathBuf {
    part("LOOP_EMBEDDING_MODEL_PATH", "model/model.onnx")
}

/// A part as set-up made it, whatever the user brings: what only the tests need, or what only set-up's own model has.
pub fn built_part(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.parts").join(name);
    assert!(path.exists(), "{} is not there: run `make setup`", path.display());
    path
}

/// Settings for a test: everything inside `folder` or on free ports. `extra` are flags and their values.
pub fn settings(folder: &Path, extra: &[(&str, &str)]) -> Settings {
    let mut flags = vec![
        ("--uds-path", folder.join("service.sock").display().to_string()),
        ("--listen-addr", "127.0.0.1:0".to_owned()),
        ("--metrics-addr", "127.0.0.1:0".to_owned()),
        ("--redis-url", String::new()),
        ("--model-path", model().display().to_string()),
        ("--ort-dylib-path", library().display().to_string()),
        ("--workers", "1".to_owned()),
        // The machine may be busy; the budget itself has a test of its own.
        ("--store-timeout-ms", "10000".to_owned()),
    ];
    for (flag, value) in extra {
        flags.retain(|(known, _)| known != flag);
        flags.push((flag, (*value).to_owned()));
    }
    let arguments = flags.iter().flat_map(|(flag, value)| [*flag, value.as_str()]);
    let raw = RawSettings::try_parse_from(["embedding-service"].into_iter().chain(arguments));
    Settings::try_from(raw.unwrap()).unwrap()
}

/// What the embedder that needs no model counts as.
pub fn bag_of_words() -> ModelId {
    ModelId::named("bag of words")
}

/// A server inside this process, and the folder with its socket.
pub struct Server {
    pub running: Running,
    pub folder: TempDir,
}

impl Server {
    /// With the real model.
    pub async fn start(extra: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let running = server::start(&settings(folder.path(), extra)).await.unwrap();
        Self { running, folder }
    }

    /// What gRPC health says of this service; empty: of the whole server.
    pub async fn health(&self, service: &str) -> ServingStatus {
        let mut health = HealthClient::new(self.tcp().await);
        health.check(HealthCheckRequest { service: service.to_owned() }).await.unwrap().into_inner().status()
    }

    /// Without a model, where what is tested stands around it.
    pub async fn start_without_model(extra: &[(&str, &str)]) -> Self {
        Self::start_gated(&Gate::default(), extra).await
    }

    /// Without a model, and it embeds only while the gate is open.
    pub async fn start_gated(gate: &Gate, extra: &[(&str, &str)]) -> Self {
        let embedder = Gated { gate: gate.clone(), ..Gated::default() };
        Self::start_made(move || embedder.clone(), extra).await
    }

    /// With embedders that `make` makes.
    pub async fn start_made<E: Embedder + 'static>(
        make: impl Fn() -> E + Send + Sync + 'static,
        extra: &[(&str, &str)],
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let settings = settings(folder.path(), extra);
        let running = server::start_with(&settings, bag_of_words(), move || Ok(make())).await.unwrap();
        Self { running, folder }
    }

    pub async fn tcp(&self) -> Channel {
        let address = self.running.addresses().tcp.unwrap();
        channel(format!("http://{address}")).await
    }

    pub async fn unix(&self) -> Channel {
        let path = self.running.addresses().uds.clone().unwrap();
        channel(format!("unix://{}", path.display())).await
    }

    pub async fn client(&self) -> Client {
        Client::new(self.tcp().await)
    }
}

pub type Client = EmbeddingServiceClient<Channel>;

pub async fn channel(uri: String) -> Channel {
    Endpoint::from_shared(uri).unwrap().connect().await.unwrap()
}

/// A request of the tenant "t" in a run of its own.
pub fn request(run: &str, prompt: &str) -> CheckLoopRequest {
    CheckLoopRequest {
        tenant_id: "t".to_owned(),
        run_id: run.to_owned(),
        prompt: prompt.to_owned(),
        ..CheckLoopRequest::default()
    }
}

pub async fn check(client: &mut Client, run: &str, prompt: &str) -> Result<CheckLoopResponse, Status> {
    client.check_loop(request(run, prompt)).await.map(tonic::Response::into_inner)
}

/// Waits until `done` gives something; fails after half a minute. No test asserts how long a thing takes.
pub async fn eventually<T>(what: &str, mut done: impl AsyncFnMut() -> Option<T>) -> T {
    for _ in 0..1500 {
        if let Some(found) = done().await {
            return found;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("never happened: {what}");
}
