//! What stands between the service and Redis: a TCP address that leads to a Redis, can be made slow, can be led
//! elsewhere, and can speak TLS (the packaged Redis is built without it).

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpListener, TcpStream, UnixStream},
    sync::watch,
    task::JoinHandle,
    time::sleep,
};
use tokio_rustls::{TlsAcceptor, rustls::ServerConfig};

pub struct Proxy {
    pub address: SocketAddr,
    way: watch::Sender<Way>,
    listener: JoinHandle<()>,
}

#[derive(Clone)]
struct Way {
    to: PathBuf,
    delay: Duration,
    tls: Option<Arc<ServerConfig>>,
}

impl Proxy {
    /// To the Redis on the Unix socket `to`.
    pub async fn start(to: &Path) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (way, current) = watch::channel(Way { to: to.to_owned(), delay: Duration::ZERO, tls: None });
        let listener = tokio::spawn(async move {
            loop {
                let (client, _) = listener.accept().await.unwrap();
                tokio::spawn(connect(client, current.clone()));
            }
        });
        Self { address, way, listener }
    }

    pub fn url(&self, scheme: &str) -> String {
        format!("{scheme}://{}", self.address)
    }

    /// From now on each piece of an answer comes later by this, on all connections.
    pub fn delay(&self, delay: Duration) {
        self.way.send_modify(|way| way.delay = delay);
    }

    /// New connections go there; those that are open stay where they are.
    pub fn lead_to(&self, to: &Path) {
        self.way.send_modify(|way| to.clone_into(&mut way.to));
    }

    /// New connections have to speak TLS.
    pub fn speak_tls(&self, config: ServerConfig) {
        self.way.send_modify(|way| way.tls = Some(Arc::new(config)));
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.listener.abort();
    }
}

async fn connect(client: TcpStream, way: watch::Receiver<Way>) {
    let (to, tls) = {
        let way = way.borrow();
        (way.to.clone(), way.tls.clone())
    };
    let Ok(redis) = UnixStream::connect(to).await else { return };
    match tls {
        None => carry(client, redis, way).await,
        Some(config) => {
            if let Ok(client) = TlsAcceptor::from(config).accept(client).await {
                carry(client, redis, way).await;
            }
        }
    }
}

/// Ends both connections as soon as either ends.
async fn carry(client: impl AsyncRead + AsyncWrite, redis: UnixStream, way: watch::Receiver<Way>) {
    let (mut from_client, mut to_client) = tokio::io::split(client);
    let (mut from_redis, mut to_redis) = redis.into_split();
    let answers = async {
        let mut piece = vec![0; 64 << 10];
        while let Ok(read @ 1..) = from_redis.read(&mut piece).await {
            let delay = way.borrow().delay;
            sleep(delay).await;
            if to_client.write_all(&piece[..read]).await.is_err() || to_client.flush().await.is_err() {
                return;
            }
        }
    };
    tokio::select! {
        _ = tokio::io::copy(&mut from_client, &mut to_redis) => {}
        () = answers => {}
    }
}
