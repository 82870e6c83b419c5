//! Who we are for Redis and whom we trust: passwords, users with few rights, TLS. A secret is never shown, and one that
//! was changed is found without a restart.

use std::fs;

use tokio_rustls::rustls::ServerConfig;

use crate::{
    redis_faults::start_error,
    support::{Server, check, eventually, proxy::Proxy, redis::Redis, tls::Authority},
};

async fn answers(server: &Server) {
    let mut client = server.client().await;
    eventually("calls are answered", async || check(&mut client, "r", "hello").await.ok()).await;
}

async fn refuses(server: &Server, words: &str) {
    let mut client = server.client().await;
    eventually(words, async || {
        let status = check(&mut client, "r", "hello").await.err()?;
        assert!(!status.message().contains("hunter2"), "{status:?}");
        status.message().contains(words).then_some(())
    })
    .await;
}

#[tokio::test]
async fn wrong_credentials_are_named_and_not_shown() {
    let redis = Redis::start().await;
    redis.command(&["CONFIG", "SET", "requirepass", "right"]).await;
    for url in [redis.url(), redis.url() + "?pass=hunter2", redis.url() + "?user=hunter2&pass=hunter2"] {
        let e = start_error(&url, &[]).await;
        assert!(e.contains("check REDIS_URL") && !e.contains("hunter2"), "{e}");
    }
    let right = redis.url() + "?pass=right&protocol=resp3";
    answers(&Server::start_without_model(&[("--redis-url", &right)]).await).await;
}

#[tokio::test]
async fn a_password_file_is_read_anew_when_the_password_has_changed() {
    let redis = Redis::start().await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("password");
    let flags = [("--redis-password-file", file.to_str().unwrap())];
    let e = start_error(&redis.url(), &flags).await;
    assert!(e.contains("REDIS_PASSWORD_FILE: cannot use") && e.contains("not found"), "{e}");
    fs::write(&file, "hunter2-1\n").unwrap();

    redis.command(&["ACL", "SETUSER", "default", "resetpass", ">hunter2-1"]).await;
    let server = Server::start_without_model(&[("--redis-url", &redis.url()), flags[0]]).await;
    answers(&server).await;

    let mut operator = redis.authenticated("hunter2-1").await;
    crate::support::redis::command(&mut operator, &["ACL", "SETUSER", "default", "resetpass", ">hunter2-2"])
        .await;
    crate::support::redis::command(&mut operator, &["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"])
        .await;
    refuses(&server, "it wants other credentials").await;
    fs::write(&file, "hunter2-2").unwrap();
    answers(&server).await;
}

/// The rights that docs/redis.md names are enough, and one that is missing is named.
#[tokio::test]
async fn a_user_needs_few_rights() {
    let redis = Redis::start().await;
    let rights = "+ping +eval +hset +hmget +pexpire +zadd +zrange +zrevrange +zrem +del";
    let words: Vec<&str> = ["ACL", "SETUSER", "sentinel", "on", ">hunter2", "~loop:*"]
        .into_iter()
        .chain(rights.split(' '))
        .collect();
    redis.command(&words).await;
    let page = include_str!("../../../docs/redis.md");
    assert!(page.contains(rights), "docs/redis.md names other rights");
    let url = redis.url() + "?user=sentinel&pass=hunter2";
    let server = Server::start_without_model(&[("--redis-url", &url)]).await;
    let mut client = server.client().await;
    for _ in 0..7 {
        check(&mut client, "r", "hello").await.unwrap();
    }
    eventually("the last five are stored", async || (redis.prompts().await.len() == 5).then_some(())).await;
    redis.command(&["ACL", "SETUSER", "sentinel", "-eval"]).await;
    refuses(&server, "may not do what is needed").await;
}

/// A Redis that speaks TLS, and the way to it.
async fn with_tls(config: ServerConfig) -> (Redis, Proxy) {
    let redis = Redis::start().await;
    let proxy = Proxy::start(&redis.socket()).await;
    proxy.speak_tls(config);
    (redis, proxy)
}

