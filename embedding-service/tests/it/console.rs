//! The console as a browser meets it: a real server, its pages, its forms and what it refuses.

use sentinel_proto::v1;

use crate::{
    control_api::{KEY, report, server, worker},
    control_suite::{names, turn},
    support::{Server, http::Pages},
};

/// A browser with a cookie.
struct Browser {
    pages: Pages,
    host: String,
    cookie: String,
}

/// An answer.
struct Page {
    status: u16,
    headers: Vec<(String, String)>,
    body: String,
}

impl Page {
    fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    /// The token of the page's forms.
    fn token(&self) -> String {
        let (_, rest) = self.body.split_once("name=\"token\" value=\"").unwrap();
        rest.split('"').next().unwrap().to_owned()
    }
}

fn encoded(fields: &[(&str, &str)]) -> String {
    let part = |text: &str| text.bytes().map(|byte| format!("%{byte:02x}")).collect::<String>();
    fields.iter().map(|(name, value)| format!("{}={}", part(name), part(value))).collect::<Vec<_>>().join("&")
}

impl Browser {
    async fn of(server: &Server) -> Self {
        let address = server.running.addresses().metrics;
        Self { pages: Pages::open(address).await, host: address.to_string(), cookie: String::new() }
    }

    async fn send(&mut self, method: &str, path: &str, more: &[(&str, &str)], body: &str) -> Page {
        let mut headers = vec![("host", self.host.as_str())];
        let cookie = format!("other=1; {}", self.cookie);
        headers.push(("cookie", &cookie));
        headers.extend(more.iter().filter(|(name, _)| *name != "host"));
        if let Some(host) = more.iter().find(|(name, _)| *name == "host") {
            headers[0] = *host;
        }
        let (status, headers, body) = self.pages.whole(method, path, &headers, body).await;
        let page = Page { status, headers, body };
        assert!(page.header("content-security-policy").contains("script-src 'self'"), "{path}");
        page
    }

    async fn get(&mut self, path: &str) -> Page {
        self.send("GET", path, &[], "").await
    }

    async fn post(&mut self, path: &str, fields: &[(&str, &str)]) -> Page {
        let kind = ("content-type", "application/x-www-form-urlencoded");
        self.send("POST", path, &[kind, ("sec-fetch-site", "same-origin")], &encoded(fields)).await
    }

    async fn log_in(&mut self) {
        let page = self.post("/console/login", &[("key", KEY), ("next", "/console/runs?agent=a")]).await;
        assert_eq!((page.status, page.header("location")), (303, "/console/runs?agent=a"));
        let set = page.header("set-cookie");
        assert!(set.contains("HttpOnly; SameSite=Strict"), "{set}");
        self.cookie = set.split(';').next().unwrap().to_owned();
    }
}

fn stuck(number: u64, names: v1::Names, kind: v1::verdict::Kind) -> v1::Turn {
    let step = v1::Step {
        tool: "read_file".to_owned(),
        arguments_digest: 1,
        outcome_digest: 2,
        kind: "failure".to_owned(),
        bytes: 84,
        repeated: true,
        ..v1::Step::default()
    };
    let verdict = v1::Verdict {
        kind: kind.into(),
        signal: "repeated_step".to_owned(),
        count: u32::try_from(number).unwrap(),
        tool: "read_file".to_owned(),
        enforced: true,
    };
    v1::Turn {
        verdict: Some(verdict),
        steps: vec![step],
        end: v1::End::Calls.into(),
        status: 200,
        cost_nano_usd: Some(40_000_000),
        ..turn(number, names)
    }
}

async fn with_a_stuck_run() -> Server {
    let server = server(&[]).await;
    let turns = (1..=4).map(|number| {
        let kind = if number < 3 { v1::verdict::Kind::Allow } else { v1::verdict::Kind::Hint };
        stuck(number, names("repo-fixer", "task"), kind)
    });
    worker(&server).await.report(report(turns.collect())).await.unwrap();
    server
}

async fn id_of_the_run(browser: &mut Browser) -> String {
    let page = browser.get("/console/runs").await;
    let (_, rest) = page.body.split_once("<a href=\"/console/runs/").unwrap();
    rest.split('"').next().unwrap().to_owned()
}

