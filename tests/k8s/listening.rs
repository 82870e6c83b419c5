//! The real service, Redis and Envoy with the settings that the manifests give them: they listen where ports, probes and
//! NetworkPolicies say, and answer as the probes expect. Only addresses and paths of this machine are put in.

use std::collections::BTreeSet;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU8, Ordering};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use sentinel_harness::bootstrap::Bootstrap;
use sentinel_harness::envoy::Envoy;
use sentinel_harness::gateway::{self, ALICE, key_header};
use sentinel_harness::process::{Process, eventually};
use sentinel_harness::{Dialect, client, parts, raw};
use serde_json::Value;

use crate::images;
use crate::manifests::{find, objects};

/// An address of this machine that no one else uses: the ports stay those of the manifests.
fn own_address() -> Ipv4Addr {
    static NEXT: AtomicU8 = AtomicU8::new(1);
    let [_, _, high, low] = std::process::id().to_be_bytes();
    Ipv4Addr::new(127, NEXT.fetch_add(1, Ordering::Relaxed), high, low)
}

/// Where a process accepts TCP connections.
fn listening(process: &Process) -> BTreeSet<SocketAddr> {
    let folder = format!("/proc/{}/fd", process.id());
    let links = fs::read_dir(folder).unwrap().flatten().filter_map(|entry| fs::read_link(entry.path()).ok());
    let sockets: BTreeSet<String> = links.map(|link| link.display().to_string()).collect();
    let table = fs::read_to_string("/proc/net/tcp").unwrap();
    let mut found = BTreeSet::new();
    for line in table.lines().skip(1) {
        let fields: Vec<&str> = line.split_whitespace().collect();
        if fields[3] == "0A" && sockets.contains(&format!("socket:[{}]", fields[9])) {
            let (address, port) = fields[1].split_once(':').unwrap();
            let address = Ipv4Addr::from(u32::from_str_radix(address, 16).unwrap().to_le_bytes());
            found.insert(SocketAddr::new(IpAddr::V4(address), u16::from_str_radix(port, 16).unwrap()));
        }
    }
    found
}

fn ports_of(container: &Value, at: Ipv4Addr) -> BTreeSet<SocketAddr> {
    let ports = container["ports"].as_array().unwrap().iter();
    ports.map(|port| (at, u16::try_from(port["containerPort"].as_u64().unwrap()).unwrap()).into()).collect()
}

/// The settings of a ConfigMap, for this address.
fn settings(objects: &[Value], at: Ipv4Addr) -> Vec<(String, String)> {
    let data = find(objects, "ConfigMap", "embedding-service-settings")["data"].as_object().unwrap();
    data.iter()
        .map(|(name, value)| (name.clone(), value.as_str().unwrap().replace("0.0.0.0", &at.to_string())))
        .collect()
}

/// The service with nothing in its environment but what image and manifests put there.
fn service(folder: &Path, settings: &[(String, String)]) -> Process {
    let mut command = Command::new(parts::service());
    command.env_clear();
    for (name, path) in images::environment() {
        command.env(name, images::on_this_machine(&path));
    }
    command.envs(settings.iter().map(|(name, value)| (name, value)));
    Process::start("embedding-service", folder, command)
}

/// What the kubelet would see: gRPC's health, an HTTP status, or an open port.
async fn probe(probe: &Value, container: &Value, at: Ipv4Addr) -> bool {
    let port = |value: &Value| {
        let named = container["ports"].as_array().unwrap().iter().find(|port| port["name"] == *value);
        u16::try_from(named.map_or(value, |port| &port["containerPort"]).as_u64().expect("a port")).unwrap()
    };
    if let Some(port) = probe["grpc"]["port"].as_u64() {
        let service = probe["grpc"]["service"].as_str().unwrap_or_default();
        return is_serving((at, u16::try_from(port).unwrap()).into(), service).await;
    }
    if let Some(path) = probe["httpGet"]["path"].as_str() {
        let to = (at, port(&probe["httpGet"]["port"])).into();
        return raw::get(to, path).is_some_and(|answer| answer.status == 200);
    }
    TcpStream::connect((at, port(&probe["tcpSocket"]["port"]))).is_ok()
}

