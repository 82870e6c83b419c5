//! Rights follow who proved to be somebody: the client of the key, on envoy/production.yaml as it is shipped. What an agent says of
//! itself takes nothing away from that.

use sentinel_harness::client::{self, Response};
use sentinel_harness::gateway::{ALICE, BOB, Client, Gateway, key_header, path};
use sentinel_harness::{Dialect, Stack};
use serde_json::{Value, json};

use crate::support::CHAT;

fn gateway(agents: &Value) -> Gateway {
    let shipped = r#""identity": {"principal": "x-sentinel-client", "clients": []}"#;
    let edited = format!(r#"{shipped}, "semantic": {{"enabled": false}}, "agents": {agents}"#);
    Gateway::builder().edit(shipped, &edited).start()
}

async fn post(
    gateway: &Gateway,
    dialect: Dialect,
    client: Client,
    headers: &[(&str, &str)],
    body: &Value,
) -> Response {
    let (name, key) = key_header(dialect, client.key);
    let headers: Vec<(&str, &str)> = headers.iter().copied().chain([(name, key.as_str())]).collect();
    gateway.post(path(dialect), &headers, body.to_string()).await
}

fn with_tool(dialect: Dialect) -> Value {
    let mut body = dialect.ask("Tidy up the folder, please.", false);
    body["tools"] = json!([{"type": "function", "function": {"name": "rm"}}, {"type": "function", "function": {"name": "ls"}}]);
    body
}

#[tokio::test]
async fn a_client_keeps_its_rights_whatever_its_agents_call_themselves() {
    let gateway = gateway(&json!([
        {"client": "alice", "prefix": "cleaner-", "settings": {"tools": {"deny": [{"name": "ls"}]}}},
        {"client": "alice", "settings": {"tools": {"deny": [{"name": "rm"}]}}},
        {"name": "trusted", "settings": {"mode": "observe"}},
    ]));
    for (client, headers, denied) in [
        (ALICE, &[][..], "rm"),
        (ALICE, &[("x-agent-id", "trusted")], "rm"),
        (ALICE, &[("x-sentinel-client", "bob")], "rm"),
        (ALICE, &[("x-sentinel-client", "bob"), ("x-agent-id", "trusted")], "rm"),
        (ALICE, &[("x-agent-id", "cleaner-1")], "ls"),
        (BOB, &[], "none"),
        (BOB, &[("x-agent-id", "cleaner-1")], "none"),
        (BOB, &[("x-sentinel-client", "alice")], "none"),
    ] {
        let response = post(&gateway, CHAT, client, headers, &with_tool(CHAT)).await;
        assert_eq!((response.status, response.verdict()), (200, "allow"), "{client:?} {headers:?}");
        let got = String::from_utf8_lossy(&gateway.provider.last().body).into_owned();
        for tool in ["rm", "ls"] {
            assert_eq!(
                got.contains(&format!(r#""name":"{tool}""#)),
                tool != denied,
                "{client:?} {headers:?}: {got}"
            );
        }
    }
    // Entries are told apart in metrics, by the operator's words.
    for (agent, times) in [("alice/*", 4), ("alice/cleaner-*", 1), ("other", 3)] {
        assert_eq!(gateway.count("sentinel_verdicts_total", &[("agent", agent)]), times, "{agent}");
    }
}

#[tokio::test]
async fn a_client_can_be_limited_to_models() {
    let models =
        json!([{"name": "GPT-4o-mini"}, {"prefix": "claude-sonnet"}, {"prefix": "gemini-2.5-flash"}]);
    let gateway = gateway(&json!([{"client": "alice", "settings": {"models": models}}]));
    let dialects = [Dialect::OpenaiChat, Dialect::OpenaiResponses, Dialect::Anthropic, Dialect::Gemini];
    for dialect in dialects {
        let mut body = dialect.ask("What is the weather like in Oslo today?", false);
        assert_eq!(post(&gateway, dialect, ALICE, &[], &body).await.status, 200, "{dialect:?}");
        // Gemini's body need not name one.
        if dialect != Dialect::Gemini {
            body["model"] = json!("gpt-5-pro");
        }
        let other = if dialect == Dialect::Gemini {
            let (name, key) = key_header(dialect, ALICE.key);
            let path = path(dialect).replace("gemini-2.5-flash", "gemini-2.5-pro");
            gateway.post(&path, &[(name, key.as_str())], body.to_string()).await
        } else {
            post(&gateway, dialect, ALICE, &[("x-agent-id", "bob")], &body).await
        };
        let model = if dialect == Dialect::Gemini { "gemini-2.5-pro" } else { "gpt-5-pro" };
        assert_eq!((other.status, other.verdict()), (400, "kill"), "{dialect:?}: {:?}", other.body);
        assert_eq!(other.reason(), format!("model_denied; model={model}"), "{dialect:?}");
        assert!(dialect.error_message(&other.json()).contains(model), "{dialect:?}");
        assert_eq!(post(&gateway, dialect, BOB, &[], &body).await.status, 200, "{dialect:?}");
    }
    let ask = |more: Value| {
        let mut body = CHAT.ask("What is the weather like in Oslo today?", false);
        body.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        body
    };
    for (more, reason) in [
        (json!({"model": "gpt-4o"}), "model_denied; model=gpt-4o"),
        (json!({"model": "gpt-4o-mini-search"}), "model_denied; model=gpt-4o-mini-search"),
        (json!({"model": ""}), "model_denied"),
        (json!({"model": null}), "model_denied"),
        (json!({"models": ["gpt-4o-mini", "gpt-5-pro"]}), "model_denied; model=gpt-5-pro"),
        (json!({"fallbacks": [{"model": "gpt-5-pro"}]}), "model_denied; model=gpt-5-pro"),
    ] {
        let response = post(&gateway, CHAT, ALICE, &[], &ask(more.clone())).await;
        assert_eq!((response.status, response.reason()), (400, reason), "{more}");
    }
    let twice = ask(json!({})).to_string().replacen('{', r#"{"model":"gpt-5-pro","#, 1);
    let (name, key) = key_header(CHAT, ALICE.key);
    let response = gateway.post(path(CHAT), &[(name, key.as_str())], twice).await;
    assert_eq!(response.reason(), "unreadable; cause=shape");
    for more in [json!({"model": "GPT-4O-MINI"}), json!({"models": ["gpt-4o-mini"]})] {
        assert_eq!(post(&gateway, CHAT, ALICE, &[], &ask(more.clone())).await.status, 200, "{more}");
    }
}

/// Where the path says more than the body: Azure's deployments, and the providers that have the model there. A router before them may go by
/// the body.
#[tokio::test]
async fn the_model_in_the_path_counts_and_so_does_the_bodys() {
    let config = json!({"semantic": {"enabled": false}, "models": [{"prefix": "small"}]});
    let mut stack = Stack::builder().config(&config).start();
    for (path, model, status) in [
        ("/openai/deployments/small-1/chat/completions?api-version=1", "small", 200),
        ("/openai/deployments/large/chat/completions?api-version=1", "small", 400),
        ("/openai/Deployments/l%61rge/chat/completions", "small", 400),
        ("/openai/deployments/small/chat/completions", "large", 400),
        ("/v1beta/models/small:generateContent", "models/small", 200),
        ("/v1beta/models/small:generateContent", "large", 400),
        ("/v1beta/models/large:generateContent", "small", 400),
        ("/model/small-v1%3A0/converse", "small", 200),
        ("/model/small-v1%3A0/converse", "large", 400),
        ("/model/large-v1%3A0/converse", "small", 400),
    ] {
        let dialect = match path {
            path if path.contains("generateContent") => Dialect::Gemini,
            path if path.ends_with("converse") => Dialect::Bedrock,
            _ => CHAT,
        };
        let mut body = dialect.ask("What is the weather like in Oslo today?", false);
        body["model"] = json!(model);
        let response = client::post(stack.address(), path, &[], body.to_string()).await;
        assert_eq!(response.status, status, "{path} {model}: {:?}", response.body);
    }
    // An agent of the provider answers in a model's place.
    let mut body = Dialect::GeminiInteractions.ask("What is the weather like in Oslo today?", false);
    body["model"] = json!("small");
    assert_eq!(stack.post(Dialect::GeminiInteractions, &[], body.to_string()).await.status, 200);
    body["agent"] = json!("deep-research");
    let response = stack.post(Dialect::GeminiInteractions, &[], body.to_string()).await;
    assert_eq!(response.reason(), "model_denied; model=deep-research");
    stack.assert_sound();
}
