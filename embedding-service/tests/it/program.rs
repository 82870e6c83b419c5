//! The program as it is started in production: its messages, its exit codes, its signals, its socket.

use std::{
    net::SocketAddr,
    path::Path,
    process::{Output, Stdio},
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};
use tokio::{
    io::{AsyncBufReadExt, BufReader, Lines},
    process::{Child, ChildStderr, Command},
};

use crate::support::{Client, built_part, channel, check, library, model};

pub fn command(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_embedding-service"));
    command
        .env_clear()
        .env("UDS_PATH", folder.join("s.sock"))
        .env("METRICS_ADDR", "127.0.0.1:0")
        .env("LOOP_WORKERS", "1")
        .env("ORT_DYLIB_PATH", library())
        .env("LOOP_EMBEDDING_MODEL_PATH", model())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    command
}

/// Runs a program that is expected to give up.
async fn gives_up(command: &mut Command) -> String {
    let run = tokio::time::timeout(Duration::from_secs(60), command.output());
    let Output { status, stderr, .. } = run.await.expect("it goes on").unwrap();
    let message = String::from_utf8(stderr).unwrap();
    // 2: a setting cannot be used as it is.
    assert!(matches!(status.code(), Some(1 | 2)), "{message}");
    assert!(!message.contains("panicked"), "{message}");
    message
}

pub struct Program {
    child: Child,
    log: Lines<BufReader<ChildStderr>>,
    ready: String,
}

impl Program {
    pub async fn start(command: &mut Command) -> Self {
        let mut child = command.spawn().unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut seen = String::new();
        while let Some(line) = log.next_line().await.unwrap() {
            if line.contains("ready") && line.contains("uds=") {
                return Self { child, log, ready: line };
            }
            seen.push_str(&line);
            seen.push('\n');
        }
        panic!("it did not start:\n{seen}");
    }

    pub fn field(&self, name: &str) -> String {
        let start = format!("{name}=");
        let field = self.ready.split(' ').find_map(|word| word.strip_prefix(&start));
        field.unwrap().to_owned()
    }

    pub async fn client(&self) -> Client {
        Client::new(channel(format!("unix://{}", self.field("uds"))).await)
    }

    pub fn metrics(&self) -> SocketAddr {
        self.field("metrics").parse().unwrap()
    }

    pub fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.child.id().unwrap()).unwrap();
        kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
    }

    /// Exit code, and the rest of the log.
    pub async fn end(mut self) -> (Option<i32>, String) {
        let mut rest = String::new();
        while let Some(line) = self.log.next_line().await.unwrap() {
            rest.push_str(&line);
            rest.push('\n');
        }
        (self.child.wait().await.unwrap().code(), rest)
    }
}

#[tokio::test]
async fn it_starts_answers_and_ends_well_on_both_signals() {
    for signal in [Signal::TERM, Signal::INT] {
        let folder = tempfile::tempdir().unwrap();
        let program = Program::start(&mut command(folder.path())).await;
        assert_eq!(program.field("tcp"), "-");
        assert!(program.field("metrics").starts_with("127.0.0.1:"));
        let mut client = program.client().await;
        check(&mut client, "r", "secret words of a user").await.unwrap();
        assert_eq!(check(&mut client, "r", "secret words of a user").await.unwrap().matches, 1);
        program.signal(signal);
        let (code, log) = program.end().await;
        assert_eq!(code, Some(0), "{log}");
        assert!(log.contains("stopped lost=0"), "{log}");
        assert!(!log.contains("secret"), "{log}");
        assert!(!folder.path().join("s.sock").exists());
    }
}

#[tokio::test]
async fn the_log_is_json_where_wanted_and_shows_no_prompt_at_any_level() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = command(folder.path());
    command.env("LOG_FORMAT", "json").env("LOG_LEVEL", "debug").env("LISTEN_ADDR", "127.0.0.1:0");
    let mut child = command.spawn().unwrap();
    let mut log = BufReader::new(child.stderr.take().unwrap()).lines();
    loop {
        let line = log.next_line().await.unwrap().expect("it did not start");
        assert!(line.starts_with('{') && line.ends_with('}'), "{line}");
        if line.contains(r#""message":"ready""#) {
            assert!(line.contains(r#""tcp":"127.0.0.1:"#), "{line}");
            break;
        }
    }
    let socket = folder.path().join("s.sock");
    let mut client = Client::new(channel(format!("unix://{}", socket.display())).await);
    check(&mut client, "r", "secret words of a user").await.unwrap();
    check(&mut client, "secret run", "").await.unwrap_err();
    child.start_kill().unwrap();
    while let Some(line) = log.next_line().await.unwrap() {
        assert!(!line.contains("secret"), "{line}");
    }
}

#[tokio::test]
async fn the_socket_of_a_killed_process_is_taken_over() {
    let folder = tempfile::tempdir().unwrap();
    let first = Program::start(&mut command(folder.path())).await;
    first.signal(Signal::KILL);
    let (code, _) = first.end().await;
    assert_eq!(code, None);
    assert!(folder.path().join("s.sock").exists());
    let second = Program::start(&mut command(folder.path())).await;
    assert!(check(&mut second.client().await, "r", "x").await.is_ok());
}

#[tokio::test]
async fn the_socket_of_a_living_process_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let first = Program::start(&mut command(folder.path())).await;
    let message = gives_up(&mut command(folder.path())).await;
    assert!(message.contains("another process answers on"), "{message}");
    assert!(check(&mut first.client().await, "r", "x").await.is_ok());
}

#[tokio::test]
async fn what_is_missing_is_named_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let old = built_part("onnxruntime-old/libonnxruntime.so");
    for (name, value, words) in [
        ("ORT_DYLIB_PATH", "/nowhere/libonnxruntime.so", "Set ORT_DYLIB_PATH to"),
        ("ORT_DYLIB_PATH", "/etc/passwd", "Set ORT_DYLIB_PATH to"),
        ("ORT_DYLIB_PATH", old.to_str().unwrap(), "of version 1.24 or later"),
        ("LOOP_EMBEDDING_MODEL_PATH", "/nowhere", "is not there. Give an .onnx file"),
        ("LOOP_EMBEDDING_MODEL_PATH", "", "give the model"),
        ("LOOP_HISTORY_SIZE", "many", "give a whole number from 1 to 100"),
        ("REDIS_URL", "redis://u:hunter2@127.0.0.1:1", "Redis cannot be reached"),
        ("METRICS_ADDR", "203.0.113.1:9464", "control needs a key: give a file with one"),
        ("UDS_PATH", "/nowhere/s.sock", "UDS_PATH: cannot open"),
        // Not even the superuser may write there.
        ("UDS_PATH", "/sys/s.sock", "UDS_PATH: cannot open /sys/s.sock"),
    ] {
        let message = gives_up(command(folder.path()).env(name, value)).await;
        assert!(message.contains(words), "{name}: {message}");
        assert!(!message.contains("hunter2"), "{message}");
        assert!(!folder.path().join("s.sock").exists(), "{name}: a socket is left");
    }
}

#[tokio::test]
async fn a_flag_that_is_not_known_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let output = command(folder.path()).arg("--embedder=fake").output().await.unwrap();
    assert_eq!(output.status.code(), Some(2));
}
