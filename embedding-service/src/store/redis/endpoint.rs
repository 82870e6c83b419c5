//! The address of Redis, and the user and certificates with which this service connects. Each connection reads the
//! files of secrets and certificates again, so a changed secret needs no restart.

use std::{fs, path::Path, time::Duration};

use redis::{
    AsyncConnectionConfig, Client, ClientTlsConfig, ConnectionAddr, ConnectionInfo, IntoConnectionInfo,
    ProtocolVersion, RedisError, TlsCertificates, aio::MultiplexedConnection, cluster::ClusterClientBuilder,
    io::tcp::TcpSettings,
};
use tokio::time::timeout;

use super::{
    super::StoreError,
    connection::Connection,
    error::{is_silence, store_error},
    options::{ClientCertificate, RedisOptions},
};

/// Budget of a connection attempt.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// Budget of one node of a cluster.
const NODE_TIMEOUT: Duration = Duration::from_secs(1);
/// How often a cluster is asked again when slots move or a node is lost, and the longest pause between, in milliseconds.
const CLUSTER_RETRIES: (u32, u64) = (4, 100);

pub struct Endpoint {
    nodes: Vec<ConnectionInfo>,
    options: RedisOptions,
}

impl Endpoint {
    pub fn new(options: &RedisOptions) -> Result<Self, StoreError> {
        // A process has only one provider of cryptography. If it is set already, it is this one.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let nodes = options.urls.iter().map(|url| {
            let info = url.reveal().into_connection_info().map_err(|e| address(&e))?;
            // The search module's replies have another shape in RESP3.
            let redis = info.redis_settings().clone().set_protocol(ProtocolVersion::RESP2);
            Ok(info.set_redis_settings(redis).set_tcp_settings(tcp()))
        });
        Ok(Self { nodes: nodes.collect::<Result<_, _>>()?, options: options.clone() })
    }

    pub async fn connect(&self) -> Result<Connection, StoreError> {
        let nodes = self.with_password()?;
        let certificates = self.certificates()?;
        let connecting = async {
            if self.options.cluster {
                clustered(nodes, certificates).await
            } else {
                single(nodes, certificates).await
            }
        };
        timeout(CONNECT_TIMEOUT, connecting).await.unwrap_or_else(|_| Err(self.timed_out()))
    }

    /// The error for a connection that timed out. With TLS a Redis without TLS is a likely cause: it takes the handshake for a command, and
    /// waits for the rest.
    pub fn timed_out(&self) -> StoreError {
        let tls = self.nodes.iter().any(|node| matches!(node.addr(), ConnectionAddr::TcpTls { .. }));
        let hint = if tls { "; does it speak TLS?" } else { "" };
        StoreError::Unreachable(format!("no answer in time{hint}"))
    }

    fn with_password(&self) -> Result<Vec<ConnectionInfo>, StoreError> {
        let Some(file) = &self.options.password_file else { return Ok(self.nodes.clone()) };
        let text = String::from_utf8(read("REDIS_PASSWORD_FILE", file)?)
            .map_err(|_| unusable("REDIS_PASSWORD_FILE", file, "it is no UTF-8 text"))?;
        // An editor's last line break is no part of it.
        let password = text.trim_end_matches(['\r', '\n']);
        let with = |node: &ConnectionInfo| {
            let redis = node.redis_settings().clone().set_password(password);
            node.clone().set_redis_settings(redis)
        };
        Ok(self.nodes.iter().map(with).collect())
    }

    /// `None` where neither an authority nor a certificate of ours is named.
    fn certificates(&self) -> Result<Option<TlsCertificates>, StoreError> {
        let RedisOptions { ca_file, certificate, .. } = &self.options;
        if ca_file.is_none() && certificate.is_none() {
            return Ok(None);
        }
        let root_cert = ca_file.as_deref().map(|file| pem("REDIS_CA_FILE", file)).transpose()?;
        let client_tls = match certificate {
            Some(ClientCertificate { certificate, key }) => Some(ClientTlsConfig {
                client_cert: pem("REDIS_CERT_FILE", certificate)?,
                client_key: pem("REDIS_KEY_FILE", key)?,
            }),
            None => None,
        };
        Ok(Some(TlsCertificates { client_tls, root_cert }))
    }
}

async fn single(nodes: Vec<ConnectionInfo>, tls: Option<TlsCertificates>) -> Result<Connection, StoreError> {
    let node = nodes.into_iter().next().ok_or_else(|| StoreError::Address("there is none".to_owned()))?;
    let connection = dial(&client(node, tls)?).await;
    connection.map(Connection::Single).map_err(|e| store_error(&e))
}

fn client(node: ConnectionInfo, tls: Option<TlsCertificates>) -> Result<Client, StoreError> {
    let client = match tls {
        Some(tls) => Client::build_with_tls(node, tls),
        None => Client::open(node),
    };
    client.map_err(|e| address(&e))
}

async fn dial(client: &Client) -> Result<MultiplexedConnection, RedisError> {
    let config = AsyncConnectionConfig::new()
        // Every use has a budget of its own, and so has this.
        .set_connection_timeout(None)
        .set_response_timeout(None);
    client.get_multiplexed_async_connection_with_config(&config).await
}

async fn clustered(
    nodes: Vec<ConnectionInfo>,
    tls: Option<TlsCertificates>,
) -> Result<Connection, StoreError> {
    let (retries, pause) = CLUSTER_RETRIES;
    let mut builder = ClusterClientBuilder::new(nodes.clone())
        .connection_timeout(NODE_TIMEOUT)
        .response_timeout(NODE_TIMEOUT)
        .retries(retries)
        .min_retry_wait(1)
        .max_retry_wait(pause)
        .tcp_settings(tcp());
    if let Some(tls) = tls.clone() {
        builder = builder.certs(tls);
    }
    let client = builder.build().map_err(|e| address(&e))?;
    match client.get_async_connection().await {
        Ok(connection) => Ok(Connection::Cluster(connection)),
        Err(e) => Err(refusal(nodes, tls).await.unwrap_or_else(|| store_error(&e))),
    }
}

/// Why a node refuses us, or we refuse it. The cluster client reports this only as text, and perhaps for a node that is just not there. So
/// each node is asked alone.
async fn refusal(nodes: Vec<ConnectionInfo>, tls: Option<TlsCertificates>) -> Option<StoreError> {
    for node in nodes {
        let Ok(client) = client(node, tls.clone()) else { continue };
        match dial(&client).await {
            Err(e) if !is_silence(&e) => return Some(store_error(&e)),
            _ => {}
        }
    }
    None
}

/// Questions are small and many: none may wait for another's acknowledgement.
fn tcp() -> TcpSettings {
    TcpSettings::default().set_nodelay(true)
}

/// Neither the address nor the client's message about it is passed on: there may be a password in it.
fn address(e: &RedisError) -> StoreError {
    StoreError::Address(e.category().to_owned())
}

fn read(name: &'static str, path: &Path) -> Result<Vec<u8>, StoreError> {
    fs::read(path).map_err(|e| unusable(name, path, &e.kind().to_string()))
}

fn pem(name: &'static str, path: &Path) -> Result<Vec<u8>, StoreError> {
    let bytes = read(name, path)?;
    if bytes.windows(10).any(|w| w == b"-----BEGIN") {
        return Ok(bytes);
    }
    Err(unusable(name, path, "it is no PEM file"))
}

fn unusable(name: &'static str, path: &Path, problem: &str) -> StoreError {
    StoreError::File { name, path: path.display().to_string(), problem: problem.to_owned() }
}
