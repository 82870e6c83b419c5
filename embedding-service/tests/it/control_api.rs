//! Control over HTTP and gRPC, as operators and workers meet it: a real server, its answers held against its own OpenAPI document.

use std::net::SocketAddr;

use embedding_service::control::api;
use sentinel_proto::v1::{self, control_service_client::ControlServiceClient};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
};
use tonic::{Code, transport::Channel};

use crate::{
    control_suite::{names, now_ms, turn},
    support::{Server, http::Pages, redis::Redis},
};

pub const KEY: &str = "a-key-for-the-tests";

pub struct Operator {
    pages: Pages,
    host: String,
    key: Option<&'static str>,
    document: Value,
}

impl Operator {
    pub async fn of(server: &Server) -> Self {
        Self::at(server.running.addresses().metrics).await
    }

    pub async fn at(address: SocketAddr) -> Self {
        let document = serde_json::to_value(api::document()).unwrap();
        Self { pages: Pages::open(address).await, host: address.to_string(), key: Some(KEY), document }
    }

    /// Status and body, which the document must know.
    pub async fn ask(&mut self, method: &str, path: &str, body: &str) -> (u16, Value) {
        let authorization = self.key.map(|key| format!("Bearer {key}"));
        let mut headers = vec![("host", self.host.as_str())];
        headers.extend(authorization.as_deref().map(|value| ("authorization", value)));
        let (status, answer) = self.pages.send(method, path, &headers, body).await;
        let answer: Value = serde_json::from_str(&answer).unwrap_or_else(|e| panic!("{path}: {e}: {answer}"));
        self.hold_against_document(method, path, status, &answer);
        (status, answer)
    }

    pub async fn get(&mut self, path: &str) -> Value {
        let (status, answer) = self.ask("GET", path, "").await;
        assert_eq!(status, 200, "{path}: {answer}");
        answer
    }

    pub async fn post(&mut self, path: &str, body: &Value) -> (u16, Value) {
        self.ask("POST", path, &body.to_string()).await
    }

    fn hold_against_document(&self, method: &str, path: &str, status: u16, answer: &Value) {
        let path = path.split('?').next().unwrap();
        if path == "/v1/openapi.json" {
            return;
        }
        let parts: Vec<&str> = path.split('/').collect();
        let fits = |known: &&String| {
            let known: Vec<&str> = known.split('/').collect();
            known.len() == parts.len()
                && known.iter().zip(&parts).all(|(known, part)| known.starts_with('{') || known == part)
        };
        let paths = self.document["paths"].as_object().unwrap();
        let Some(known) = paths.keys().find(fits) else { panic!("{path} is not in the document") };
        let operation = &paths[known][method.to_lowercase()];
        if status == 405 {
            assert!(operation.is_null(), "{method} {path}");
            return;
        }
        let response = &operation["responses"][status.to_string()];
        let schema = &response["content"]["application/json"]["schema"];
        assert!(
            !schema.is_null(),
            "{method} {path} answers {status}, which the document does not say: {answer}"
        );
        self.hold_against(schema, answer, path);
    }

