//! Clients that try a WebSocket first: they are told at once that there is none, and nothing of it reaches a provider.

use std::net::SocketAddr;

use sentinel_harness::Stack;
use sentinel_harness::gateway::Gateway;
use sentinel_harness::raw::RawConnection;

/// The handshake that Codex begins with, for this protocol.
fn assert_refused(to: SocketAddr, path: &str, protocol: &str) {
    let mut connection = RawConnection::open(to);
    let handshake =
        "connection: Upgrade\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==";
    connection.write(
        format!("GET {path} HTTP/1.1\r\nhost: gateway\r\nupgrade: {protocol}\r\n{handshake}\r\n\r\n")
            .as_bytes(),
    );
    let response = connection.response().expect("an answer");
    assert_eq!(response.status, 426, "{path}, {protocol}: {}", response.head);
    let body = String::from_utf8_lossy(&response.body).into_owned();
    assert!(body.contains("Send the request over plain HTTP."), "{body}");
}

#[test]
fn a_websocket_is_refused_at_once() {
    let stack = Stack::builder().start();
    let gateway = Gateway::builder().start();
    for protocol in ["websocket", "WebSocket"] {
        assert_refused(stack.address(), "/v1/responses", protocol);
        assert_refused(gateway.address(), "/openai/v1/responses", protocol);
        assert_refused(gateway.address(), "/no/such/path", protocol);
    }
    assert_eq!((stack.provider.count(), gateway.provider.count()), (0, 0));
}
