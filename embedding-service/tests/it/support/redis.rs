//! A real Redis server of a test's own, on a Unix socket, without persistence.

use std::{
    path::PathBuf,
    process::{Child, Command, Stdio},
};

use redis::{Client, Value, aio::MultiplexedConnection, cmd};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use super::{eventually, part};

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

impl Redis {
    pub async fn start() -> Self {
        let mut redis = Self::stopped();
        redis.run(Search::Loaded).await;
        redis
    }

    pub fn stopped() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), child: None }
    }

    /// Starts the process; data of an earlier run are gone.
    pub async fn run(&mut self, search: Search) {
        let mut command = Command::new(part("REDIS_SERVER", "redis/redis-server"));
        command
            .args(["--port", "0", "--save", "", "--appendonly", "no", "--unixsocket"])
            .arg(self.socket())
            .arg("--dir")
            .arg(self.folder.path())
            .stdout(Stdio::null());
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

    fn socket(&self) -> PathBuf {
        self.folder.path().join("r.sock")
    }

    pub fn url(&self) -> String {
        format!("unix://{}", self.socket().display())
    }

    async fn try_connect(&self) -> Option<MultiplexedConnection> {
        Client::open(self.url()).unwrap().get_multiplexed_async_connection().await.ok()
    }

    pub async fn connection(&self) -> MultiplexedConnection {
        self.try_connect().await.unwrap()
    }

    pub async fn command(&self, words: &[&str]) -> Value {
        let mut command = redis::Cmd::new();
        command.arg(words);
        command.query_async(&mut self.connection().await).await.unwrap()
    }

    /// Every key, sorted.
    pub async fn keys(&self) -> Vec<String> {
        let mut connection = self.connection().await;
        let mut keys: Vec<String> = cmd("KEYS").arg("*").query_async(&mut connection).await.unwrap();
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