    /// A small part of JSON Schema: what the document uses.
    fn hold_against(&self, schema: &Value, value: &Value, at: &str) {
        if let Some(name) = schema["$ref"].as_str() {
            let pointer = name.strip_prefix('#').unwrap();
            return self.hold_against(self.document.pointer(pointer).unwrap(), value, at);
        }
        if let Some(all) = schema["allOf"].as_array() {
            return self.hold_against_all(all, value, at);
        }
        if let Some(one) = schema["oneOf"].as_array() {
            let some = if value.is_null() { "null" } else { "" };
            let schema = one.iter().find(|schema| (schema["type"] == "null") == (some == "null")).unwrap();
            return self.hold_against(schema, value, at);
        }
        let kinds = match &schema["type"] {
            Value::String(kind) => vec![kind.clone()],
            Value::Array(kinds) => kinds.iter().map(|kind| kind.as_str().unwrap().to_owned()).collect(),
            _ => return,
        };
        let kind = match value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(number) if number.is_f64() => "number",
            Value::Number(_) => "integer",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        };
        let fits = kinds.iter().any(|wanted| wanted == kind || (wanted == "number" && kind == "integer"));
        assert!(fits, "{at} is {kind}, not {kinds:?}: {value}");
        if let Some(values) = schema["enum"].as_array() {
            assert!(values.contains(value), "{at}: {value} is none of {values:?}");
        }
        if let (Some(items), Some(schema)) = (value.as_array(), schema.get("items")) {
            items.iter().for_each(|item| self.hold_against(schema, item, &format!("{at}[]")));
        }
        if value.is_object() {
            self.hold_against_all(std::slice::from_ref(schema), value, at);
        }
    }

    /// All members are known, and all that must be there are.
    fn hold_against_all(&self, schemas: &[Value], value: &Value, at: &str) {
        let mut known = serde_json::Map::new();
        let mut open = false;
        self.members(schemas, &mut known, &mut open, value, at);
        for (name, member) in value.as_object().unwrap() {
            match known.get(name) {
                Some(schema) => self.hold_against(schema, member, &format!("{at}.{name}")),
                None => assert!(open, "{at}.{name} is not in the document"),
            }
        }
    }

    fn members(
        &self,
        schemas: &[Value],
        known: &mut serde_json::Map<String, Value>,
        open: &mut bool,
        value: &Value,
        at: &str,
    ) {
        for schema in schemas {
            if let Some(name) = schema["$ref"].as_str() {
                let target = self.document.pointer(name.strip_prefix('#').unwrap()).unwrap();
                self.members(std::slice::from_ref(target), known, open, value, at);
            }
            if let Some(all) = schema["allOf"].as_array() {
                self.members(all, known, open, value, at);
            }
            for name in schema["required"].as_array().into_iter().flatten() {
                assert!(value.get(name.as_str().unwrap()).is_some(), "{at} has no {name}");
            }
            *open |= schema.get("additionalProperties").is_some()
                || schema.get("properties").is_none()
                    && schema.get("allOf").is_none()
                    && schema.get("$ref").is_none();
            if let Some(properties) = schema["properties"].as_object() {
                known.extend(properties.clone());
            }
        }
    }
}

pub async fn server(extra: &[(&str, &str)]) -> Server {
    Server::start_without_model(&[&[("--control-key", KEY)], extra].concat()).await
}

pub type Worker = ControlServiceClient<Channel>;

pub async fn worker(server: &Server) -> Worker {
    ControlServiceClient::new(server.tcp().await)
}

pub fn report(turns: Vec<v1::Turn>) -> v1::ReportRequest {
    let worker = Some(v1::Worker { envoy: 7, number: 0 });
    v1::ReportRequest { worker, sent_at_ms: now_ms(), turns, ..v1::ReportRequest::default() }
}

