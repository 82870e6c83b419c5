//! A real Redis Cluster: scopes are spread over its nodes, and a node that dies is replaced by its replica.

use std::fs;

use embedding_service::history::{PromptHistory, Retention, Scope};

use crate::{
    history_suite::{self, HOUR, record, vector},
    redis_faults::start_error,
    support::{
        Server, check,
        cluster::Cluster,
        eventually,
        redis::{Redis, redis_settings},
        tls::Authority,
    },
};

const CLUSTER: (&str, &str) = ("--redis-cluster", "true");

#[tokio::test]
async fn scopes_of_one_tenant_are_spread_over_the_nodes() {
    let cluster = Cluster::start().await;
    let settings = redis_settings(&cluster.url(), &[CLUSTER]);
    let history = history_suite::connect(&settings, Retention { size: 2, ttl: HOUR }).await.unwrap();
    for run in 0..60 {
        let scope = Scope::new("tenant", "agent", &run.to_string());
        for i in 0..3 {
            history.record(&record(&scope, &i.to_string(), vector(i))).await.unwrap();
        }
        assert_eq!(history.recall(&scope, &vector(1)).await.unwrap().len(), 2);
    }
    let prompts = cluster.prompts().await;
    assert_eq!(prompts.iter().sum::<usize>(), 120);
    assert!(prompts.iter().all(|&count| count >= 10), "{prompts:?}");
}

#[tokio::test]
async fn when_a_node_dies_its_replica_goes_on_with_what_it_had() {
    let mut cluster = Cluster::start_with_replicas().await;
    let settings = [("--redis-url", &*cluster.url()), CLUSTER, ("--store-timeout-ms", "200")];
    let server = Server::start_without_model(&settings).await;
    let mut client = server.client().await;
    check(&mut client, "r", "hello").await.unwrap();
    eventually("the prompt is stored", async || {
        (cluster.prompts().await.iter().sum::<usize>() == 1).then_some(())
    })
    .await;
    cluster.kill_the_holder().await;
    let answer = eventually("calls are answered again", async || {
        check(&mut client, "r", "hello").await.ok().filter(|answer| answer.compared > 0)
    })
    .await;
    assert!(answer.matches >= 1, "{answer:?}");
    eventually("prompts are stored again", async || {
        check(&mut client, "r", "hello").await.ok().filter(|answer| answer.matches >= 2)
    })
    .await;
}

#[tokio::test]
async fn a_cluster_that_is_none_and_one_that_was_not_announced_are_named() {
    let cluster = Cluster::start().await;
    let one = cluster.url().split(',').nth(1).unwrap().to_owned();
    let e = start_error(&one, &[]).await;
    assert!(e.contains("set REDIS_CLUSTER=true"), "{e}");
    let redis = Redis::start().await;
    let proxy = crate::support::proxy::Proxy::start(&redis.socket()).await;
    let e = start_error(&proxy.url("redis"), &[CLUSTER]).await;
    assert!(e.contains("set REDIS_CLUSTER=false"), "{e}");
    let e = start_error(&cluster.url().replace("redis://", "redis://u:hunter2@"), &[CLUSTER]).await;
    assert!(e.contains("it wants other credentials") && !e.contains("hunter2"), "{e}");
    let e = start_error("redis://127.0.0.1:1,redis://127.0.0.1:2", &[CLUSTER]).await;
    assert!(e.contains("Redis cannot be reached"), "{e}");
}

/// Every node has its own connection, and the nodes name each other to us: all of them have to speak TLS.
#[tokio::test]
async fn a_cluster_over_tls_is_used_with_our_own_authority_and_certificate() {
    let (ours, other) = (Authority::new(), Authority::new());
    let cluster = Cluster::start_with_tls(&ours.server("127.0.0.1", true)).await;
    let url = cluster.url();
    let (certificate, key) = ours.issue("service");
    fs::write(ours.file("cert.pem"), certificate).unwrap();
    fs::write(ours.file("key.pem"), key).unwrap();
    let [ca, certificate, key] = ["ca.pem", "cert.pem", "key.pem"].map(|name| ours.flag(name));
    let own = [CLUSTER, ("--redis-cert-file", &certificate), ("--redis-key-file", &key)];
    let flags = [own.as_slice(), &[("--redis-ca-file", &ca)]].concat();

    let server = Server::start_without_model(&[flags.as_slice(), &[("--redis-url", &url)]].concat()).await;
    let mut client = server.client().await;
    for run in 0..60 {
        check(&mut client, &run.to_string(), "hello").await.unwrap();
    }
    eventually("all nodes hold prompts", async || {
        let prompts = cluster.prompts().await;
        (prompts.iter().sum::<usize>() == 60 && prompts.iter().all(|&count| count >= 5)).then_some(())
    })
    .await;
    for run in 0..60 {
        assert_eq!(check(&mut client, &run.to_string(), "hello").await.unwrap().matches, 1);
    }

    let e =
        start_error(&url, &[own.as_slice(), &[("--redis-ca-file", &other.flag("ca.pem"))]].concat()).await;
    assert!(e.contains("its certificate is not accepted") && e.contains("REDIS_CA_FILE"), "{e}");
    let e = start_error(&url, &[CLUSTER, ("--redis-ca-file", &ca)]).await;
    assert!(e.contains("Redis cannot be reached"), "{e}");
}
