//! The agents of the demo.

use std::time::Duration;

use sentinel_harness::Dialect;
use sentinel_harness::provider::{Reply, faithful, reply::text_for, speak};
use sentinel_harness::said::short;
use serde_json::json;

use crate::stage::{CACHED, Stage};
use crate::table::{Table, all_allowed, all_untouched};

/// A tool that fails the same way each time: the agent of the README.
pub async fn failing_tool(stage: &Stage) -> bool {
    let mut table = Table::new("1. An agent calls a tool that fails the same way each time");
    let mut turns = vec![json!({"role": "user", "content": "Sum up the report in report.md."})];
    let mut last = None;
    for step in 1..=6 {
        let body = Dialect::OpenaiChat.with_turns(turns.clone(), false).to_string();
        let said =
            if step == 1 { "Sum up the report in report.md." } else { "Error: report.md: no such file" };
        let response = table.send(stage, "reader", said, body).await;
        if step == 4 && response.verdict() == "hint" {
            let told = stage.provider().last().json();
            let content = told["messages"].as_array().and_then(|all| all.last()?["content"].as_str());
            let hint = content.and_then(|content| content.rsplit("\n\n").next()).unwrap_or_default();
            table.note(&format!("the model was told: \"{hint}\""));
        }
        last = Some(response);
        let call = json!({"id": format!("call_{step}"), "type": "function",
            "function": {"name": "read_file", "arguments": "{\"path\": \"report.md\"}"}});
        turns.push(json!({"role": "assistant", "content": null, "tool_calls": [call]}));
        turns.push(json!({"role": "tool", "tool_call_id": format!("call_{step}"), "content": "Error: report.md: no such file"}));
    }
    if let Some(response) = last {
        table.note(&format!(
            "the agent was told: {} {}",
            response.status,
            String::from_utf8_lossy(&response.body)
        ));
    }
    table.end("hinted at the third and the fourth failure, then killed; the killed request never reached the provider", |steps| {
        let verdicts: Vec<&str> = steps.iter().map(|step| step.verdict.as_str()).collect();
        verdicts == ["allow", "allow", "allow", "hint", "hint", "kill"] && all_untouched(&steps[..3]) && steps[5].status == 400
    })
}

/// One template with different values. Its texts have similar embeddings, but the agent is healthy.
pub async fn batch(stage: &Stage) -> bool {
    let mut table = Table::new("2. A healthy agent works through a batch with one template");
    for order in 0..8 {
        let text =
            format!("Process order {} and report the shipping state of its parcels", 48_213 + 7 * order);
        table.ask(stage, "batch-agent", &text).await;
    }
    table.end("all allowed, byte for byte", all_untouched)
}

/// The same short prompts again and again, while the conversation moves on.
pub async fn chat(stage: &Stage) -> bool {
    let mut table = Table::new("3. A chat user says \"yes\" and \"continue\" a lot");
    let turn = std::sync::atomic::AtomicUsize::new(0);
    stage.provider().script(move |request| {
        let turn = turn.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        speak(request, &Reply::Text(text_for(&format!("part {turn} of the story"))))
    });
    for text in [
        "Tell me the story of the lighthouse keeper",
        "continue",
        "yes",
        "continue",
        "continue",
        "yes",
        "continue",
        "yes",
    ] {
        table.ask(stage, "chat-user", text).await;
    }
    stage.provider().script(faithful);
    table.end("all allowed, byte for byte", all_untouched)
}

/// One question in different words, which only the embedding recognises.
pub async fn rephraser(stage: &Stage) -> bool {
    let mut table = Table::new("4. An agent asks one question in new words");
    for text in [
        "How can I reset the password of my account?",
        "How do I reset the password of my account?",
        "How can I reset my account password?",
        "How do I reset my account password?",
        "How could I reset the password for my account?",
    ] {
        table.ask(stage, "rephraser", text).await;
    }
    table.end("hinted by the semantic signal from the third or fourth on, never killed", |steps| {
        let hints = steps.iter().filter(|step| step.verdict == "hint").count();
        steps[..2].iter().all(|step| step.verdict == "allow")
            && hints >= 2
            && steps.iter().all(|step| step.status == 200)
    })
}

