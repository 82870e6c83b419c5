//! Plain HTTP without bodies, enough for the operators' pages.

use std::net::SocketAddr;

use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
};

/// A connection that stays open from page to page.
pub struct Pages(BufReader<TcpStream>);

impl Pages {
    pub async fn open(address: SocketAddr) -> Self {
        Self(BufReader::new(TcpStream::connect(address).await.unwrap()))
    }

    /// Status and body.
    pub async fn get(&mut self, path: &str) -> (u16, String) {
        self.ask("GET", path).await
    }

    /// Status and body.
    pub async fn ask(&mut self, method: &str, path: &str) -> (u16, String) {
        let request = format!("{method} {path} HTTP/1.1\r\nhost: test\r\n\r\n");
        self.0.write_all(request.as_bytes()).await.unwrap();
        let status = self.line().await.split(' ').nth(1).unwrap().parse().unwrap();
        let mut length = 0;
        loop {
            let header = self.line().await.to_ascii_lowercase();
            if let Some(value) = header.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            if header.is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        self.0.read_exact(&mut body).await.unwrap();
        (status, String::from_utf8(body).unwrap())
    }

    async fn line(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).await.unwrap();
        assert!(line.ends_with("\r\n"), "the server ended in the middle of an answer: {line}");
        line.trim_end().to_owned()
    }

    /// The value of a sample in the exposition; 0 where it is not there yet.
    pub async fn sample(&mut self, name: &str) -> f64 {
        let (status, body) = self.get("/metrics").await;
        assert_eq!(status, 200);
        body.lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))
            .map_or(0.0, |value| value.parse().unwrap())
    }
}

/// Status and body.
pub async fn get(address: SocketAddr, path: &str) -> (u16, String) {
    Pages::open(address).await.get(path).await
}

/// Status and body.
pub async fn delete(address: SocketAddr, path: &str) -> (u16, String) {
    Pages::open(address).await.ask("DELETE", path).await
}

/// As [`Pages::sample`].
pub async fn sample(address: SocketAddr, name: &str) -> f64 {
    Pages::open(address).await.sample(name).await
}