#[tokio::test]
async fn a_stuck_run_is_seen_read_and_stopped_and_the_worker_is_told() {
    let server = with_a_stuck_run().await;
    let mut browser = Browser::of(&server).await;
    let now = browser.get("/console").await;
    assert_eq!(now.status, 200);
    let sentence =
        "<code><bdi>read_file</bdi></code> failed 4 times with the same error; the model was told twice.";
    for wanted in [sentence, "Needs somebody", "$0.160", "2 hints and 0 kills", "1 report"] {
        assert!(now.body.contains(wanted), "{wanted}: {}", now.body);
    }
    assert!(!now.body.contains("method=\"post\""), "who has not logged in is shown no form");

    let path = format!("/console/runs/{}", id_of_the_run(&mut browser).await);
    browser.log_in().await;
    let run = browser.get(&path).await;
    assert!(run.body.contains(sentence) && run.body.contains("4 of 4"), "{}", run.body);
    let token = run.token();
    let order = [("token", token.as_str()), ("reason", "too dear"), ("author", "anna"), ("back", &path)];
    let stopped = browser.post(&format!("{path}/stop"), &order).await;
    assert_eq!((stopped.status, stopped.header("location")), (303, path.as_str()));
    let run = browser.get(&path).await;
    assert!(run.body.contains("too dear") && run.body.contains("Lift the stop"), "{}", run.body);
    let reply = worker(&server).await.report(report(Vec::new())).await.unwrap().into_inner();
    assert_eq!(reply.directives.len(), 1, "the worker is told");

    let (_, rest) = run.body.split_once("action=\"/console/stops/").unwrap();
    let lift = format!("/console/stops/{}", rest.split('"').next().unwrap());
    assert_eq!(
        browser.post(&lift, &[("token", &token), ("back", "//evil.example")]).await.header("location"),
        "/console"
    );
    assert!(!browser.get(&path).await.body.contains("too dear"));
}

#[tokio::test]
async fn many_runs_are_stopped_after_the_number_was_shown() {
    let server = server(&[]).await;
    let turns =
        (1..=3).map(|number| stuck(number, names("a", &format!("run-{number}")), v1::verdict::Kind::Allow));
    worker(&server).await.report(report(turns.collect())).await.unwrap();
    let mut browser = Browser::of(&server).await;
    browser.log_in().await;
    let page = browser.get("/console/runs?sort=cost").await;
    let ids: Vec<&str> = page
        .body
        .split("name=\"run\" value=\"")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap())
        .collect();
    assert_eq!(ids.len(), 3);
    let token = page.token();
    let chosen = [("token", token.as_str()), ("run", ids[0]), ("run", ids[1]), ("run", "nobody")];
    let ask = browser.post("/console/stops/ask", &chosen).await;
    assert!(
        ask.body.contains("Stop 2 runs?") && ask.body.contains("1 run that you chose has ended"),
        "{}",
        ask.body
    );
    assert!(browser.get("/console/stops").await.body.contains("No stop stands"), "asking stops nobody");
    assert_eq!(browser.post("/console/stops", &chosen).await.status, 303);
    assert_eq!(browser.get("/console/stops").await.body.matches("Lift the stop of").count(), 2);
}

#[tokio::test]
async fn nothing_is_changed_without_key_token_and_a_page_of_ours() {
    let server = with_a_stuck_run().await;
    let mut browser = Browser::of(&server).await;
    let path = format!("/console/runs/{}/stop", id_of_the_run(&mut browser).await);
    assert_eq!(browser.post(&path, &[]).await.status, 401, "nobody has logged in");
    let wrong = browser.post("/console/login", &[("key", "a-key-for-the-testS")]).await;
    assert!(wrong.status == 401 && wrong.header("set-cookie").is_empty(), "{}", wrong.status);
    browser.log_in().await;
    let token = browser.get("/console/runs").await.token();
    assert_eq!(browser.post(&path, &[]).await.status, 403, "no token");
    assert_eq!(browser.post(&path, &[("token", "0")]).await.status, 403, "another token");
    let body = encoded(&[("token", &token)]);
    for other in
        [("sec-fetch-site", "cross-site"), ("origin", "http://evil.example"), ("host", "evil.example")]
    {
        let kind = ("content-type", "application/x-www-form-urlencoded");
        assert_eq!(browser.send("POST", &path, &[kind, other], &body).await.status, 403, "{other:?}");
    }
    assert_eq!(browser.send("GET", "/console", &[("host", "evil.example")], "").await.status, 403);
    assert_eq!(browser.get(&path).await.status, 405, "nothing is changed by GET");
    assert!(browser.get("/console/stops").await.body.contains("No stop stands"));
    assert_eq!(browser.post("/console/logout", &[("token", &token)]).await.status, 303);
}

