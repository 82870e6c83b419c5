//! The real embedding service, with the real model, on a Unix socket.

use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::parts;
use crate::process::Process;

pub struct Service {
    process: Process,
    socket: PathBuf,
}

impl Service {
    /// Starts it and waits until its socket opens, which it does when it is warm.
    /// `settings`: environment variables over the defaults of a test.
    pub fn start(folder: &Path, socket: &Path, settings: &[(String, String)]) -> Self {
        let mut command = Command::new(parts::service());
        for name in ["REDIS_URL", "LISTEN_ADDR", "LOG_LEVEL", "LOG_FORMAT", "OTEL_EXPORTER_OTLP_ENDPOINT"] {
            command.env_remove(name);
        }
        command
            .env("UDS_PATH", socket)
            .env("METRICS_ADDR", "127.0.0.1:0")
            .env("ORT_DYLIB_PATH", parts::onnxruntime())
            .env("LOOP_EMBEDDING_MODEL_PATH", parts::model())
            // Each loads the model: a second one doubles what the start takes.
            .env("LOOP_WORKERS", "1")
            .envs(settings.iter().map(|(name, value)| (name, value)));
        let mut process = Process::start("embedding-service", folder, command);
        process.wait_for("an open socket", |_| UnixStream::connect(socket).ok());
        Self { process, socket: socket.to_path_buf() }
    }

    pub fn socket(&self) -> &Path {
        &self.socket
    }

    pub fn process(&mut self) -> &mut Process {
        &mut self.process
    }

    pub fn id(&self) -> u32 {
        self.process.id()
    }

    pub fn log(&self) -> String {
        self.process.log()
    }
}
