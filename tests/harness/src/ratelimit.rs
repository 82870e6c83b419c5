//! The rate limit service: Limitador's limits and counters, with the file of limits that is shipped and a real Redis.

use std::fs;
use std::process::Command;

use tempfile::TempDir;

use crate::parts;
use crate::process::Process;
use crate::redis::Redis;

pub struct RateLimitService {
    port: u16,
    // Ended before its Redis, and its folder removed last.
    process: Process,
    _folder: TempDir,
}

impl RateLimitService {
    /// As compose.yaml starts it, with `edits` of envoy/production/limitador.yaml: a text that stands there once, and another.
    pub fn start(redis: &Redis, edits: &[(&str, &str)]) -> Self {
        let folder =
            tempfile::Builder::new().prefix("sentinel-limits").tempdir().expect("a temporary folder");
        let shipped = fs::read_to_string(parts::root().join("envoy/production/limitador.yaml"))
            .expect("the file is read");
        let limits = edits.iter().fold(shipped, |text, (old, new)| {
            assert_eq!(text.matches(old).count(), 1, "limitador.yaml does not contain once {old:?}");
            text.replace(old, new)
        });
        let file = folder.path().join("limits.yaml");
        fs::write(&file, limits).expect("the limits are written");
        let mut command = Command::new(parts::limitador());
        command.args([
            "--rls-ip",
            "127.0.0.1",
            "--rls-port",
            "0",
            "--http-ip",
            "127.0.0.1",
            "--http-port",
            "0",
        ]);
        command.args(["--rate-limit-headers", "DRAFT_VERSION_03"]).arg(&file).args(["redis", &redis.url()]);
        let mut process = Process::start("limitador", folder.path(), command);
        let port = process.wait_for("a port", |process| {
            let log = process.log();
            let (_, address) = log.split_once("Envoy asks at ")?;
            address.lines().next()?.rsplit(':').next()?.parse().ok()
        });
        Self { port, process, _folder: folder }
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Ends it at once, as a crash would.
    pub fn kill(&mut self) {
        self.process.kill();
    }
}
