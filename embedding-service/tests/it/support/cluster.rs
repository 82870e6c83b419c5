//! A real Redis Cluster of a test's own: three primaries, and a replica for each where wanted, or TLS before each.

use std::{net::TcpListener, process::Child};

use redis::{Value, aio::MultiplexedConnection, cmd};
use tempfile::TempDir;
use tokio_rustls::rustls::ServerConfig;

use super::{
    eventually,
    proxy::Proxy,
    redis::{command, connect, server},
};

const PRIMARIES: usize = 3;
const SLOTS: usize = 16_384;

pub struct Cluster {
    nodes: Vec<Node>,
}

struct Node {
    port: u16,
    child: Child,
    _folder: TempDir,
    /// What it has announced in its own place.
    tls: Option<Proxy>,
}

impl Cluster {
    pub async fn start() -> Self {
        Self::of_primaries(None).await
    }

    pub async fn start_with_tls(config: &ServerConfig) -> Self {
        Self::of_primaries(Some(config)).await
    }

    async fn of_primaries(tls: Option<&ServerConfig>) -> Self {
        let mut nodes = Vec::new();
        for _ in 0..PRIMARIES {
            nodes.push(Node::start(tls).await);
        }
        let cluster = Self { nodes };
        for (number, node) in cluster.nodes.iter().enumerate() {
            let [first, last] = [number, number + 1].map(|n| n * SLOTS / PRIMARIES);
            node.ask(&["CLUSTER", "ADDSLOTSRANGE", &first.to_string(), &(last - 1).to_string()]).await;
            // With the same epoch two of them would have to agree first who counts.
            node.ask(&["CLUSTER", "SET-CONFIG-EPOCH", &(number + 1).to_string()]).await;
            if number > 0 {
                node.meet(&cluster.nodes[0]).await;
            }
        }
        cluster.wait().await;
        cluster
    }

    pub async fn start_with_replicas() -> Self {
        let mut cluster = Self::start().await;
        for number in 0..PRIMARIES {
            let node = Node::start(None).await;
            node.meet(&cluster.nodes[0]).await;
            let primary = cluster.nodes[number].id().await;
            eventually("the replica knows its primary", async || {
                let nodes = node.text(&["CLUSTER", "NODES"]).await;
                nodes.contains(&primary).then_some(())
            })
            .await;
            node.ask(&["CLUSTER", "REPLICATE", &primary]).await;
            eventually("the replica follows", async || {
                let state = node.text(&["INFO", "replication"]).await;
                state.contains("master_link_status:up").then_some(())
            })
            .await;
            cluster.nodes.push(node);
        }
        cluster.wait().await;
        cluster
    }

    async fn wait(&self) {
        for node in &self.nodes {
            eventually("the cluster is up", async || {
                let info = node.text(&["CLUSTER", "INFO"]).await;
                let known = format!("cluster_known_nodes:{}\r", self.nodes.len());
                (info.contains("cluster_state:ok") && info.contains(&known)).then_some(())
            })
            .await;
        }
    }

    /// As `REDIS_URL` wants it; the first node is one that is not there.
    pub fn url(&self) -> String {
        let urls: Vec<_> = self.nodes.iter().map(Node::announced).collect();
        let scheme = urls[0].split(':').next().unwrap();
        format!("{scheme}://127.0.0.1:1,{}", urls.join(","))
    }

    /// How many prompts each primary holds.
    pub async fn prompts(&self) -> Vec<usize> {
        let mut counts = Vec::new();
        for node in &self.nodes[..PRIMARIES] {
            counts.push(node.prompts().await.len());
        }
        counts
    }

    /// Kills the primary that holds the one prompt there is; its replica has it before.
    pub async fn kill_the_holder(&mut self) {
        for node in &self.nodes {
            // The default is 15 s; before, so short a time would only make a busy machine look like a dead node.
            node.ask(&["CONFIG", "SET", "cluster-node-timeout", "1000"]).await;
        }
        for node in &mut self.nodes[..PRIMARIES] {
            if node.prompts().await.len() == 1 {
                let mut wait = cmd("WAIT");
                wait.arg(1).arg(30_000);
                let replicas: i64 = wait.query_async(&mut node.connection().await).await.unwrap();
                assert_eq!(replicas, 1);
                node.child.kill().unwrap();
                node.child.wait().unwrap();
                return;
            }
        }
        panic!("no primary holds one prompt");
    }
}

impl Node {
    async fn start(tls: Option<&ServerConfig>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("r.sock");
        let tls = match tls {
            Some(config) => {
                let proxy = Proxy::start(&socket).await;
                proxy.speak_tls(config.clone());
                Some(proxy)
            }
            None => None,
        };
        // A port that was free a moment ago may be taken by another test now: then the server ends, and another is tried.
        for _ in 0..20 {
            let free = || TcpListener::bind("127.0.0.1:0").unwrap();
            let ports = [free(), free()].map(|listener| listener.local_addr().unwrap().port());
            let mut command = server();
            if let Some(tls) = &tls {
                let port = tls.address.port().to_string();
                command.args(["--cluster-announce-port", &port, "--unixsocket"]).arg(&socket);
            }
            command
                .args(["--bind", "127.0.0.1", "--port", &ports[0].to_string()])
                .args(["--cluster-port", &ports[1].to_string(), "--cluster-enabled", "yes"])
                .args(["--repl-diskless-sync-delay", "0", "--dir"])
                .arg(folder.path());
            let mut child = command.spawn().unwrap();
            let url = format!("redis://127.0.0.1:{}", ports[0]);
            let up = eventually("redis-server answers or ends", async || {
                if child.try_wait().unwrap().is_some() {
                    return Some(false);
                }
                connect(&url).await.map(|_| true)
            })
            .await;
            if up {
                return Self { port: ports[0], child, tls, _folder: folder };
            }
        }
        panic!("no free port for redis-server");
    }

    fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Where clients find it.
    fn announced(&self) -> String {
        self.tls.as_ref().map_or_else(|| self.url(), |tls| tls.url("rediss"))
    }

    async fn connection(&self) -> MultiplexedConnection {
        connect(&self.url()).await.unwrap()
    }

    async fn ask(&self, words: &[&str]) -> Value {
        command(&mut self.connection().await, words).await
    }

    async fn text(&self, words: &[&str]) -> String {
        redis::from_redis_value(self.ask(words).await).unwrap()
    }

    async fn id(&self) -> String {
        self.text(&["CLUSTER", "MYID"]).await
    }

    async fn meet(&self, other: &Self) {
        let bus = other.text(&["CLUSTER", "NODES"]).await;
        let own = bus.lines().find(|line| line.contains("myself")).unwrap();
        let bus = own.split(['@', ' ', ',']).nth(2).unwrap();
        self.ask(&["CLUSTER", "MEET", "127.0.0.1", &other.port.to_string(), bus]).await;
    }

    async fn prompts(&self) -> Vec<String> {
        let (_, keys): (u64, Vec<String>) =
            redis::from_redis_value(self.ask(&["SCAN", "0", "COUNT", "100000", "TYPE", "hash"]).await)
                .unwrap();
        keys
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