#[tokio::test]
async fn where_others_can_come_every_page_asks_for_the_key() {
    let server = server(&[("--metrics-addr", "0.0.0.0:0")]).await;
    let address = format!("127.0.0.1:{}", server.running.addresses().metrics.port());
    let pages = Pages::open(address.parse().unwrap()).await;
    let mut browser = Browser { pages, host: "sentinel.example".to_owned(), cookie: String::new() };
    for path in
        ["/console", "/console/runs?agent=a&b=c", "/console/agents", "/console/runs/x", "/console/settings"]
    {
        let page = browser.get(path).await;
        assert_eq!(page.status, 303, "{path}");
        assert!(page.header("location").starts_with("/console/login?next=%2Fconsole"), "{path}");
    }
    assert_eq!(browser.get("/console/live").await.status, 401);
    assert_eq!(browser.get("/console/login").await.status, 200);
    browser.log_in().await;
    assert_eq!(browser.get("/console").await.status, 200);
    browser.cookie = format!("{}0", browser.cookie);
    assert_eq!(browser.get("/console").await.status, 303, "a cookie that was changed is none");
    let key = format!("Bearer {KEY}");
    assert_eq!(
        browser.send("GET", "/console", &[("authorization", &key)], "").await.status,
        200,
        "a gateway may add it"
    );
}

#[tokio::test]
async fn names_of_any_kind_are_only_names() {
    let server = server(&[]).await;
    let evil = "</title><script>alert(1)</script>\"'><img src=x onerror=alert(2)>\u{202e}\n\0".repeat(8);
    let names = v1::Names {
        tenant: evil.clone(),
        client: evil.clone(),
        agent: evil.clone(),
        run: evil.clone(),
        history: 0,
    };
    let mut turn = stuck(3, names, v1::verdict::Kind::Hint);
    turn.model = evil.clone();
    turn.verdict.as_mut().unwrap().tool = evil.clone();
    worker(&server).await.report(report(vec![turn])).await.unwrap();
    let mut browser = Browser::of(&server).await;
    browser.log_in().await;
    let path = format!("/console/runs/{}", id_of_the_run(&mut browser).await);
    for path in ["/console", "/console/runs", path.as_str(), "/console/agents", "/console/settings"] {
        let page = browser.get(path).await;
        assert_eq!(page.status, 200, "{path}");
        assert!(!page.body.contains("<script>") && !page.body.contains("<img"), "{path}");
        assert!(page.body.contains("&lt;script&gt;"), "{path} shows the name as a text");
    }
}

#[tokio::test]
async fn an_open_page_is_told_of_changes() {
    let server = with_a_stuck_run().await;
    let mut stream = Pages::open(server.running.addresses().metrics).await;
    let host = server.running.addresses().metrics.to_string();
    stream.begin("/console/live", &[("host", &host)]).await;
    stream.until("event: changed").await;
    let turns = vec![stuck(5, names("repo-fixer", "task"), v1::verdict::Kind::Hint)];
    worker(&server).await.report(report(turns)).await.unwrap();
    stream.until("event: changed").await;
    let mut browser = Browser::of(&server).await;
    browser.log_in().await;
    let token = browser.get("/console/runs").await.token();
    let order = [("token", token.as_str()), ("agent", "repo-fixer"), ("back", "/console/agents")];
    assert_eq!(browser.post("/console/stops/agent", &order).await.status, 303);
    stream.until("event: changed").await;
    let agents = browser.get("/console/agents").await;
    assert!(agents.body.contains("■ stopped"), "{}", agents.body);
}

