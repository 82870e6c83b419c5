//! Plain HTTP, enough for the operators' pages.

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
        self.send(method, path, &[("host", "test")], "").await
    }

    /// Status and body.
    pub async fn send(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> (u16, String) {
        let (status, _, body) = self.whole(method, path, headers, body).await;
        (status, body)
    }

    /// Status, headers with their names in small letters, and body.
    pub async fn whole(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> (u16, Vec<(String, String)>, String) {
        let (status, headers) = self.head(method, path, headers, body).await;
        let length = headers.iter().find(|(name, _)| name == "content-length");
        let mut body = vec![0; length.map_or(0, |(_, value)| value.parse().unwrap())];
        self.0.read_exact(&mut body).await.unwrap();
        (status, headers, String::from_utf8(body).unwrap())
    }

    /// Asks for a stream.
    pub async fn begin(&mut self, path: &str, headers: &[(&str, &str)]) {
        assert_eq!(self.head("GET", path, headers, "").await.0, 200, "{path}");
    }

    /// Waits until a stream has sent this line.
    pub async fn until(&mut self, wanted: &str) {
        let mut line = String::new();
        while line.trim_end() != wanted {
            line.clear();
            assert!(self.0.read_line(&mut line).await.unwrap() > 0, "the stream ended before {wanted}");
        }
    }

    async fn head(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> (u16, Vec<(String, String)>) {
        let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let length = body.len();
        let request = format!("{method} {path} HTTP/1.1\r\n{headers}content-length: {length}\r\n\r\n{body}");
        self.0.write_all(request.as_bytes()).await.unwrap();
        let status = self.line().await.split(' ').nth(1).unwrap().parse().unwrap();
        let mut headers = Vec::new();
        loop {
            let header = self.line().await;
            let Some((name, value)) = header.split_once(':') else { break };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        (status, headers)
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
