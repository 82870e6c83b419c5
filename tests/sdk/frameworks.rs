//! Agent frameworks against the stack.

use sentinel_tests::Stack;
use serde_json::json;

use crate::scripted_model::ScriptedModel;

fn stack() -> Stack {
    let mut agents: Vec<_> = [400, 401, 404, 422]
        .iter()
        .map(|status| json!({"prefix": format!("{status}."), "settings": {"kill": {"status": status}}}))
        .collect();
    agents.push(json!({"prefix": "final.", "settings": {"kill": {"mode": "final_message"}}}));
    let stack = Stack::builder().config(&json!({"semantic": {"enabled": false}, "agents": agents})).start();
    let model = ScriptedModel::new();
    stack.provider.script(move |request| model.answer(request));
    stack
}

#[test]
#[ignore]
fn stay_up() {
    let stack = stack();
    eprintln!("UP {} {}", stack.address(), stack.envoy.admin());
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
}
