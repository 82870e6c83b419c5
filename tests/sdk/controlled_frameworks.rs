//! Agent frameworks that an operator stops, or whose budget is spent, while they work: between two requests, and in the middle of a
//! stream. Each ends with an error or a final message that says so, and asks no more than it does after any error.

use std::collections::HashMap;
use std::process::Command;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use hyper::Method;
use sentinel_harness::operator::{Operator, until};
use sentinel_harness::provider::{Answer, Gate, Piece, Received, faithful};
use sentinel_harness::{Dialect, Stack, client, parts};
use serde_json::{Value, json};

use crate::frameworks::framework;
use crate::scripted_model::{ScriptedModel, scene};
use crate::{folder, run};

/// The number of the answer that waits until the stop holds, for an agent that is stopped between two requests.
const STOPPED_AT: usize = 3;
/// The same for an agent that is stopped in the middle of an answer.
const CUT_AT: usize = 2;
/// Requests that the budget of each run allows.
const BUDGET: usize = 5;
/// An agent that is stopped after the other one, through the same operator: if its stop holds, that of the other agent holds too.
const PROBE: &str = "400.tool.probe";

/// An agent whose answer waits for its stop.
type Held = (String, Gate);

/// What a script has.
struct Script {
    command: Command,
    /// Ways to run an agent, and those of them that a final message ends.
    ways: usize,
    final_messages: usize,
    /// How often the framework sends a request again that was refused.
    retries: usize,
}

fn stack(operator: &Operator) -> Stack {
    let config = json!({
        "semantic": {"enabled": false},
        "control": {"enabled": true},
        "budgets": [{"name": "each-task", "limits": {"requests": BUDGET}, "warn_at": 1.0}],
        "agents": [{"prefix": "final.", "settings": {"kill": {"mode": "final_message"}}}],
    });
    let settings = operator.settings();
    let settings = settings.each_ref().map(|(name, value)| (*name, value.as_str()));
    // With one worker a stop that holds for one request holds for the next.
    Stack::builder().config(&config).service_with(&settings).workers(1).start()
}

/// The model's answers, some of which wait until their agents are stopped.
fn script(stack: &Stack, held: mpsc::Sender<Held>) {
    let model = ScriptedModel::new();
    let turns: Mutex<HashMap<String, usize>> = Mutex::default();
    stack.provider.script(move |request: &Received| {
        let agent = request.header("x-agent-id").expect("the agent has a name").to_owned();
        if agent.starts_with(PROBE) {
            return faithful(request);
        }
        let turn = {
            let mut turns = turns.lock().expect("no one panics with it");
            let turn = turns.entry(agent.clone()).or_default();
            *turn += 1;
            *turn
        };
        let mut answer = model.answer(request);
        let gate = Gate::closed();
        match (scene(&agent), turn) {
            ("stopped", STOPPED_AT) => answer.pieces.insert(0, Piece::Await(gate.clone())),
            ("cut", CUT_AT) => answer = in_two(answer).gated(&gate),
            _ => return answer,
        }
        held.send((agent, gate)).expect("the operator is there");
        answer
    });
}

/// A stream as two pieces: its first event, and the rest.
fn in_two(mut answer: Answer) -> Answer {
    let rest: Vec<u8> = answer
        .pieces
        .drain(1..)
        .flat_map(|piece| match piece {
            Piece::Bytes(bytes) => bytes.to_vec(),
            other => panic!("{other:?} in an answer of the script"),
        })
        .collect();
    answer.pieces.push(Piece::Bytes(rest.into()));
    answer
}

