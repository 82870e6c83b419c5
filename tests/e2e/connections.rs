//! What may happen on a connection: pipelining, lengths that lie, odd headers, clients that leave, crowds.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::{Method, Version};
use sentinel_harness::fake_service::Behaviour;
use sentinel_harness::process::eventually;
use sentinel_harness::raw::RawConnection;
use sentinel_harness::{Stack, client};
use serde_json::json;

use crate::support::{
    CHAT, QUESTION, allowing, assert_allowed, assert_hinted, hinting, inserted, nothing_similar, question,
    similar,
};

#[tokio::test]
async fn a_hint_on_a_shared_connection_leaves_the_next_request_whole() {
    let mut stack = hinting();
    let mut connection = RawConnection::open(stack.address());
    let requests: Vec<Vec<u8>> = (0..4).map(question).collect();
    // Pipelined: all are on the wire before the first is answered.
    for body in &requests {
        let head = format!(
            "POST {} HTTP/1.1\r\nhost: a\r\nx-agent-id: pipe\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            CHAT.path(false),
            body.len()
        );
        connection.write(&[head.as_bytes(), body].concat());
    }
    for number in 0..requests.len() {
        let response = connection.response().unwrap_or_else(|| panic!("request {number} is not answered"));
        assert_eq!(response.status, 200, "request {number}");
    }
    let received = stack.provider.received();
    assert_eq!(received.len(), requests.len(), "the provider saw other requests than were sent");
    for (sent, got) in requests.iter().zip(&received) {
        assert_eq!(got.method, "POST");
        assert_hinted(CHAT, sent, got);
    }
    assert!(
        received.iter().all(|got| got.connection == received[0].connection),
        "not one upstream connection"
    );
    stack.assert_sound();
}

#[tokio::test]
async fn a_content_length_that_lies() {
    let mut stack = hinting();
    let body = question(0);
    let head = |length: usize| {
        format!(
            "POST {} HTTP/1.1\r\nhost: a\r\nx-agent-id: liar\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n",
            CHAT.path(false)
        )
    };
    // Too short: what follows is no request, and is refused by Envoy.
    let mut connection = RawConnection::open(stack.address());
    connection.write(&[head(body.len() - 20).as_bytes(), &body, b"\r\n\r\n"].concat());
    let mut statuses = Vec::new();
    while let Some(response) = connection.response() {
        statuses.push(response.status);
    }
    assert!(statuses.contains(&400), "{statuses:?}");
    // Too long: the rest never comes.
    let before = stack.provider.received().iter().filter(|got| got.complete).count();
    let mut connection = RawConnection::open(stack.address());
    connection.write(&[head(body.len() + 20).as_bytes(), &body].concat());
    connection.end_of_request();
    assert!(connection.response().is_none_or(|response| response.status >= 400));
    assert_eq!(stack.provider.received().iter().filter(|got| got.complete).count(), before);
    // Two lengths: Envoy refuses.
    let mut connection = RawConnection::open(stack.address());
    let two = head(body.len()).replace("\r\n\r\n", "\r\ncontent-length: 7\r\n\r\n");
    connection.write(&[two.as_bytes(), &body].concat());
    assert!(connection.response().is_none_or(|response| response.status == 400));
    // And others are served as ever.
    assert_eq!(stack.ask(CHAT, "other", QUESTION).await.status, 200);
    stack.assert_sound();
}

/// curl asks before it sends a larger body; the headers are held, yet the client must be told to go on.
#[tokio::test]
async fn a_client_that_expects_100_continue() {
    let mut stack = hinting();
    let body = question(0);
    let mut connection = RawConnection::open(stack.address());
    let head = format!(
        "POST {} HTTP/1.1\r\nhost: a\r\nx-agent-id: curl\r\ncontent-type: application/json\r\nexpect: 100-continue\r\ncontent-length: {}\r\n\r\n",
        CHAT.path(false),
        body.len()
    );
    connection.write(head.as_bytes());
    assert_eq!(connection.response().expect("leave to go on").status, 100);
    connection.write(&body);
    assert_eq!(connection.response().expect("an answer").status, 200);
    assert_hinted(CHAT, &body, &stack.provider.last());
    stack.assert_sound();
}