/// grpc.health.v1.Health/Check of this service; empty: of the whole server.
async fn is_serving(at: SocketAddr, service: &str) -> bool {
    // One message, and in it field 1 with the name.
    let length = u8::try_from(service.len()).expect("a short name");
    let mut ask = vec![0, 0, 0, 0, length + 2, 10, length];
    ask.extend(service.bytes());
    let client = Client::builder(TokioExecutor::new()).http2_only(true).build_http();
    let request = Request::post(format!("http://{at}/grpc.health.v1.Health/Check"))
        .header("content-type", "application/grpc")
        .header("te", "trailers")
        .body(Full::new(Bytes::from(ask)))
        .unwrap();
    let Ok(answer) = client.request(request).await else { return false };
    // One message, and in it field 1 with the value SERVING.
    answer.into_body().collect().await.is_ok_and(|body| body.to_bytes()[..] == [0, 0, 0, 0, 2, 8, 1])
}

/// Redis with the ConfigMap's file and the users that the documentation has one make.
fn redis(folder: &Path, objects: &[Value], at: Ipv4Addr, password: &str) -> (Process, String) {
    let readme = fs::read_to_string(parts::root().join("k8s/components/redis/kustomization.yaml")).unwrap();
    let users = readme.split_once("printf '").unwrap().1.split_once('\'').unwrap().0;
    fs::write(folder.join("users.acl"), users.replace("\\n", "\n").replace("%s", password) + "\n").unwrap();
    let url = readme.split_once("url=\"").unwrap().1.split_once('"').unwrap().0;
    let url = url.replace("$password", password).replace("@redis:", &format!("@{at}:"));

    let mut config =
        find(objects, "ConfigMap", "redis-config")["data"]["redis.conf"].as_str().unwrap().to_owned();
    for (old, new) in [
        ("/etc/redis-users/users.acl", folder.join("users.acl").display().to_string()),
        ("bind * -::*", format!("bind {at}")),
        ("dir /data", format!("dir {}", folder.display())),
        ("/usr/local/lib/redis/modules/redisearch.so", parts::redisearch().display().to_string()),
    ] {
        assert_eq!(config.matches(old).count(), 1, "{old}");
        config = config.replace(old, &new);
    }
    fs::write(folder.join("redis.conf"), config).unwrap();
    let mut command = Command::new(parts::redis_server());
    command.arg(folder.join("redis.conf"));
    let mut process = Process::start("redis", folder, command);
    process.wait_for("an open port", |_| TcpStream::connect((at, 6379)).ok());
    (process, url)
}

#[tokio::test]
async fn service_and_redis_listen_where_the_manifests_say() {
    let all = objects("overlays/cluster");
    let folder = tempfile::tempdir().unwrap();
    let at = own_address();
    let (mut store, url) = redis(folder.path(), &all, at, "a-password-of-this-test");
    let container =
        |kind: &str, name: &str| find(&all, kind, name)["spec"]["template"]["spec"]["containers"][0].clone();
    let redis = container("StatefulSet", "redis");
    assert_eq!(listening(&store), ports_of(&redis, at));
    for name in ["startupProbe", "readinessProbe", "livenessProbe"] {
        assert!(probe(&redis[name], &redis, at).await, "Redis: {name}");
    }

    let mut settings = settings(&all, at);
    settings.push(("REDIS_URL".to_owned(), url));
    let mut process = service(folder.path(), &settings);
    process.wait_for("an open port", |_| TcpStream::connect((at, 50051)).ok());
    let service = container("Deployment", "embedding-service");
    assert_eq!(listening(&process), ports_of(&service, at));
    for name in ["startupProbe", "readinessProbe", "livenessProbe"] {
        eventually(name, async || probe(&service[name], &service, at).await).await;
    }
    assert!(!process.log().contains("a-password-of-this-test"));

    // Without Redis a pod is not ready, and is not restarted.
    store.kill();
    eventually("not ready", async || !probe(&service["readinessProbe"], &service, at).await).await;
    assert!(probe(&service["livenessProbe"], &service, at).await);
    assert!(process.stop().success());
}