#[tokio::test]
async fn what_workers_report_operators_see_and_what_operators_stop_workers_are_told() {
    let server = server(&[]).await;
    let mut worker = worker(&server).await;
    let turns = vec![turn(1, names("a", "r")), turn(2, names("a", "r")), turn(3, names("b", "s"))];
    let reply = worker.report(report(turns.clone())).await.unwrap().into_inner();
    assert_eq!((reply.counted, reply.repeated, reply.all_stops), (3, 0, true));
    let again = worker.report(report(turns)).await.unwrap().into_inner();
    assert_eq!((again.counted, again.repeated), (0, 3));

    let mut operator = Operator::of(&server).await;
    let list = operator.get("/v1/runs?sort=turns&limit=1").await;
    assert_eq!((&list["total"], &list["runs"][0]["agent"]), (&json!(2), &json!("a")));
    let next = list["next"].as_str().unwrap();
    let list = operator.get(&format!("/v1/runs?sort=turns&limit=1&cursor={next}")).await;
    assert_eq!((&list["runs"][0]["agent"], &list["next"]), (&json!("b"), &Value::Null));
    let id = operator.get("/v1/runs?agent=a").await["runs"][0]["id"].as_str().unwrap().to_owned();
    let run = operator.get(&format!("/v1/runs/{id}?limit=1")).await;
    assert_eq!((run["run"]["turns"].as_u64(), run["turns"].as_array().unwrap().len()), (Some(2), 1));
    let before = run["next"].as_str().unwrap();
    let older = operator.get(&format!("/v1/runs/{id}?limit=5&before={before}")).await;
    assert_eq!((older["turns"].as_array().unwrap().len(), &older["next"]), (1, &Value::Null));
    let agents = operator.get("/v1/agents?tenant=t&limit=1").await;
    let next = agents["next"].as_str().unwrap();
    let more = operator.get(&format!("/v1/agents?tenant=t&limit=1&cursor={next}")).await;
    assert_eq!((&agents["total"], &more["total"], &more["next"]), (&json!(2), &json!(2), &Value::Null));
    assert_ne!(agents["agents"][0]["agent"], more["agents"][0]["agent"]);

    let reason = json!({"reason": "it spends too much", "author": "eve"});
    let (status, stop) = operator.post(&format!("/v1/runs/{id}/stop"), &reason).await;
    assert_eq!((status, &stop["run"], &stop["until_ms"]), (200, &json!("r"), &Value::Null));
    let (_, tenant) = operator.post("/v1/stops", &json!({"tenant": "t", "seconds": 60})).await;
    assert!(tenant["until_ms"].as_u64().unwrap() > now_ms());
    assert_eq!(operator.get(&format!("/v1/runs/{id}")).await["stops"].as_array().unwrap().len(), 2);
    tokio::time::sleep(std::time::Duration::from_millis(250)).await;
    let known = reply.known;
    let told = worker.report(v1::ReportRequest { known, ..report(Vec::new()) }).await.unwrap().into_inner();
    assert_eq!((told.all_stops, told.directives.len()), (false, 2));
    let (status, lifted) = operator.post(&format!("/v1/runs/{id}/lift"), &json!({})).await;
    assert_eq!((status, &lifted["lifted"]["reason"]), (200, &json!("it spends too much")));
    assert_eq!(operator.post(&format!("/v1/runs/{id}/lift"), &json!({})).await.0, 404);
    let tenant = tenant["id"].as_str().unwrap();
    assert_eq!(operator.ask("POST", &format!("/v1/stops/{tenant}/lift"), "").await.0, 200);
    assert_eq!(operator.get("/v1/stops").await["stops"], json!([]));
    assert!(operator.get("/v1/openapi.json").await["paths"]["/v1/runs"].is_object());
}

#[tokio::test]
async fn what_cannot_be_answered_is_refused_with_a_sentence() {
    let server = server(&[]).await;
    let mut operator = Operator::of(&server).await;
    for (method, path, body, status, words) in [
        ("GET", "/v1/runs/nobody", "", 404, "no run has this id"),
        ("POST", "/v1/runs/nobody/stop", "{}", 404, "no run has this id"),
        ("POST", "/v1/stops/nobody/lift", "", 404, "no stop with this id"),
        ("GET", "/v1/runs?status=dead", "", 400, "status: give"),
        ("GET", "/v1/runs?sort=name", "", 400, "sort: give"),
        ("GET", "/v1/runs?order=up", "", 400, "order: give"),
        ("GET", "/v1/runs?limit=0", "", 400, "limit: give"),
        ("GET", "/v1/runs?limit=1001", "", 400, "limit: give"),
        ("GET", "/v1/runs?limit=many", "", 400, "limit"),
        ("GET", "/v1/runs?cursor=x", "", 400, "cursor: give"),
        ("GET", "/v1/agents?cursor=x", "", 400, "cursor: give"),
        ("GET", "/v1/agents?cursor=x-y", "", 400, "cursor: give"),
        ("GET", "/v1/budgets?cursor=1-2", "", 400, "cursor: give"),
        ("GET", "/v1/budgets?cursor=x-2-a", "", 400, "cursor: give"),
        ("GET", "/v1/runs?agnet=a", "", 400, "agnet"),
        ("GET", "/v1/runs/x?before=y", "", 400, "before: give"),
        ("POST", "/v1/stops", "{}", 400, "name a tenant"),
        ("POST", "/v1/stops", "", 400, "name a tenant"),
        ("POST", "/v1/stops", "{\"agent\": 5}", 400, "the body"),
        ("POST", "/v1/stops", "{\"agnet\": \"a\"}", 400, "agnet"),
        ("POST", "/v1/stops", "{", 400, "the body"),
        ("POST", "/v1/stops", "{\"agent\": \"a\", \"seconds\": 0}", 400, "seconds: give"),
        ("POST", "/v1/stops", "{\"agent\": \"a\", \"history\": \"xyz\"}", 400, "history: give"),
        ("DELETE", "/v1/runs", "", 405, "method"),
    ] {
        let (got, answer) = operator.ask(method, path, body).await;
        let error = answer["error"].as_str().unwrap_or_default();
        assert!(got == status && error.contains(words), "{method} {path} {body}: {got} {error}");
    }
    let long = json!({"agent": "a", "reason": "x".repeat(600 << 10)}).to_string();
    assert_eq!(operator.ask("POST", "/v1/stops", &long).await.0, 400);
}

