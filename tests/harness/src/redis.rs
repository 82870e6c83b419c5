//! A real Redis 8 on a Unix socket in its own folder. It writes nothing to disk, unless a test wants it to.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;

use crate::parts;
use crate::process::Process;

pub struct Redis {
    kind: Kind,
    process: Process,
    socket: PathBuf,
    // Removed after the process has gone: fields are dropped in this order.
    _folder: TempDir,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Plain,
    Search,
    Durable,
}

impl Redis {
    /// Without the search module.
    pub fn start() -> Self {
        Self::start_with(Kind::Plain)
    }

    pub fn start_with_search() -> Self {
        Self::start_with(Kind::Search)
    }

    /// Has on disk what it has acknowledged, and finds it there when it is started again.
    pub fn start_durable() -> Self {
        Self::start_with(Kind::Durable)
    }

    fn start_with(kind: Kind) -> Self {
        let folder = tempfile::Builder::new().prefix("sentinel-redis").tempdir().expect("a temporary folder");
        let socket = folder.path().join("redis.sock");
        let process = launch(folder.path(), &socket, kind);
        Self { kind, process, socket, _folder: folder }
    }

    /// The value for `REDIS_URL`.
    pub fn url(&self) -> String {
        format!("unix://{}", self.socket.display())
    }

    /// The number of prompts that it holds.
    pub fn prompts(&self) -> usize {
        let count = b"EVAL \"return #redis.call('KEYS', 'loop:{*}:*-*')\" 0\r\n";
        let answer = ask(&self.socket, count).expect("Redis answers");
        answer.trim_start_matches(':').trim().parse().expect("a number")
    }

    /// Whether a word stands anywhere in it.
    pub fn holds(&self, word: &str) -> bool {
        const READ: &str = "local read = {string = {'GET'}, hash = {'HGETALL'}, stream = {'XRANGE', '-', '+'}, set = {'SMEMBERS'}, \
             zset = {'ZRANGE', 0, -1}, list = {'LRANGE', 0, -1}} for _, key in ipairs(redis.call('KEYS', '*')) do \
             local how = read[redis.call('TYPE', key).ok] local value = redis.call(how[1], key, unpack(how, 2)) \
             if string.find(key .. cjson.encode(value), ARGV[1], 1, true) then return 1 end end return 0";
        let command = format!("EVAL \"{READ}\" 0 {word}\r\n");
        let answer = ask(&self.socket, command.as_bytes()).expect("Redis answers");
        assert!(answer.starts_with(':'), "{answer}");
        answer.trim() == ":1"
    }

    /// Ends it at once, as a crash would.
    pub fn kill(&mut self) {
        self.process.kill();
    }

    /// Starts it again on the same socket. Unless it is durable, it has no data then.
    pub fn restart(&mut self) {
        self.kill();
        let _ = fs::remove_file(&self.socket);
        let folder = self.socket.parent().expect("a folder").to_path_buf();
        self.process = launch(&folder, &self.socket, self.kind);
    }

    /// Stops answering, but keeps its connections open.
    pub fn freeze(&mut self) {
        self.process.signal(libc::SIGSTOP);
    }

    pub fn thaw(&mut self) {
        self.process.signal(libc::SIGCONT);
    }
}

fn launch(folder: &Path, socket: &Path, kind: Kind) -> Process {
    let mut command = Command::new(parts::redis_server());
    let appends = if kind == Kind::Durable { "yes" } else { "no" };
    command.args(["--port", "0", "--save", "", "--appendfsync", "always", "--appendonly", appends]);
    command.arg("--dir").arg(folder).arg("--unixsocket").arg(socket);
    if kind == Kind::Search {
        command.arg("--loadmodule").arg(parts::redisearch());
    }
    let mut process = Process::start("redis", folder, command);
    process.wait_for("an answer to PING", |_| ping(socket));
    process
}

fn ping(socket: &Path) -> Option<()> {
    (ask(socket, b"PING\r\n")? == "+PONG\r\n").then_some(())
}

/// Sends an inline command whose answer is one line.
fn ask(socket: &Path, command: &[u8]) -> Option<String> {
    let mut stream = UnixStream::connect(socket).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(5))).ok()?;
    stream.write_all(command).ok()?;
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).ok()?;
    Some(line)
}
