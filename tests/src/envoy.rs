//! The real Envoy: started from a bootstrap, looked at through its admin interface.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::bootstrap::Bootstrap;
use crate::metrics::Metrics;
use crate::parts;
use crate::process::Process;
use crate::raw;

pub struct Envoy {
    process: Process,
    admin: SocketAddr,
    listener: SocketAddr,
}

impl Envoy {
    /// Starts it and waits until it listens. Two workers, so that what must be shared between workers is put to the test.
    pub fn start(folder: &Path, bootstrap: &Bootstrap) -> Self {
        Self::start_with(folder, bootstrap, &[])
    }

    /// The same with these arguments after the others.
    pub fn start_with(folder: &Path, bootstrap: &Bootstrap, arguments: &[&str]) -> Self {
        Self::start_in(folder, bootstrap, arguments, &[])
    }

    /// The same with these environment variables. Whoever runs the tests lends no account to them.
    pub fn start_in(
        folder: &Path,
        bootstrap: &Bootstrap,
        arguments: &[&str],
        environment: &[(&str, &str)],
    ) -> Self {
        let file = folder.join("envoy.yaml");
        fs::write(&file, bootstrap.text()).expect("the bootstrap is written");
        let admin_file = folder.join("envoy-admin");
        let mut command = Command::new(parts::envoy());
        command
            // Many run beside each other; what hot restart needs would be left in /dev/shm by each that is killed.
            .args(["--concurrency", "2", "--disable-hot-restart", "--log-level", "info", "--config-path"])
            .arg(&file);
        command.arg("--admin-address-path").arg(&admin_file).args(arguments).current_dir(parts::root());
        for name in ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"] {
            command.env_remove(name);
        }
        command.envs(environment.iter().copied());
        let mut process = Process::start("envoy", folder, command);
        let admin = process
            .wait_for("an admin address", |_| fs::read_to_string(&admin_file).ok()?.trim().parse().ok());
        let listener = process.wait_for("a listener", |_| {
            let ready = admin_get(admin, "/ready")?;
            if !ready.starts_with("LIVE") {
                return None;
            }
            let listeners: Value = serde_json::from_str(&admin_get(admin, "/listeners?format=json")?).ok()?;
            let address = listeners.pointer("/listener_statuses/0/local_address/socket_address")?;
            let port = u16::try_from(address.get("port_value")?.as_u64()?).ok()?;
            Some(SocketAddr::from(([127, 0, 0, 1], port)))
        });
        Self { process, admin, listener }
    }

    /// Runs `envoy --mode validate` on it, from the root of the repository.
    pub fn validate(bootstrap: &Bootstrap) -> Output {
        Self::validate_with(bootstrap, &[])
    }

    /// The same with these arguments after the others.
    pub fn validate_with(bootstrap: &Bootstrap, arguments: &[&str]) -> Output {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("envoy.yaml");
        fs::write(&file, bootstrap.text()).expect("the bootstrap is written");
        let mut command = Command::new(parts::envoy());
        command.args(["--mode", "validate", "--config-path"]).arg(&file).args(arguments);
        command.current_dir(parts::root());
        command.output().expect("Envoy starts")
    }

    /// Where agents send their requests.
    pub fn address(&self) -> SocketAddr {
        self.listener
    }

    pub fn admin(&self) -> SocketAddr {
        self.admin
    }

    pub fn metrics(&self) -> Metrics {
        Metrics::parse(&admin_get(self.admin, "/stats/prometheus").expect("Envoy's admin interface answers"))
    }

    pub fn log(&self) -> String {
        self.process.log()
    }

    pub fn log_file(&self) -> &Path {
        self.process.log_file()
    }

    pub fn process(&mut self) -> &mut Process {
        &mut self.process
    }
}

/// Fails unless this is the output of an `envoy --mode validate` that was content, with nothing that Envoy will drop.
pub fn assert_valid(what: &str, output: &Output) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{what} is refused:\n{said}");
    assert!(!said.contains("eprecated"), "{what} has what Envoy will not take for much longer:\n{said}");
}

/// The body of `GET path`, if there is an answer.
fn admin_get(admin: SocketAddr, path: &str) -> Option<String> {
    raw::get(admin, path).map(|answer| String::from_utf8_lossy(&answer.body).into_owned())
}