#[tokio::test]
async fn without_the_key_nothing_is_changed_and_elsewhere_nothing_is_read() {
    let server = server(&[]).await;
    let mut operator = Operator { key: None, ..Operator::of(&server).await };
    assert_eq!(operator.get("/v1/runs").await["total"], 0);
    let stop = json!({"agent": "a"});
    assert_eq!(operator.post("/v1/stops", &stop).await.0, 401);
    operator.key = Some("another-key-of-somebody");
    assert_eq!(operator.post("/v1/stops", &stop).await.0, 401);
    operator.key = Some(KEY);
    assert_eq!(operator.post("/v1/stops", &stop).await.0, 200);
    operator.host = "rebound.example:9464".to_owned();
    let authorization = ("authorization", "Bearer a-key-for-the-tests");
    let rebound =
        operator.pages.send("GET", "/v1/runs", &[("host", "rebound.example"), authorization], "").await;
    assert_eq!(rebound.0, 403, "{}", rebound.1);

    let keyless = Server::start_without_model(&[]).await;
    let mut operator = Operator::of(&keyless).await;
    let (status, answer) = operator.post("/v1/stops", &stop).await;
    assert!(status == 403 && answer["error"].as_str().unwrap().contains("CONTROL_KEY_FILE"), "{answer}");

    let anywhere = self::server(&[("--metrics-addr", "0.0.0.0:0")]).await;
    let port = anywhere.running.addresses().metrics.port();
    let mut operator = Operator { key: None, ..Operator::at(([127, 0, 0, 1], port).into()).await };
    assert_eq!(operator.ask("GET", "/v1/runs", "").await.0, 401);
    // For who restarts it, and who measures it.
    assert_eq!(operator.pages.get("/healthz").await.0, 200);
    operator.key = Some(KEY);
    assert_eq!(operator.get("/v1/runs").await["total"], 0);

    let off = server_off().await;
    let mut pages = Pages::open(off.running.addresses().metrics).await;
    assert_eq!(pages.get("/v1/runs").await.0, 404);
    let refused = worker(&off).await.report(report(Vec::new())).await.unwrap_err();
    assert_eq!(refused.code(), Code::Unimplemented);
}

async fn server_off() -> Server {
    Server::start_without_model(&[("--control", "false")]).await
}

