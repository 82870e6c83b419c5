//! The real Envoy: started from a bootstrap, looked at through its admin interface.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use crate::bootstrap::Bootstrap;
use crate::metrics::Metrics;
use crate::parts;
use crate::pool::{self, Lent};
use crate::process::Process;
use crate::raw;

const ADMIN_FILE: &str = "envoy-admin";

pub struct Envoy {
    running: Running,
    admin: SocketAddr,
    listener: SocketAddr,
}

enum Running {
    Own(Process),
    Lent(Lent),
}

impl Envoy {
    /// One that is up already and takes this bootstrap's listeners and clusters: see `pool.rs`. What ends or stops Envoy, or
    /// depends on how it is started, needs one of its own.
    pub fn lent(bootstrap: &Bootstrap) -> Self {
        Self::lent_with(bootstrap, WORKERS)
    }

    /// The same with `workers` workers.
    pub fn lent_with(bootstrap: &Bootstrap, workers: &str) -> Self {
        let lent = pool::lend(bootstrap, workers);
        Self { admin: lent.admin(), listener: lent.listener(), running: Running::Lent(lent) }
    }

    /// What an Envoy that is up already says when it refuses the listeners of this bootstrap; nothing when it takes them.
    pub fn refusal(bootstrap: &Bootstrap) -> Option<String> {
        pool::refusal(bootstrap)
    }

    /// Starts it and waits until it listens.
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
        fs::write(folder.join("envoy.yaml"), bootstrap.text()).expect("the bootstrap is written");
        // It takes an argument once.
        let workers = arguments.iter().position(|argument| *argument == "--concurrency");
        let (workers, arguments) = match workers {
            Some(at) => (arguments[at + 1], [&arguments[..at], &arguments[at + 2..]].concat()),
            None => (WORKERS, arguments.to_vec()),
        };
        let mut command = command_of(folder, workers);
        command.args(arguments).envs(environment.iter().copied());
        let mut process = Process::start("envoy", folder, command);
        let admin = wait_until_live(&mut process, folder);
        let listener = process.wait_for("a listener", |_| listener_where(admin, |_| true));
        Self { running: Running::Own(process), admin, listener }
    }

    /// Starts another one on the bootstrap in this folder, where one has ended.
    pub fn start_again(folder: &Path) -> Self {
        let text = fs::read_to_string(folder.join("envoy.yaml")).expect("an Envoy was started here");
        // Where the one before listened.
        fs::remove_file(folder.join(ADMIN_FILE)).expect("the file is removed");
        Self::start(folder, &Bootstrap::of(text))
    }

    /// To start it on this bootstrap, which is written into the folder.
    pub fn command(folder: &Path, bootstrap: &Bootstrap) -> Command {
        fs::write(folder.join("envoy.yaml"), bootstrap.text()).expect("the bootstrap is written");
        command(folder)
    }

    /// Runs `envoy --mode validate` on it, from the root of the repository.
    pub fn validate(bootstrap: &Bootstrap) -> Output {
        Self::validate_with(bootstrap, &[])
    }

    /// What Envoy itself thinks of it: with [`no_module`] in the filter's place. What the filter thinks of a configuration, an Envoy
    /// that is up says at once: [`Envoy::refusal`].
    pub fn validate_without_filter(bootstrap: &Bootstrap, arguments: &[&str]) -> Output {
        let [filter, nothing] = [parts::filter(), no_module()].map(|path| path.display().to_string());
        Self::validate_with(&Bootstrap::of(bootstrap.text().replace(&filter, &nothing)), arguments)
    }

    fn validate_with(bootstrap: &Bootstrap, arguments: &[&str]) -> Output {
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
        match &self.running {
            Running::Own(process) => process.log(),
            Running::Lent(lent) => lent.log(),
        }
    }

    pub fn log_file(&self) -> &Path {
        match &self.running {
            Running::Own(process) => process.log_file(),
            Running::Lent(lent) => lent.log_file(),
        }
    }

    pub fn process(&mut self) -> &mut Process {
        match &mut self.running {
            Running::Own(process) => process,
            Running::Lent(lent) => lent.process(),
        }
    }
}

/// A module that does nothing. Envoy compiles it at once, and the filter in seconds: for bootstraps that are judged by their other parts.
pub fn no_module() -> PathBuf {
    parts::root().join("tests/harness/no_module.wasm")
}

/// So that what must be shared between workers is put to the test.
pub(crate) const WORKERS: &str = "2";

/// Envoy on the file `envoy.yaml` in this folder.
fn command(folder: &Path) -> Command {
    command_of(folder, WORKERS)
}

pub(crate) fn command_of(folder: &Path, workers: &str) -> Command {
    let mut command = Command::new(parts::envoy());
    command
        // Many run beside each other; what hot restart needs would be left in /dev/shm by each that is killed.
        .args(["--concurrency", workers, "--disable-hot-restart", "--log-level", "info", "--config-path"])
        .arg(folder.join("envoy.yaml"));
    command.arg("--admin-address-path").arg(folder.join(ADMIN_FILE)).current_dir(parts::root());
    for name in ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"] {
        command.env_remove(name);
    }
    command
}

/// The admin interface of an Envoy that was started in this folder, as soon as it is ready.
pub(crate) fn wait_until_live(process: &mut Process, folder: &Path) -> SocketAddr {
    let file = folder.join(ADMIN_FILE);
    let admin = process.wait_for("an admin address", |_| fs::read_to_string(&file).ok()?.trim().parse().ok());
    process.wait_for("a ready Envoy", |_| admin_get(admin, "/ready")?.starts_with("LIVE").then_some(()));
    admin
}

/// Where the first listener that is wanted listens on this machine.
pub(crate) fn listener_where(admin: SocketAddr, wanted: impl Fn(&str) -> bool) -> Option<SocketAddr> {
    let listeners: Value = serde_json::from_str(&admin_get(admin, "/listeners?format=json")?).ok()?;
    let listeners = listeners.get("listener_statuses")?.as_array()?;
    let listener = listeners.iter().find(|listener| listener["name"].as_str().is_some_and(&wanted))?;
    let port = listener.pointer("/local_address/socket_address/port_value")?.as_u64()?;
    Some(SocketAddr::from(([127, 0, 0, 1], u16::try_from(port).ok()?)))
}

/// Fails unless this is the output of an `envoy --mode validate` that was content, with nothing that Envoy will drop.
pub fn assert_valid(what: &str, output: &Output) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{what} is refused:\n{said}");
    assert!(!said.contains("eprecated"), "{what} has what Envoy will not take for much longer:\n{said}");
}

/// The body of `GET path`, if there is an answer.
pub(crate) fn admin_get(admin: SocketAddr, path: &str) -> Option<String> {
    raw::get(admin, path).map(|answer| String::from_utf8_lossy(&answer.body).into_owned())
}