#[tokio::test]
async fn a_certificate_of_our_own_authority_is_accepted_and_no_other() {
    let (ours, other) = (Authority::new(), Authority::new());
    let (redis, proxy) = with_tls(ours.server("127.0.0.1", false)).await;
    let url = proxy.url("rediss");
    let server =
        Server::start_without_model(&[("--redis-url", &url), ("--redis-ca-file", &ours.flag("ca.pem"))])
            .await;
    let mut client = server.client().await;
    check(&mut client, "r", "hello").await.unwrap();
    eventually("the prompt is stored", async || (redis.prompts().await.len() == 1).then_some(())).await;

    for flags in [vec![("--redis-ca-file", other.flag("ca.pem"))], vec![]] {
        let flags: Vec<(&str, &str)> = flags.iter().map(|(flag, value)| (*flag, value.as_str())).collect();
        let e = start_error(&url, &flags).await;
        assert!(e.contains("its certificate is not accepted") && e.contains("REDIS_CA_FILE"), "{e}");
    }
    proxy.speak_tls(ours.server("elsewhere.example", false));
    let e = start_error(&url, &[("--redis-ca-file", &ours.flag("ca.pem"))]).await;
    assert!(e.contains("NotValidForName") && e.contains("the host in REDIS_URL"), "{e}");
}

#[tokio::test]
async fn an_authority_that_changes_is_refused_until_its_file_is_there() {
    let (first, second) = (Authority::new(), Authority::new());
    let (redis, proxy) = with_tls(first.server("127.0.0.1", false)).await;
    let url = proxy.url("rediss");
    let server =
        Server::start_without_model(&[("--redis-url", &url), ("--redis-ca-file", &first.flag("ca.pem"))])
            .await;
    answers(&server).await;
    proxy.speak_tls(second.server("127.0.0.1", false));
    redis.command(&["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]).await;
    refuses(&server, "its certificate is not accepted").await;
    fs::copy(second.file("ca.pem"), first.file("ca.pem")).unwrap();
    answers(&server).await;
}

#[tokio::test]
async fn we_show_a_certificate_where_one_is_wanted() {
    let authority = Authority::new();
    let (_redis, proxy) = with_tls(authority.server("127.0.0.1", true)).await;
    let (url, ca) = (proxy.url("rediss"), authority.flag("ca.pem"));
    let e = start_error(&url, &[("--redis-ca-file", &ca)]).await;
    assert!(e.contains("Redis cannot be reached"), "{e}");

    let (certificate, key) = authority.issue("service");
    fs::write(authority.file("cert.pem"), certificate).unwrap();
    fs::write(authority.file("key.pem"), key).unwrap();
    let (certificate, key) = (authority.flag("cert.pem"), authority.flag("key.pem"));
    let flags =
        [("--redis-ca-file", ca.as_str()), ("--redis-cert-file", &certificate), ("--redis-key-file", &key)];
    let all = [&[("--redis-url", url.as_str())], flags.as_slice()].concat();
    answers(&Server::start_without_model(&all).await).await;
}

#[tokio::test]
async fn files_that_cannot_be_used_and_a_redis_without_tls_are_named() {
    let authority = Authority::new();
    let redis = Redis::start().await;
    let proxy = Proxy::start(&redis.socket()).await;
    let url = proxy.url("rediss");
    let e = start_error(&url, &[("--redis-ca-file", &authority.flag("nothing.pem"))]).await;
    assert!(e.contains("REDIS_CA_FILE: cannot use") && e.contains("not found"), "{e}");
    fs::write(authority.file("no.pem"), "this is no certificate").unwrap();
    let e = start_error(&url, &[("--redis-ca-file", &authority.flag("no.pem"))]).await;
    assert!(e.contains("REDIS_CA_FILE: cannot use") && e.contains("it is no PEM file"), "{e}");
    let e = start_error(&url, &[("--redis-ca-file", &authority.flag("ca.pem"))]).await;
    assert!(e.contains("does it speak TLS?"), "{e}");
}
