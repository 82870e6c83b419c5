//! How a body may arrive: in pieces, with trailers, empty, too large, of another kind. Compressed ones are in `barriers`.

use bytes::Bytes;
use http_body_util::channel::Channel;
use http_body_util::{Empty, Full};
use hyper::{HeaderMap, Method, Version};
use sentinel_harness::{Dialect, Stack, client};

use crate::support::{CHAT, allowing, assert_hinted, hinting, question};

/// A body in pieces and of unknown length, with or without trailers.
async fn send_pieces(
    stack: &Stack,
    version: Version,
    body: &[u8],
    pieces: usize,
    trailers: bool,
) -> client::Response {
    let (mut sender, channel) = Channel::<Bytes, std::io::Error>::new(1);
    let mut request = client::request(
        stack.address(),
        Method::POST,
        CHAT.path(false),
        &[("x-agent-id", "pieces")],
        channel,
    );
    *request.version_mut() = version;
    let parts: Vec<Bytes> =
        body.chunks(body.len().div_ceil(pieces).max(1)).map(Bytes::copy_from_slice).collect();
    let feeding = tokio::spawn(async move {
        for part in parts {
            if sender.send_data(part).await.is_err() {
                return;
            }
            tokio::task::yield_now().await;
        }
        if trailers {
            let mut map = HeaderMap::new();
            map.insert("x-checksum", "1234".parse().unwrap());
            let _ = sender.send_trailers(map).await;
        }
    });
    let response = client::send(request).await.expect("an answer");
    feeding.await.unwrap();
    response
}

#[tokio::test]
async fn bodies_of_unknown_length_and_trailers() {
    for (stack, hints) in [(allowing(), false), (hinting(), true)] {
        for (number, (version, trailers)) in
            [(Version::HTTP_11, false), (Version::HTTP_2, false), (Version::HTTP_2, true)]
                .into_iter()
                .enumerate()
        {
            for pieces in [1, 7] {
                let body = question(number * 10 + pieces);
                let response = send_pieces(&stack, version, &body, pieces, trailers).await;
                let what = format!("{version:?}, {pieces} pieces, trailers: {trailers}");
                assert_eq!(response.status, 200, "{what}");
                let got = stack.provider.last();
                assert!(got.complete, "{what}");
                if hints {
                    assert_eq!(response.verdict(), "hint", "{what}");
                    assert_hinted(CHAT, &body, &got);
                } else {
                    assert_eq!(got.body, body, "{what}");
                }
            }
        }
    }
}

#[tokio::test]
async fn a_trailer_behind_an_empty_body() {
    let mut stack = allowing();
    let response = send_pieces(&stack, Version::HTTP_2, b"", 1, true).await;
    assert_eq!(response.status, 200);
    assert_eq!(stack.provider.last().body, "");
    stack.assert_sound();
}

#[tokio::test]
async fn requests_without_a_body_do_not_hang() {
    let mut stack = allowing();
    for method in [Method::GET, Method::POST, Method::DELETE, Method::OPTIONS] {
        for dialect in Dialect::ALL {
            let request = client::request(
                stack.address(),
                method.clone(),
                dialect.path(false),
                &[],
                Empty::<Bytes>::new(),
            );
            let response = client::send(request).await.expect("an answer");
            assert_eq!(response.status, 200, "{method} {dialect:?}");
        }
    }
    stack.assert_sound();
}

#[tokio::test]
async fn other_paths_and_methods_are_left_alone() {
    let mut stack = hinting();
    let body = question(0);
    for (method, path) in [
        (Method::POST, "/v1/embeddings"),
        (Method::POST, "/v1/threads/t_1/messages"),
        (Method::POST, "/"),
        (Method::PUT, "/v1/chat/completions"),
        (Method::GET, "/v1/models"),
    ] {
        let request = client::request(
            stack.address(),
            method.clone(),
            path,
            &[("x-agent-id", "a")],
            Full::new(Bytes::from(body.clone())),
        );
        let response = client::send(request).await.expect("an answer");
        assert_eq!(response.status, 200, "{method} {path}");
        assert_eq!(response.header("x-sentinel-verdict"), None, "{method} {path}");
        assert_eq!(stack.provider.last().body, body, "{method} {path}");
    }
    stack.assert_sound();
}

#[tokio::test]
async fn other_content_types_are_left_alone() {
    let mut stack = hinting();
    let body = question(0);
    for content_type in ["text/plain", "multipart/form-data; boundary=x", "application/x-protobuf"] {
        let response =
            stack.post(CHAT, &[("x-agent-id", "a"), ("content-type", content_type)], body.clone()).await;
        assert_eq!(response.status, 200, "{content_type}");
        assert_eq!(stack.provider.last().body, body, "{content_type}");
    }
    // Parameters and case do not make it another type.
    for (number, content_type) in
        ["application/json; charset=utf-8", "Application/JSON"].into_iter().enumerate()
    {
        let body = question(number + 1);
        let response =
            stack.post(CHAT, &[("x-agent-id", "b"), ("content-type", content_type)], body.clone()).await;
        assert_eq!(response.verdict(), "hint", "{content_type}");
        assert_hinted(CHAT, &body, &stack.provider.last());
    }
    stack.assert_sound();
}

#[tokio::test]
async fn bodies_beyond_the_cap_pass_whole() {
    let mut stack = hinting();
    let mebibyte = 1 << 20;
    for (size, counted) in [
        (mebibyte - 1_000, 0),
        (mebibyte + 1_000, 1),
        (3 * mebibyte, 1),
        (5 * mebibyte, 1),
        (64 * mebibyte, 1),
    ] {
        let body = CHAT.ask(&"many words to fill a body ".repeat(size / 26), false).to_string().into_bytes();
        // HTTP/1.1 with its length, chunked, and HTTP/2, whose streams have a window of their own.
        for unknown_length in [None, Some(Version::HTTP_11), Some(Version::HTTP_2)] {
            let what = format!("{size} bytes, unknown length: {unknown_length:?}");
            let before = stack.count("sentinel_bypasses_total", &[]);
            let response = match unknown_length {
                Some(version) => send_pieces(&stack, version, &body, 1_000, false).await,
                None => stack.post(CHAT, &[("x-agent-id", "known")], body.clone()).await,
            };
            assert_eq!(response.status, 200, "{what}: {:?}", response.body);
            let got = stack.provider.last();
            assert!(got.complete, "{what}");
            if counted == 1 {
                assert!(got.body == body, "{what}: the provider got {} bytes", got.body.len());
                assert_eq!(stack.count("sentinel_bypasses_total", &[]), before + counted, "{what}");
            } else {
                assert_hinted(CHAT, &body, &got);
            }
        }
    }
    stack.assert_sound();
}
