//! From a killed agent to a message: the real Envoy with the filter, the real Prometheus with the shipped rules, the real
//! Alertmanager with the shipped routes, a webhook and a mail server.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

use sentinel_harness::metrics::Metrics;
use sentinel_harness::process::{Process, eventually};
use sentinel_harness::{Dialect, Stack, client, parts, port, raw};
use serde_json::{Value, json};

use crate::mail::MailServer;
use crate::monitoring::{alertmanager, rules};
use crate::server::serve;

struct Watch {
    prometheus: SocketAddr,
    alertmanager: SocketAddr,
    messages: Arc<Mutex<Vec<Value>>>,
    mails: MailServer,
    _processes: [Process; 2],
}

impl Watch {
    /// Scrapes and judges each second; the routes are the shipped ones but for the addresses and the first wait.
    fn start(stack: &Stack) -> Self {
        let folder = stack.folder();
        let mails = MailServer::start();
        let (messages, routes) = to_a_webhook(&to_a_mail_server(&alertmanager(), &mails));
        fs::write(folder.join("rules.yaml"), rules().to_string()).unwrap();
        let (manager, alertmanager) = start_alertmanager(folder, &routes);
        let prometheus = port::free();
        let config = json!({
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": [folder.join("rules.yaml")],
            "alerting": {"alertmanagers": [{"static_configs": [{"targets": [alertmanager]}]}]},
            "scrape_configs": [{"job_name": "agent-gateway", "metrics_path": "/stats/prometheus", "static_configs": [
                {"targets": [stack.envoy.admin()], "labels": {"namespace": "agent-sentinel"}}]}],
        });
        fs::write(folder.join("prometheus.yml"), config.to_string()).unwrap();

        let mut command = Command::new(parts::prometheus());
        command
            .arg(format!("--config.file={}", folder.join("prometheus.yml").display()))
            .arg(format!("--storage.tsdb.path={}", folder.join("prometheus").display()))
            .arg(format!("--web.listen-address={prometheus}"))
            // Alertmanager is told of what goes on much more often than by default, so that a second message has its chance.
            .arg("--rules.alert.resend-delay=1s");
        let mut server = Process::start("prometheus", folder, command);
        server.wait_for("readiness", |_| is_ready(prometheus));
        Self { prometheus, alertmanager, messages, mails, _processes: [server, manager] }
    }

    fn messages(&self) -> Vec<Value> {
        self.messages.lock().unwrap().clone()
    }

    /// Waits until the rules were judged, and Alertmanager was told, this many times more.
    async fn judged_again(&self, times: u64) {
        for (of, name) in [
            (self.prometheus, "prometheus_rule_group_iterations_total"),
            (self.alertmanager, "alertmanager_alerts_received_total"),
        ] {
            let before = count(of, name);
            eventually(name, async || count(of, name) >= before + times).await;
        }
    }
}

/// The routes with a mail server of the test's own, which takes everyone's word and has no TLS.
fn to_a_mail_server(routes: &str, server: &MailServer) -> String {
    let mut routes = replaced(routes, "smtp.example.com:587", &server.address().to_string());
    routes = replaced(&routes, "smtp_require_tls: true", "smtp_require_tls: false");
    for line in [
        "  smtp_auth_username: agent-sentinel@example.com\n",
        "  smtp_auth_password_file: /etc/alertmanager/receivers/smtp-password\n",
    ] {
        routes = replaced(&routes, line, "");
    }
    routes
}

/// The routes with a webhook of the test's own, and without the first wait; what it was told.
fn to_a_webhook(routes: &str) -> (Arc<Mutex<Vec<Value>>>, String) {
    let messages = Arc::new(Mutex::new(Vec::new()));
    let hook = serve({
        let messages = Arc::clone(&messages);
        move |_, body| {
            messages.lock().unwrap().push(serde_json::from_slice(body).expect("a message is JSON"));
            (200, Vec::new())
        }
    });
    let routes = replaced(routes, "https://hooks.example.com/agent-sentinel", &format!("http://{hook}/"));
    (messages, replaced(&routes, "group_wait: 10s", "group_wait: 1s"))
}

fn start_alertmanager(folder: &Path, routes: &str) -> (Process, SocketAddr) {
    let address = port::free();
    fs::write(folder.join("alertmanager.yml"), routes).unwrap();
    let mut command = Command::new(parts::alertmanager());
    command
        .arg(format!("--config.file={}", folder.join("alertmanager.yml").display()))
        .arg(format!("--storage.path={}", folder.join("alertmanager").display()))
        .arg(format!("--web.listen-address={address}"))
        .arg("--cluster.listen-address=")
        // The project's own finds its templates where it is started.
        .current_dir(parts::alertmanager().parent().expect("a folder"));
    let mut process = Process::start("alertmanager", folder, command);
    process.wait_for("readiness", |_| is_ready(address));
    (process, address)
}

fn is_ready(address: SocketAddr) -> Option<()> {
    raw::get(address, "/-/ready").filter(|answer| answer.status == 200).map(|_| ())
}

/// A counter of Prometheus or Alertmanager.
fn count(of: SocketAddr, name: &str) -> u64 {
    let page = raw::get(of, "/metrics").expect("an answer").body;
    Metrics::parse(&String::from_utf8_lossy(&page)).sum(name, &[])
}

