//! A real Redis server of a test's own, on a Unix socket, without persistence.

use std::{
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use embedding_service::{history::open::StoreOptions, store::redis::options::RedisOptions};
use redis::{AsyncConnectionConfig, Client, Value, aio::MultiplexedConnection, cmd};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use super::{eventually, part, settings};

/// Whether the search module is loaded.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Search {
    Loaded,
    Absent,
}

pub struct Redis {
    folder: TempDir,
    child: Option<Child>,
}

/// The settings of Redis from these flags. The time-out is long: tests run beside others, and these check only what Redis answers.
pub fn redis_settings(url: &str, flags: &[(&str, &str)]) -> RedisOptions {
    let flags = [&[("--redis-url", url), ("--store-timeout-ms", "5000")], flags].concat();
    match settings(Path::new("/nowhere"), &flags).store {
        StoreOptions::Redis(redis) => redis,
        StoreOptions::Memory { .. } => panic!("no address of Redis"),
    }
}

/// Without what a test has no use for.
pub fn server() -> Command {
    let mut command = Command::new(part("REDIS_SERVER", "redis/redis-server"));
    command.args(["--save", "", "--appendonly", "no"]).stdout(Stdio::null());
    command
}

impl Redis {
    /// Without the search module.
    pub async fn start() -> Self {
        Self::start_with(Search::Absent).await
    }

    pub async fn start_with(search: Search) -> Self {
        let mut redis = Self::stopped();
        redis.run(search).await;
        redis
    }

    pub fn stopped() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), child: None }
    }

    /// Starts the process; data of an earlier run are gone.
    pub async fn run(&mut self, search: Search) {
        let mut command = server();
        command.args(["--port", "0", "--unixsocket"]).arg(self.socket()).arg("--dir").arg(self.folder.path());
        if search == Search::Loaded {
            command.arg("--loadmodule").arg(part("REDISEARCH_SO", "redis/redisearch.so"));
        }
        self.child = Some(command.spawn().unwrap());
        eventually("redis-server answers", async || {
            let connection = self.try_connect().await?;
            cmd("PING").query_async::<()>(&mut connection.clone()).await.ok()
        })
        .await;
    }

    /// Kills the process without a chance to say goodbye.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    pub fn socket(&self) -> PathBuf {
        self.folder.path().join("r.sock")
    }

    pub fn url(&self) -> String {
        format!("unix://{}", self.socket().display())
    }

    async fn try_connect(&self) -> Option<MultiplexedConnection> {
        connect(&self.url()).await
    }

    pub async fn connection(&self) -> MultiplexedConnection {
        self.try_connect().await.unwrap()
    }

    pub async fn authenticated(&self, password: &str) -> MultiplexedConnection {
        connect(&format!("{}?pass={password}", self.url())).await.unwrap()
    }

    pub async fn command(&self, words: &[&str]) -> Value {
        command(&mut self.connection().await, words).await
    }

    /// Every prompt's key, sorted.
    pub async fn prompts(&self) -> Vec<String> {
        let mut connection = self.connection().await;
        let mut scan = cmd("SCAN");
        scan.arg(&["0", "COUNT", "100000", "TYPE", "hash"]);
        let (_, mut keys): (u64, Vec<String>) = scan.query_async(&mut connection).await.unwrap();
        keys.sort();
        keys
    }

    /// The process is there, takes connections, and does nothing.
    pub fn freeze(&self) {
        self.signal(Signal::STOP);
    }

    pub fn thaw(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_child(self.child.as_ref().unwrap());
        kill_process(pid, signal).unwrap();
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A connection of the test's own, which waits where the machine is busy.
pub async fn connect(url: &str) -> Option<MultiplexedConnection> {
    let patient = Some(Duration::from_secs(30));
    let config = AsyncConnectionConfig::new().set_connection_timeout(patient).set_response_timeout(patient);
    Client::open(url).unwrap().get_multiplexed_async_connection_with_config(&config).await.ok()
}

pub async fn command(connection: &mut MultiplexedConnection, words: &[&str]) -> Value {
    let mut command = redis::Cmd::new();
    command.arg(words);
    command.query_async(connection).await.unwrap()
}