#[tokio::test]
async fn a_report_that_is_no_report_is_refused_and_counted() {
    let server = server(&[]).await;
    let mut worker = worker(&server).await;
    let nobody = v1::ReportRequest { worker: None, ..report(vec![turn(1, names("a", "r"))]) };
    assert_eq!(worker.report(nobody).await.unwrap_err().code(), Code::InvalidArgument);
    let many = (1..=4_097).map(|number| v1::Turn { number, ..v1::Turn::default() }).collect();
    assert_eq!(worker.report(report(many)).await.unwrap_err().code(), Code::OutOfRange);
    let huge = v1::Turn { prompt: "x".repeat(5 << 20), ..turn(1, names("a", "r")) };
    assert_eq!(worker.report(report(vec![huge])).await.unwrap_err().code(), Code::OutOfRange);
    let odd = v1::Turn {
        similarity: Some(f64::NAN),
        end: 99,
        input_tokens: u64::MAX,
        cost_nano_usd: Some(u64::MAX),
        duration_ms: u32::MAX,
        verdict: Some(v1::Verdict { kind: -5, ..v1::Verdict::default() }),
        steps: vec![v1::Step::default(); 500],
        ..turn(1, names("a\n\u{202e}\"", "r"))
    };
    let lost = v1::ReportRequest {
        dropped: 3,
        unknown_directives: 2,
        ..report(vec![odd.clone(), turn(1, names("a", "r"))])
    };
    let reply = worker.report(lost).await.unwrap().into_inner();
    assert_eq!((reply.counted, reply.refused), (1, 1));
    let most = v1::Turn { number: 2, ..odd };
    assert_eq!(worker.report(report(vec![most])).await.unwrap().into_inner().counted, 1);

    let address = server.running.addresses().metrics;
    let mut pages = Pages::open(address).await;
    for (sample, wanted) in [
        ("embedding_service_control_reports_total{outcome=\"invalid\"}", 2.0),
        ("embedding_service_control_reports_total{outcome=\"taken\"}", 2.0),
        ("embedding_service_control_turns_total{outcome=\"counted\"}", 2.0),
        ("embedding_service_control_turns_total{outcome=\"refused\"}", 1.0),
        ("embedding_service_control_turns_total{outcome=\"dropped\"}", 3.0),
        ("embedding_service_control_unknown_directives_total", 2.0),
    ] {
        assert_eq!(pages.sample(sample).await, wanted, "{sample}");
    }
    let (_, shown) = pages.send("GET", "/v1/runs", &[("host", &address.to_string())], "").await;
    assert!(shown.contains("a\\n\\u202e\\\"") && !shown.contains('\u{202e}'), "{shown}");
    let (_, exposition) = pages.get("/metrics").await;
    assert!(!exposition.contains("\"r\"") && !exposition.contains("read_file"));
}