#[tokio::test]
async fn assets_are_served_for_good_and_pages_are_not_kept() {
    let server = server(&[]).await;
    let mut browser = Browser::of(&server).await;
    let page = browser.get("/console").await;
    assert_eq!(page.header("cache-control"), "no-store");
    assert!(page.body.contains("Nothing needs you") && page.body.contains("No agent has sent a request yet"));
    let sources: Vec<&str> =
        page.body.split(['"']).filter(|part| part.starts_with("/console/assets/")).collect();
    assert_eq!(sources.len(), 5);
    for source in sources {
        let asset = browser.get(source).await;
        assert_eq!((asset.status, asset.header("x-content-type-options")), (200, "nosniff"), "{source}");
        assert!(asset.header("cache-control").contains("immutable"), "{source}");
    }
    for missing in ["/console/assets/0/live.js", "/console/nothing", "/console/runs/nobody"] {
        assert_eq!(browser.get(missing).await.status, 404, "{missing}");
    }
}

#[tokio::test]
async fn a_setting_is_changed_and_brought_back_and_the_second_editor_is_told() {
    let server = with_a_stuck_run().await;
    let mut browser = Browser::of(&server).await;
    browser.log_in().await;
    let page = browser.get("/console/settings").await;
    assert!(page.body.contains("Nothing was changed") && page.body.contains("repo-fixer"), "{}", page.body);
    let token = page.token();
    let observe = [
        ("token", token.as_str()),
        ("agent", "repo-fixer"),
        ("observe", "true"),
        ("version", "0"),
        ("back", "/console/settings"),
    ];
    assert_eq!(browser.post("/console/settings/observe", &observe).await.status, 303);
    let page = browser.get("/console/settings").await;
    assert!(page.body.contains("only observed") && page.body.contains("Judge it again"), "{}", page.body);
    let save = |settings: &'static str, version: &'static str| {
        [("settings", settings), ("version", version), ("author", "anna"), ("reason", "too strict")]
    };
    let mut post_to = async |path: &'static str, fields: [(&'static str, &'static str); 4]| {
        let fields = [&[("token", token.as_str())][..], &fields].concat();
        browser.post(path, &fields).await
    };
    let asked = post_to("/console/settings/ask", save(r#"{"agents": []}"#, "1")).await;
    assert!(asked.status == 200 && asked.body.contains("Change the settings?"), "{}", asked.body);
    let second = post_to("/console/settings/ask", save(r#"{"agents": []}"#, "0")).await;
    assert!(
        second.status == 409
            && second.body.contains("{&quot;agents&quot;: []}") | second.body.contains("{\"agents\": []}"),
        "{}",
        second.body
    );
    let mut post = async |fields| post_to("/console/settings", fields).await;
    let invalid = post(save(r#"{"agents": [{"name": "a", "settings": {"nonsense": 1}}]}"#, "1")).await;
    assert!(invalid.status == 400 && invalid.body.contains("nonsense"), "{}", invalid.body);
    let broken = post(save("{", "1")).await;
    assert!(broken.status == 400 && broken.body.contains("Not changed"), "{}", broken.body);
    assert_eq!(post(save("{}", "1")).await.status, 303);
    assert_eq!(post(save(r#"{"agents": []}"#, "1")).await.status, 409, "somebody was faster");
    let back = [("token", token.as_str()), ("to", "1"), ("version", "2"), ("author", "bea")];
    assert_eq!(browser.post("/console/settings/rollback", &back).await.status, 303);
    let page = browser.get("/console/settings").await;
    for wanted in ["Version <b>3</b>", "as version 1 was", "Version 2", "too strict", "only observed"] {
        assert!(page.body.contains(wanted), "{wanted}: {}", page.body);
    }
}

/// The run was told at the third repetition. From what is on record follows what other settings would have done, or that it does not follow.
#[tokio::test]
async fn a_change_is_tried_on_what_is_on_record() {
    let server = with_a_stuck_run().await;
    let mut browser = Browser::of(&server).await;
    browser.log_in().await;
    let page = browser.get("/console/settings/agent?agent=repo-fixer").await;
    assert!(page.body.contains("The filter kills from this count on."), "{}", page.body);
    let token = page.token();
    for (field, value, wanted) in [
        ("set.steps.repeated_step.hint", "5", "<b>1 run</b> would not have been told"),
        ("set.steps.enabled", "false", "<b>1 run</b> would not have been told"),
        ("set.run_limit", "0", "none is of an agent that it changes anything for"),
        ("set.steps.window", "9", "<code>steps.window</code>"),
        ("set.score.hint", "6", "<code>score</code>: runs do not keep their score"),
    ] {
        let fields = [("token", token.as_str()), ("agent", "repo-fixer"), ("version", "0"), (field, value)];
        let asked = browser.post("/console/settings/ask", &fields).await;
        assert!(asked.status == 200 && asked.body.contains(wanted), "{field}: {}", asked.body);
    }
    let invalid =
        [("token", token.as_str()), ("agent", "repo-fixer"), ("version", "0"), ("set.run_limit", "many")];
    let refused = browser.post("/console/settings/ask", &invalid).await;
    assert!(
        refused.status == 400 && refused.body.contains("agents[0].settings.run_limit"),
        "{}",
        refused.body
    );
    assert!(refused.body.contains("value=\"many\""), "what was typed in is still there: {}", refused.body);
}

#[tokio::test]
async fn a_budget_is_raised_after_it_was_said_what_that_means() {
    let server = server(&[]).await;
    let mut worker = worker(&server).await;
    let configuration =
        r#"{"budgets": [{"name": "each-task", "per": "run", "limits": {"usd": 0.5, "requests": 2}}]}"#;
    let of_configuration = v1::ReportRequest {
        configuration: configuration.to_owned(),
        configuration_digest: 9,
        ..report(Vec::new())
    };
    worker.report(of_configuration).await.unwrap();
    let amount = |unit: v1::Unit, value| v1::Amount { unit: unit.into(), value };
    let reserve = v1::ReserveRequest {
        worker: Some(v1::Worker { envoy: 7, number: 0 }),
        names: Some(names("repo-fixer", "task")),
        configuration_digest: 9,
        provider: "openai".to_owned(),
        model: "gpt-4o-mini".to_owned(),
        probable: vec![amount(v1::Unit::Requests, 1), amount(v1::Unit::NanoUsd, 600_000_000)],
        ..v1::ReserveRequest::default()
    };
    let refused = worker.reserve(reserve.clone()).await.unwrap().into_inner();
    assert!(refused.budgets[0].refused.is_some());
    let mut browser = Browser::of(&server).await;
    browser.log_in().await;
    let page = browser.get("/console/budgets").await;
    for wanted in ["each-task", "$0.500", "0 of 2 requests", "repo-fixer"] {
        assert!(page.body.contains(wanted), "{wanted}: {}", page.body);
    }
    let token = page.token();
    let raise = [("token", token.as_str()), ("budget", "each-task"), ("usd", "2"), ("requests", "2")];
    let ask = browser.post("/console/budgets/ask", &raise).await;
    assert!(
        ask.body.contains("$0.500 → <b>$2.00</b>") && ask.body.contains("2 requests, as before"),
        "{}",
        ask.body
    );
    for wanted in [
        "Of 1 account, 1 reached a limit. With the new limits that would have been <b>0</b>.",
        "would have gone on",
    ] {
        assert!(ask.body.contains(wanted), "{wanted}: {}", ask.body);
    }
    let raise = [&raise[..], &[("version", "0"), ("author", "anna")]].concat();
    let raised = browser.post("/console/budgets", &raise).await;
    assert_eq!((raised.status, raised.header("location")), (303, "/console/budgets"), "{}", raised.body);
    let granted = worker.reserve(reserve).await.unwrap().into_inner();
    assert!(granted.budgets[0].refused.is_none(), "the run goes on");
    assert_eq!(browser.post("/console/budgets", &raise).await.status, 409, "somebody was faster");
}