/// Stops the agents whose answers wait, and lets the answers go on as soon as their stops hold.
fn operate(operator: &Operator, gateway: std::net::SocketAddr, held: mpsc::Receiver<Held>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    for (number, (agent, gate)) in held.into_iter().enumerate() {
        runtime.block_on(async {
            let probe = format!("{PROBE}.{number}");
            for name in [&agent, &probe] {
                let stop = json!({"agent": name, "author": "eve", "reason": "enough of it"});
                operator.ask(Method::POST, "/v1/stops", &stop).await;
            }
            until(&format!("the stop of {agent} holds"), async || {
                let chat = Dialect::OpenaiChat;
                let body = chat.ask("Are you still there, or were you stopped?", false).to_string();
                let answer = client::post(gateway, chat.path(false), &[("x-agent-id", &probe)], body).await;
                (answer.reason() == "stopped").then_some(())
            })
            .await;
        });
        gate.open();
    }
}

/// Runs the agents of a script, and then looks at what the provider has got of each, and at what the service says of it.
fn play(mut script_of: Script) {
    let operator = Arc::new(Operator::on_a_free_port());
    let mut stack = stack(&operator);
    let (held, waiting) = mpsc::channel();
    script(&stack, held);
    let (its, gateway) = (Arc::clone(&operator), stack.address());
    thread::spawn(move || operate(&its, gateway, waiting));
    let Script { ways, final_messages, retries, .. } = script_of;
    script_of
        .command
        .env("SENTINEL_SCENES", "stopped spent")
        .env("SENTINEL_ONCE", "")
        .env("SENTINEL_CONTROL", "yes");
    run(&mut stack, script_of.command, ways * 2 + final_messages);
    let mut agents: HashMap<String, usize> = HashMap::new();
    for got in stack.provider.received() {
        let agent = got.header("x-agent-id").expect("the agent has a name");
        if !agent.starts_with(PROBE) {
            *agents.entry(agent.to_owned()).or_default() += 1;
        }
    }
    assert_eq!(agents.len(), ways * 2 + final_messages, "{agents:?}");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    for (agent, got) in agents {
        let is_final = agent.starts_with("final.");
        // What the provider answers, what is refused, and how the run ends.
        let (answered, refused, status) = match scene(&agent) {
            "stopped" => (STOPPED_AT, 1 + retries, "stopped"),
            "spent" if is_final => (BUDGET, 1, "killed"),
            "spent" => (BUDGET, 1 + retries, "killed"),
            "cut" => (CUT_AT, 0, "stopped"),
            other => panic!("{agent} plays {other:?}"),
        };
        assert_eq!(got, answered, "{agent}");
        let path = format!("/v1/runs?agent={agent}");
        let run = runtime.block_on(until(&format!("the turns of {agent} are known"), async || {
            let runs = operator.ask(Method::GET, &path, &Value::Null).await;
            let is_known = |run: &&Value| run["turns"].as_u64() >= Some((answered + refused) as u64);
            runs["runs"].get(0).filter(is_known).cloned()
        }));
        assert_eq!((&run["turns"], &run["status"]), (&json!(answered + refused), &json!(status)), "{run}");
    }
}

#[test]
fn langchain() {
    play(Script { command: framework("on_langchain.py"), ways: 3, final_messages: 3, retries: 0 });
}

#[test]
fn openai_agents() {
    play(Script { command: framework("on_openai_agents.py"), ways: 4, final_messages: 4, retries: 0 });
}

#[test]
fn pydantic_ai() {
    play(Script { command: framework("on_pydantic_ai.py"), ways: 4, final_messages: 4, retries: 0 });
}

#[test]
fn smolagents() {
    play(Script { command: framework("on_smolagents.py"), ways: 4, final_messages: 0, retries: 0 });
}

/// It tries nine times more, as after every error with status 400.
#[test]
fn mini_swe_agent() {
    play(Script { command: framework("on_litellm.py"), ways: 1, final_messages: 0, retries: 9 });
}

#[test]
fn vercel_ai_sdk() {
    let mut command = Command::new(parts::node());
    command.arg(folder().join("frameworks").join("on_ai_sdk.mjs"));
    command.env("SENTINEL_NODE_FRAMEWORKS", parts::node_frameworks());
    play(Script { command, ways: 4, final_messages: 4, retries: 0 });
}