#[tokio::test]
async fn a_worker_is_asked_for_its_configuration_once() {
    let server = server(&[]).await;
    let mut worker = worker(&server).await;
    let with = |digest: u64, configuration: &str| v1::ReportRequest {
        configuration_digest: digest,
        configuration: configuration.to_owned(),
        ..report(Vec::new())
    };
    let mut wanted = async |digest: u64, configuration: &str| {
        let reply = worker.report(with(digest, configuration)).await.unwrap();
        tokio::time::sleep(std::time::Duration::from_millis(220)).await;
        reply.into_inner().want_configuration
    };
    assert!(wanted(1, "").await);
    assert!(!wanted(1, r#"{"mode": "observe"}"#).await);
    assert!(!wanted(1, "").await);
    assert!(wanted(2, "").await);
    assert!(!wanted(2, r#"{"mode": "of another version"}"#).await);
    assert!(!wanted(2, "").await, "one that was refused is not asked for again");
    assert!(!wanted(0, "").await);
}

#[tokio::test]
async fn settings_and_budgets_are_seen_and_changed_over_http() {
    let server = server(&[]).await;
    let mut worker = worker(&server).await;
    let configured = |version: u64| v1::ReportRequest {
        configuration_digest: 7,
        configuration: r#"{"budgets": [{"name": "b", "limits": {"requests": 2, "usd": 1.5}}]}"#.to_owned(),
        known: Some(v1::Known { settings: version, ..v1::Known::default() }),
        ..report(Vec::new())
    };
    // A worker that nobody knows yet says with its first reservation how it is configured.
    let first = v1::ReserveRequest {
        worker: Some(v1::Worker { envoy: 8, number: 0 }),
        names: Some(names("b", "r")),
        configuration_digest: 7,
        probable: vec![v1::Amount { unit: v1::Unit::Requests.into(), value: 1 }],
        ..v1::ReserveRequest::default()
    };
    let unknown = worker.reserve(first.clone()).await.unwrap_err();
    assert_eq!(unknown.code(), tonic::Code::FailedPrecondition);
    let told = v1::ReserveRequest { configuration: configured(0).configuration, lease: 99, ..first };
    let granted = worker.reserve(told.clone()).await.unwrap().into_inner();
    assert_eq!(granted.budgets[0].lease.as_ref().unwrap().id, 99);
    let returned =
        v1::LeaseUse { id: 99, returned: true, outside: told.names.clone(), ..v1::LeaseUse::default() };
    worker.report(v1::ReportRequest { leases: vec![returned], ..configured(0) }).await.unwrap();
    worker.report(configured(0)).await.unwrap();
    let mut reserve = async || {
        let request = v1::ReserveRequest {
            worker: Some(v1::Worker { envoy: 7, number: 0 }),
            names: Some(names("a", "r")),
            configuration_digest: 7,
            provider: "openai".to_owned(),
            model: "gpt-4o-mini".to_owned(),
            probable: [(v1::Unit::Requests, 1), (v1::Unit::Tokens, 10)]
                .map(|(unit, value)| v1::Amount { unit: unit.into(), value })
                .to_vec(),
            ..v1::ReserveRequest::default()
        };
        worker.reserve(request).await
    };
    assert!(reserve().await.unwrap().into_inner().budgets[0].lease.is_some());
    let mut operator = Operator::of(&server).await;
    let budgets = operator.get("/v1/budgets?budget=b&limit=5").await;
    let accounts = budgets["accounts"].as_array().unwrap();
    let account = accounts.iter().find(|account| account["agent"] == "a").unwrap();
    assert_eq!(
        (&account["agent"], &account["limits"]["usd"], &account["held"]["requests"]),
        (&json!("a"), &json!(1.5), &json!(1))
    );
    assert_eq!(operator.get("/v1/budgets?budget=other").await["total"], 0);

    assert_eq!(operator.get("/v1/settings").await["version"], 0);
    let change = json!({"settings": {"agents": [{"name": "a", "settings": {"run_limit": 5}}]}, "version": 0, "author": "eve"});
    assert_eq!(operator.ask("PUT", "/v1/settings", &change.to_string()).await.0, 200);
    let (status, answer) = operator.ask("PUT", "/v1/settings", &change.to_string()).await;
    assert!(status == 409 && answer["error"].as_str().unwrap().contains("version 1"), "{answer}");
    for (body, words) in [
        (json!({"settings": {"budgets": [{"name": "b", "limits": {}}]}, "version": 1}), "budgets[0].limits"),
        (json!({"settings": {"kill": {}}, "version": 1}), "kill"),
        (json!({"version": 1}), "settings"),
        (json!({"settings": {}}), "version"),
    ] {
        let (status, answer) = operator.ask("PUT", "/v1/settings", &body.to_string()).await;
        assert!(status == 400 && answer["error"].as_str().unwrap().contains(words), "{body}: {answer}");
    }
    let (status, observed) =
        operator.post("/v1/settings/observe", &json!({"agent": "a", "observe": true})).await;
    let entry = json!([{"name": "a", "settings": {"run_limit": 5, "mode": "observe"}}]);
    assert_eq!((status, &observed["settings"]["agents"]), (200, &entry));
    assert_eq!(operator.post("/v1/settings/observe", &json!({"observe": true})).await.0, 400);
    let back = json!({"to": 1, "version": 2, "reason": "not so"});
    assert_eq!(operator.post("/v1/settings/rollback", &back).await.1["rolled_back_to"], 1);
    assert_eq!(operator.post("/v1/settings/rollback", &json!({"to": 50, "version": 3})).await.0, 404);
    let history = operator.get("/v1/settings/history").await;
    assert_eq!((history["versions"].as_array().unwrap().len(), &history["next"]), (3, &Value::Null));
    assert_eq!(operator.ask("GET", "/v1/settings/history?before=x", "").await.0, 400);
    let told = worker.report(configured(2)).await.unwrap().into_inner();
    assert_eq!(told.known.unwrap().settings, 3);
    let settings = told.directives.into_iter().find_map(|directive| match directive.kind {
        Some(v1::directive::Kind::Settings(settings)) => Some(settings),
        _ => None,
    });
    assert_eq!(settings.unwrap().version, 3);

    // Settings of a store that is no more go, also where this one has none.
    let empty = self::server(&[]).await;
    let elsewhere = v1::Known { epoch: 1, stops: 5, settings: 7 };
    let report = v1::ReportRequest { known: Some(elsewhere), ..report(Vec::new()) };
    let told = self::worker(&empty).await.report(report).await.unwrap().into_inner();
    let settings = v1::LiveSettings { version: 0, json: "{}".to_owned() };
    let directive = v1::Directive { kind: Some(v1::directive::Kind::Settings(settings)) };
    assert_eq!((told.directives, told.all_stops), (vec![directive], true));
}

/// Events as a reader gets them: id, kind and data.
async fn events(address: SocketAddr, query: &str, wanted: usize) -> Vec<(String, String, Value)> {
    let mut stream = BufReader::new(TcpStream::connect(address).await.unwrap());
    let request = format!("GET /v1/events{query} HTTP/1.1\r\nhost: localhost\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let (mut found, mut id, mut kind) = (Vec::new(), String::new(), String::new());
    while found.len() < wanted {
        let mut line = String::new();
        assert!(stream.read_line(&mut line).await.unwrap() > 0, "it ended");
        let line = line.trim_end();
        if let Some(text) = line.strip_prefix("id: ") {
            id = text.to_owned();
        } else if let Some(text) = line.strip_prefix("event: ") {
            kind = text.to_owned();
        } else if let Some(text) = line.strip_prefix("data: ") {
            found.push((id.clone(), kind.clone(), serde_json::from_str(text).unwrap()));
        }
    }
    found
}

#[tokio::test]
async fn whoever_follows_the_events_misses_none_that_is_kept() {
    let server = server(&[]).await;
    let address = server.running.addresses().metrics;
    let mut worker = worker(&server).await;
    let follower = tokio::spawn(events(address, "", 4));
    tokio::time::sleep(std::time::Duration::from_millis(400)).await;
    let ended = v1::Turn { end: v1::End::Text.into(), injections: 1, ..turn(2, names("b\u{202e}", "s")) };
    worker.report(report(vec![turn(1, names("a", "r")), ended])).await.unwrap();
    let kinds = |events: &[(String, String, Value)]| {
        events.iter().map(|(_, kind, _)| kind.clone()).collect::<Vec<_>>()
    };
    let live = follower.await.unwrap();
    assert_eq!(kinds(&live), ["run.started", "turn", "tool.call", "tool.result"]);
    assert_eq!(live[2].2["data"]["tool"], "read_file");
    let all = events(address, "?cursor=0-0", 10).await;
    assert_eq!(
        kinds(&all[4..]),
        ["run.started", "turn", "tool.call", "tool.result", "security.injection_detected", "run.completed"]
    );
    let rest = events(address, &format!("?cursor={}", all[7].0), 2).await;
    assert_eq!(rest, all[8..]);
    let some = events(address, "?cursor=0-0&kind=run.started,run.completed&tenant=t", 3).await;
    assert_eq!(kinds(&some), ["run.started", "run.started", "run.completed"]);
    let agent = events(address, "?cursor=0-0&agent=b%E2%80%AE&kind=turn", 1).await;
    assert_eq!(agent[0], all[5]);
    let mut operator = Operator::of(&server).await;
    for query in ["?cursor=now", "?kind=everything", "?agnet=a"] {
        assert_eq!(operator.ask("GET", &format!("/v1/events{query}"), "").await.0, 400, "{query}");
    }
}

#[tokio::test]
async fn a_store_that_is_away_is_said_and_reports_are_to_be_sent_again() {
    let mut redis = Redis::start().await;
    let server = server(&[("--redis-url", &redis.url())]).await;
    let mut worker = worker(&server).await;
    assert_eq!(worker.report(report(vec![turn(1, names("a", "r"))])).await.unwrap().into_inner().counted, 1);
    redis.kill();
    let refused = worker.report(report(vec![turn(2, names("a", "r"))])).await.unwrap_err();
    assert_eq!(refused.code(), Code::Unavailable);
    let mut operator = Operator::of(&server).await;
    let (status, answer) = operator.ask("GET", "/v1/runs", "").await;
    assert!(status == 503 && answer["error"].as_str().unwrap().contains("Redis"), "{answer}");
}