/// The same question and the same answer, again and again.
pub async fn repeater(stage: &Stage) -> bool {
    let mut table = Table::new("5. An agent repeats itself word for word and gets the same answer each time");
    let mut last = None;
    for step in 1..=6 {
        let response = table
            .ask(stage, "repeater", "Why does the deployment of the billing service fail on staging?")
            .await;
        if step == 3 && response.verdict() == "hint" {
            let system = Dialect::OpenaiChat.system_text(&stage.provider().last().json());
            table.note(&format!("the model was told: \"{}\"", short(&system, 90)));
        }
        last = Some(response);
    }
    if let Some(response) = last {
        let body = String::from_utf8_lossy(&response.body).into_owned();
        table.note(&format!("the agent was told: {} {}", response.status, short(&body, 90)));
    }
    table.end(
        "allowed twice, hinted twice, then killed; the killed requests never reached the provider",
        |steps| {
            let verdicts: Vec<&str> = steps.iter().map(|step| step.verdict.as_str()).collect();
            verdicts == ["allow", "allow", "hint", "hint", "kill", "kill"]
                && steps[4..].iter().all(|step| step.status == 400)
        },
    )
}

/// Billionths of a dollar, as money: `$0.0000144`.
fn dollars(nano_usd: u64) -> String {
    let (whole, rest) = (nano_usd / 1_000_000_000, nano_usd % 1_000_000_000);
    let digits = format!("{rest:09}");
    let digits = digits.trim_end_matches('0');
    format!("${whole}.{digits:0<2}")
}

/// Three people ask one question in two wordings, and the provider answers it once. A question that only looks similar
/// goes to the provider.
pub async fn cached(stage: &Stage) -> bool {
    const ASK: &str = "How do I reset my password?";
    let mut table = Table::new("6. The same question three ways, and a trap beside them (response cache)");
    let person = |name: &str| format!("{CACHED}{name}");
    let counter = |name: &str| stage.count(name, &[]);
    table.ask(stage, &person("anna"), ASK).await;
    // An answer is stored in the background, so a reworded question finds it a moment later.
    for waiting in 0..100 {
        let again = stage.ask(&person(&format!("waiting-{waiting}")), ASK).await;
        if again.header("x-sentinel-cache") == Some("exact") {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    tokio::time::sleep(Duration::from_millis(500)).await;
    let (tokens, nano_usd) =
        (counter("sentinel_saved_tokens_total"), counter("sentinel_saved_nanousd_total"));
    table.ask(stage, &person("ben"), ASK).await;
    table.ask(stage, &person("carla"), "How can I reset my password?").await;
    let (tokens, nano_usd) =
        (counter("sentinel_saved_tokens_total") - tokens, counter("sentinel_saved_nanousd_total") - nano_usd);
    table.ask(stage, &person("dora"), "How do I not reset my password?").await;
    table.note(&format!("two answers of the cache saved {tokens} tokens and {}", dollars(nano_usd)));
    table.end("the same words and other words from the cache; the trap goes to the provider", |steps| {
        let caches: Vec<&str> = steps.iter().map(|step| step.cache.as_str()).collect();
        caches == ["miss", "exact", "semantic", "miss"] && all_allowed(steps) && tokens > 0
    })
}

/// Without the service there is no semantic signal, but every request passes. A service that this program did not start
/// must be stopped by whoever runs this scene.
pub async fn service_stopped(stage: &mut Stage, without_service: bool) -> bool {
    let mut table = Table::new("8. The embedding service is stopped in the middle (fail open)");
    let questions = [
        "Which port does the metrics endpoint of the gateway use?",
        "List the three largest tables of the audit database",
        "Draft a friendly reminder about the open invoice",
        "What changed in the last release of the scheduler?",
        "Translate the safety notice into Portuguese",
        "Suggest a name for the new internal newsletter",
    ];
    let (before, after) = questions.split_at(3);
    if !without_service {
        for text in before {
            table.ask(stage, "unlucky", text).await;
        }
        assert!(stage.stop_service(), "the service is not ours to stop");
    }
    table.note("--- the embedding service is stopped ---");
    // An Envoy that checks the service's health does not try to call it.
    let outcome = if without_service { "error" } else { "unavailable" };
    let counter = |stage: &Stage| stage.count("sentinel_service_calls_total", &[("outcome", outcome)]);
    let counted = counter(stage);
    for text in after {
        table.ask(stage, "unlucky", text).await;
    }
    let counted = counter(stage) - counted;
    table.note(&format!(
        "Envoy's metrics: sentinel_service_calls_total{{outcome=\"{outcome}\"}} rose by {counted}"
    ));
    table.end("all allowed, byte for byte; the three checks that failed are counted", |steps| {
        all_untouched(steps) && counted == 3
    })
}

#[cfg(test)]
mod tests {
    use super::dollars;

    #[test]
    fn money_is_written_as_people_write_it() {
        for (nano_usd, written) in [
            (14_400, "$0.0000144"),
            (0, "$0.00"),
            (1, "$0.000000001"),
            (500_000_000, "$0.50"),
            (12_340_000_000, "$12.34"),
        ] {
            assert_eq!(dollars(nano_usd), written);
        }
    }
}
