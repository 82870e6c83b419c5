//! TLS in front of a mock provider: test certificates, and a relay that terminates TLS and passes the bytes on.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use rcgen::{CertificateParams, KeyPair};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

use crate::threads::Threads;

/// A self-signed server certificate, which is its own root.
#[derive(Clone)]
pub struct Certificate {
    /// In the form of a CA bundle.
    pub pem: String,
    config: Arc<ServerConfig>,
}

impl Certificate {
    pub fn of(hosts: &[&str]) -> Self {
        let key = KeyPair::generate().expect("a key");
        let names: Vec<String> = hosts.iter().map(ToString::to_string).collect();
        let certificate =
            CertificateParams::new(names).expect("host names").self_signed(&key).expect("a certificate");
        let mut config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .expect("TLS 1.2 and 1.3")
            .with_no_client_auth()
            .with_single_cert(
                vec![certificate.der().clone()],
                PrivateKeyDer::Pkcs8(key.serialize_der().into()),
            )
            .expect("the key of this certificate");
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Self { pem: certificate.pem(), config: Arc::new(config) }
    }
}

/// Terminates TLS in front of `127.0.0.1:port`, on its own threads.
pub struct Relay {
    address: SocketAddr,
    names: Arc<Mutex<Vec<String>>>,
    _threads: Threads,
}

impl Relay {
    pub fn start(port: u16, certificate: &Certificate) -> Self {
        let threads = Threads::start();
        let (listener, address) = threads.listen();
        let names = Arc::new(Mutex::new(Vec::new()));
        let acceptor = TlsAcceptor::from(Arc::clone(&certificate.config));
        threads.spawn(run(listener, acceptor, port, Arc::clone(&names)));
        Self { address, names, _threads: threads }
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Server names that were asked for.
    pub fn names(&self) -> Vec<String> {
        self.names.lock().expect("no one panics with it").clone()
    }
}

async fn run(listener: TcpListener, acceptor: TlsAcceptor, port: u16, names: Arc<Mutex<Vec<String>>>) {
    while let Ok((stream, _)) = listener.accept().await {
        let (acceptor, names) = (acceptor.clone(), Arc::clone(&names));
        tokio::spawn(async move {
            let Ok(mut stream) = acceptor.accept(stream).await else { return };
            if let Some(name) = stream.get_ref().1.server_name() {
                names.lock().expect("no one panics with it").push(name.to_owned());
            }
            let Ok(mut onward) = TcpStream::connect(("127.0.0.1", port)).await else { return };
            let _ = tokio::io::copy_bidirectional(&mut stream, &mut onward).await;
        });
    }
}