fn replaced(text: &str, old: &str, new: &str) -> String {
    assert_eq!(text.matches(old).count(), 1, "{old}");
    text.replace(old, new)
}

/// Asks one thing until the agent is stopped.
async fn kill(stack: &Stack, agent: &str) {
    let question = "Which of the rivers in this region carries the most water in spring?";
    for _ in 0..5 {
        if stack.ask(Dialect::OpenaiChat, agent, question).await.verdict() == "kill" {
            return;
        }
    }
    panic!("{agent} was not stopped");
}

#[tokio::test]
async fn each_agent_that_is_stopped_is_said_once_by_webhook_and_by_mail() {
    // The shipped settings, and rows for two groups of agents.
    let agents = json!([{"name": "billing"}, {"prefix": "research."}]);
    let mut stack = Stack::builder().config(&json!({"agents": agents})).own_envoy().start();
    let watch = Watch::start(&stack);
    // Healthy traffic first: it must say nothing.
    stack
        .ask(Dialect::OpenaiChat, "healthy", "What is the tallest mountain of the region in the north?")
        .await;
    let iterations = "prometheus_rule_group_iterations_total";
    let before = count(watch.prometheus, iterations);
    eventually(iterations, async || count(watch.prometheus, iterations) >= before + 3).await;
    assert_eq!(watch.messages(), Vec::<Value>::new());

    for (agent, row, said) in
        [("billing", "billing", 1), ("research.seven", "research_*", 2), ("a private name", "other", 3)]
    {
        kill(&stack, agent).await;
        eventually("a message", async || watch.messages().len() >= said).await;
        eventually("a mail", async || watch.mails.mails().len() >= said).await;
        let message = &watch.messages()[said - 1];
        let alerts = message["alerts"].as_array().unwrap();
        assert_eq!(alerts.len(), 1, "{message}");
        for (name, value) in [
            ("alertname", "AgentKilled"),
            ("kind", "kill_switch"),
            ("agent", row),
            ("signal", "score"),
            ("namespace", "agent-sentinel"),
        ] {
            assert_eq!(alerts[0]["labels"][name], value, "{name}: {message}");
        }
        let mail = watch.mails.mails()[said - 1].text.clone();
        assert!(mail.contains(&format!("Subject: Agent Sentinel: AgentKilled ({row})")), "{mail}");
        // What a client called itself is in no message.
        assert!(!message.to_string().contains("seven"), "{message}");
        assert!(!message.to_string().contains("private"), "{message}");
    }

    // Others without a row, and the same again, are stopped; the rules are judged on and on: within the cooldown nothing
    // more is said.
    for agent in ["another", "research.seven"] {
        kill(&stack, agent).await;
        watch.judged_again(5).await;
    }
    assert_eq!(watch.messages().len(), 3, "{:?}", watch.messages());
    assert_eq!(watch.mails.mails().len(), 3);
    let labels = [("verdict", "kill"), ("agent", "research_*")];
    assert_eq!(stack.count("sentinel_verdicts_total", &labels), 2);
    stack.assert_sound();
}

#[tokio::test]
async fn what_is_critical_comes_by_mail_too_and_once_within_the_cooldown() {
    let folder = tempfile::tempdir().unwrap();
    let server = MailServer::start();
    let (messages, routes) = to_a_webhook(&alertmanager());
    let routes = to_a_mail_server(&routes, &server);
    let (_process, manager) = start_alertmanager(folder.path(), &routes);
    let raise = async |name: &str, severity: &str, kind: &str| {
        let labels =
            json!({"alertname": name, "severity": severity, "kind": kind, "namespace": "agent-sentinel"});
        let alerts =
            json!([{"labels": labels, "annotations": {"summary": format!("the summary of {name}")}}]);
        let json = [("content-type", "application/json")];
        let answer = client::post(manager, "/api/v2/alerts", &json, alerts.to_string()).await;
        assert_eq!(answer.status, 200, "{:?}", answer.body);
    };

    raise("RedisDown", "critical", "redis").await;
    raise("HintRateHigh", "warning", "hint_rate").await;
    eventually("a mail", async || !server.mails().is_empty()).await;
    eventually("both by webhook", async || messages.lock().unwrap().len() == 2).await;
    let mail = server.mails()[0].clone();
    assert_eq!(mail.to, ["TO:<on-call@example.com>"]);
    assert!(mail.text.contains("Subject: Agent Sentinel: RedisDown"), "{}", mail.text);
    assert!(mail.text.contains("the summary of RedisDown"), "{}", mail.text);

    // It goes on, and Alertmanager is told again and again.
    for _ in 0..5 {
        let received = count(manager, "alertmanager_alerts_received_total");
        raise("RedisDown", "critical", "redis").await;
        eventually("taken", async || count(manager, "alertmanager_alerts_received_total") > received).await;
    }
    // Another one, whose message comes after all that was there to be said before.
    raise("ServiceAbsent", "critical", "service_down").await;
    eventually("the other one's mail", async || server.mails().len() > 1).await;
    eventually("the other one's message", async || messages.lock().unwrap().len() > 2).await;
    let subjects: Vec<bool> =
        server.mails().iter().map(|mail| mail.text.contains("Subject: Agent Sentinel: RedisDown")).collect();
    assert_eq!(subjects, [true, false]);
    assert_eq!(messages.lock().unwrap().len(), 3);
}