/// A body without a length of which Envoy first gets a little, which is held, and then more at once than a connection may
/// buffer: the filter is not asked before Envoy adds the two up. `request_body_buffer_limit` leaves room for that.
/// Envoy stands still meanwhile, so that the burst waits in the socket.
#[tokio::test]
async fn a_body_that_comes_in_one_burst() {
    // Less than a burst; more would not fit into the kernel's own buffers.
    let narrow = "per_connection_buffer_limit_bytes: 1310720";
    let builder = Stack::builder().fake(Behaviour::Answer(similar(), Duration::ZERO));
    let mut stack = builder.edit("per_connection_buffer_limit_bytes: 4194304", narrow).start();
    let body = CHAT.ask(&"many words to fill a body ".repeat(1_000_000), false).to_string().into_bytes();
    let (little, rest) = body.split_at(1_000);
    let mut connection = RawConnection::open(stack.address());
    let head = format!(
        "POST {} HTTP/1.1\r\nhost: a\r\nx-agent-id: burst\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n",
        CHAT.path(false)
    );
    let chunk = |bytes: &[u8]| [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat();
    connection.write(&[head.as_bytes(), &chunk(little)].concat());
    eventually("Envoy has got the beginning", async || {
        stack.count("envoy_http_downstream_rq_active", &[("envoy_http_conn_manager_prefix", "agents")]) == 1
    })
    .await;
    stack.envoy.process().signal(libc::SIGSTOP);
    let rest = [chunk(rest), b"0\r\n\r\n".to_vec()].concat();
    let writing = std::thread::spawn(move || {
        connection.write(&rest);
        connection.response()
    });
    // As much as the kernel takes.
    tokio::time::sleep(Duration::from_millis(300)).await;
    stack.envoy.process().signal(libc::SIGCONT);
    let response = writing.join().expect("no panic").expect("an answer");
    assert_eq!(response.status, 200, "{}", String::from_utf8_lossy(&response.body));
    assert!(stack.provider.last().body == body);
    stack.assert_sound();
}

#[tokio::test]
async fn headers_that_are_not_utf8_or_come_twice() {
    let mut stack = hinting();
    let body = question(0);
    let lines: [&[u8]; 12] = [
        b"x-agent-id: \xff\xfe\x80",
        b"x-tenant-id: caf\xe9",
        b"x-run-id: \xc3\x28",
        b"content-type: application/json; x=\xff",
        b"content-encoding: \xff",
        b"x-stainless-retry-count: \xff",
        b"x-other: \xf0\x28\x8c\x28",
        b"accept: \xff",
        b"x-agent-id: one\r\nx-agent-id: two",
        b"content-type: text/plain\r\ncontent-type: application/json",
        b"content-encoding: identity\r\ncontent-encoding: gzip",
        b"x-agent-id: ",
    ];
    for line in lines {
        let what = String::from_utf8_lossy(line).into_owned();
        let mut connection = RawConnection::open(stack.address());
        let mut request =
            format!("POST {} HTTP/1.1\r\nhost: a\r\ncontent-length: {}\r\n", CHAT.path(false), body.len())
                .into_bytes();
        if !what.starts_with("content-type") {
            request.extend_from_slice(b"content-type: application/json\r\n");
        }
        request.extend_from_slice(line);
        request.extend_from_slice(b"\r\n\r\n");
        request.extend_from_slice(&body);
        connection.write(&request);
        let response = connection.response().unwrap_or_else(|| panic!("{what}: no answer"));
        assert!(response.status == 200 || response.status == 400, "{what}: {}", response.status);
        if response.status == 200 {
            let got = stack.provider.last();
            let extra = inserted(&body, &got.body);
            assert!(extra.is_some(), "{what}: the provider got {:?}", got.body);
        }
    }
    // A path that is not UTF-8.
    let mut connection = RawConnection::open(stack.address());
    let request = format!(
        "?\u{e9} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let latin1: Vec<u8> = request.chars().map(|c| c as u8).collect();
    connection.write(&[b"POST /v1/chat/completions".as_slice(), &latin1, &body].concat());
    assert!(connection.response().is_none_or(|response| response.status == 200 || response.status == 400));
    stack.assert_sound();
}

#[tokio::test]
async fn a_client_that_leaves_strands_nobody() {
    let mut stack = Stack::builder().fake(Behaviour::Silence).config(&json!({"timeout": "2s"})).start();
    let body = question(0);
    let head = format!(
        "POST {} HTTP/1.1\r\nhost: a\r\nx-agent-id: gone\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        CHAT.path(false),
        body.len()
    );
    for cut in [head.len() / 2, head.len(), head.len() + body.len() / 2, head.len() + body.len()] {
        let whole = [head.as_bytes(), &body].concat();
        let calls = stack.fake.as_ref().unwrap().calls().len();
        let mut connection = RawConnection::open(stack.address());
        connection.write(&whole[..cut]);
        if cut == whole.len() {
            // The verdict is being waited for when the client leaves.
            let fake = stack.fake.as_ref().unwrap();
            eventually("the service is asked", async || fake.calls().len() > calls).await;
        }
        drop(connection);
    }
    // HTTP/2: the stream is reset while the verdict is awaited.
    let mut request = client::request(
        stack.address(),
        Method::POST,
        CHAT.path(false),
        &[("x-agent-id", "h2")],
        Full::new(Bytes::from(question(1))),
    );
    *request.version_mut() = Version::HTTP_2;
    let calls = stack.fake.as_ref().unwrap().calls().len();
    let sending = tokio::spawn(client::send(request));
    let fake = stack.fake.as_ref().unwrap();
    eventually("the service is asked", async || fake.calls().len() > calls).await;
    sending.abort();
    eventually("Envoy lets go of all requests", async || {
        stack.count("envoy_http_downstream_rq_active", &[("envoy_http_conn_manager_prefix", "agents")]) == 0
    })
    .await;
    assert!(
        stack.count("sentinel_service_calls_total", &[("outcome", "cancelled")]) >= 2,
        "calls are cancelled with their request"
    );
    fake.behave(Behaviour::Answer(nothing_similar(), Duration::ZERO));
    assert_allowed(&stack.ask(CHAT, "other", QUESTION).await, "the next agent");
    stack.assert_sound();
}

/// One agent that sends the same thing many times at once: its window is changed from both workers.
#[tokio::test]
async fn many_requests_of_one_agent_at_once() {
    let mut stack = allowing();
    for round in 0..3 {
        let requests = (0..40).map(|_| {
            let (address, body) = (stack.address(), question(round));
            tokio::spawn(async move {
                client::post(address, CHAT.path(false), &[("x-agent-id", "crowd")], body).await
            })
        });
        for request in requests.collect::<Vec<_>>() {
            let status = request.await.unwrap().status;
            assert!(status == 200 || status == 400, "{status}");
        }
    }
    assert_allowed(&stack.ask(CHAT, "other", QUESTION).await, "another agent");
    stack.assert_sound();
}

/// Envoy's own way to leave a route out.
#[tokio::test]
async fn a_route_without_the_filter() {
    let mut stack = Stack::builder()
        .fake(Behaviour::Answer(similar(), Duration::ZERO))
        .edit(
            "- match: {prefix: /}\n",
            "- match: {prefix: /}\n                          typed_per_filter_config: {sentinel: {\"@type\": \
             type.googleapis.com/envoy.config.route.v3.FilterConfig, disabled: true}}\n",
        )
        .start();
    let body = question(0);
    let response = stack.post(CHAT, &[("x-agent-id", "a")], body.clone()).await;
    assert_eq!((response.status, response.header("x-sentinel-verdict")), (200, None));
    assert_eq!(stack.provider.last().body, body);
    assert_eq!(stack.count("sentinel_requests_total", &[]), 0);
    stack.assert_sound();
}

/// Two workers, many requests at once, each with an answer of its own.
#[tokio::test]
async fn many_requests_at_once_do_not_mix() {
    let mut stack = hinting();
    let requests = (0..60).map(|number| {
        let body = question(number);
        let address = stack.address();
        tokio::spawn(async move {
            let agent = format!("agent-{number}");
            let text = CHAT.last_user_text(&body).unwrap();
            let response = client::post(address, CHAT.path(false), &[("x-agent-id", &agent)], body).await;
            assert_eq!(response.status, 200);
            assert_eq!(CHAT.answer_text(&response.body), sentinel_harness::provider::reply::text_for(&text));
        })
    });
    for request in requests.collect::<Vec<_>>() {
        request.await.unwrap();
    }
    stack.assert_sound();
}
