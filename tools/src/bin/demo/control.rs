//! The scene in which an operator has a say: one agent is stopped through the API, another runs into its budget and goes on when that is
//! raised.

use std::time::Duration;

use sentinel_harness::operator::Method;
use sentinel_harness::provider::{Answer, Received, faithful};
use serde_json::{Value, json};

use crate::stage::{SPENDER, Stage, budgets};
use crate::table::Table;

/// Each answer to the spender costs nine tenths of a cent, and is another for each part that it asks about.
fn dear(request: &Received) -> Answer {
    if request.header("x-agent-id") != Some(SPENDER) {
        return faithful(request);
    }
    let part: usize =
        request.body.iter().filter(|byte| byte.is_ascii_digit()).map(|digit| usize::from(digit - b'0')).sum();
    let letters = format!("This part of the archive holds {} letters.", 412 + 7 * part);
    let message = json!({"role": "assistant", "content": letters});
    Answer::json(
        200,
        &json!({
            "model": "gpt-4o-mini",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 40_000, "completion_tokens": 5_000},
        }),
    )
}

pub async fn stopped_and_spent(stage: &Stage) -> bool {
    let operator = stage.operator().expect("the service is our own");
    let mut table =
        Table::new("7. An operator stops an agent, and another has a budget of 3 cents (control)");
    stage.provider().script(dear);
    table.ask(stage, "runaway", "Move the archive of 2019 to the new store").await;
    let stop = json!({"agent": "runaway", "author": "eve", "reason": "the new store is full"});
    operator.ask(Method::POST, "/v1/stops", &stop).await;
    table.note(&format!("--- the operator: POST /v1/stops {stop} ---"));
    let took = until_stopped(stage).await;
    table.note(&format!("it held {took:.1} s later"));
    let stopped = table.ask(stage, "runaway", "Move the archive of 2020 to the new store").await;
    table.note(&format!("the agent was told: {} {}", stopped.status, String::from_utf8_lossy(&stopped.body)));
    for part in 1..=4 {
        let spent =
            table.ask(stage, SPENDER, &format!("Count the letters in part {part} of the archive")).await;
        if spent.verdict() == "kill" {
            table.note(&format!("the agent was told: {}", String::from_utf8_lossy(&spent.body)));
        }
    }
    let current = operator.ask(Method::GET, "/v1/settings", &Value::Null).await;
    let raised = json!({"version": current["version"], "author": "eve", "reason": "it is worth it",
        "settings": {"budgets": budgets(0.06)}});
    operator.ask(Method::PUT, "/v1/settings", &raised).await;
    table.note("--- the operator: PUT /v1/settings with 6 cents ---");
    table.ask(stage, SPENDER, "Count the letters in part 4 of the archive").await;
    stage.provider().script(faithful);
    table.end(
        "stopped by the operator; three answers, then the budget; raised, the same run goes on",
        |steps| {
            let verdicts: Vec<&str> = steps.iter().map(|step| step.verdict.as_str()).collect();
            verdicts == ["allow", "kill", "allow", "allow", "allow", "kill", "allow"]
        },
    )
}

/// Asks as the stopped agent until it is refused. Returns the seconds that it took.
async fn until_stopped(stage: &Stage) -> f64 {
    let began = std::time::Instant::now();
    for number in 0..500 {
        let answer = stage.ask("runaway", &format!("Are you done with file {number} of the archive?")).await;
        if answer.reason() == "stopped" {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    began.elapsed().as_secs_f64()
}