#[tokio::test]
async fn envoy_and_its_sidecar_listen_where_the_manifests_say() {
    let all = objects("overlays/standalone");
    let folder = tempfile::tempdir().unwrap();
    let at = own_address();
    let spec = &find(&all, "Deployment", "agent-gateway")["spec"]["template"]["spec"];
    let (envoy, sidecar) = (&spec["containers"][0], &spec["initContainers"][0]);

    let mut settings = settings(&all, at);
    let socket = folder.path().join("embedding.sock");
    let path = settings.iter_mut().find(|(name, _)| name == "UDS_PATH").unwrap();
    let shipped_socket = std::mem::replace(&mut path.1, socket.display().to_string());
    let mut service = service(folder.path(), &settings);
    service.wait_for("a socket", |_| socket.exists().then_some(()));
    eventually("started", async || probe(&sidecar["startupProbe"], sidecar, at).await).await;
    assert!(probe(&sidecar["livenessProbe"], sidecar, at).await);
    assert_eq!(listening(&service), ports_of(sidecar, at));
    // Envoy is another user of the same group.
    assert_eq!(fs::metadata(&socket).unwrap().permissions().mode() & 0o777, 0o660);

    let text = find(&all, "ConfigMap", "agent-gateway-envoy")["data"]["envoy.yaml"].as_str().unwrap();
    let mut bootstrap = Bootstrap::of(text.to_owned());
    bootstrap.replace("/module/plugin.wasm", &parts::filter().display().to_string());
    bootstrap.replace(&shipped_socket, &socket.display().to_string());
    gateway::fill_in(folder.path());
    bootstrap.mounted(folder.path());
    for port in [10000, 9902] {
        bootstrap.replace(
            &format!("address: 0.0.0.0, port_value: {port}"),
            &format!("address: {at}, port_value: {port}"),
        );
    }
    // The admin interface stays inside of the pod.
    let admin = bootstrap.text().matches("address: 127.0.0.1, port_value: 9901").count();
    assert_eq!(admin, 2, "the interface itself, and the way to it");
    let bootstrap = Bootstrap::of(
        bootstrap
            .text()
            .replace("address: 127.0.0.1, port_value: 9901", &format!("address: {at}, port_value: 9901")),
    );
    let mut running = Envoy::start(folder.path(), &bootstrap);
    let mut wanted = ports_of(envoy, at);
    wanted.insert((at, 9901).into());
    assert_eq!(listening(running.process()), wanted);
    for name in ["startupProbe", "readinessProbe", "livenessProbe"] {
        assert!(probe(&envoy[name], envoy, at).await, "Envoy: {name}");
    }

    // Through the port for metrics there is a way to the metrics, and to nothing else of the admin interface.
    let metrics = SocketAddr::from((at, 9902));
    let page = raw::get(metrics, "/stats/prometheus").unwrap();
    assert!(page.status == 200 && String::from_utf8_lossy(&page.body).contains("envoy_server_live"));
    for path in ["/", "/config_dump", "/stats", "/quitquitquit", "/stats/prometheus/../../config_dump"] {
        assert_eq!(raw::get(metrics, path).unwrap().status, 404, "{path}");
    }
    // Agents' port: nobody without a key, and the filter is at work.
    let body = r#"{"model":"m","messages":[{"role":"user","content":"Which river of the region is the longest one?"}]}"#;
    let ask = async |headers: &[(&str, &str)]| {
        client::post((at, 10000).into(), "/v1/chat/completions", headers, body).await
    };
    assert_eq!(ask(&[("x-agent-id", "a")]).await.status, 401);
    let (name, value) = key_header(Dialect::OpenaiChat, ALICE.key);
    let answer = ask(&[("x-agent-id", "a"), (name, &value)]).await;
    assert_eq!((answer.status, answer.verdict()), (404, "allow"), "{:?}", answer.body);
    assert_eq!(answer.header("x-ratelimit-limit"), Some("100"), "limits are on");
}
