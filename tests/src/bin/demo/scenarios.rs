//! The agents of the demo.

use std::time::Duration;

use sentinel_tests::Dialect;
use sentinel_tests::provider::{Reply, faithful, reply::text_for, speak};
use sentinel_tests::said::short;

use crate::stage::{CACHED, Stage};
use crate::table::{Table, all_allowed, all_untouched};

/// One template, other values: looks alike to any embedding, and is healthy.
pub async fn batch(stage: &Stage) -> bool {
    let mut table = Table::new("1. A healthy agent works through a batch with one template");
    for order in 0..8 {
        let text =
            format!("Process order {} and report the shipping state of its parcels", 48_213 + 7 * order);
        table.ask(stage, "batch-agent", &text).await;
    }
    table.end("all allowed, byte for byte", all_untouched)
}

/// The same few words all day, while the conversation moves on.
pub async fn chat(stage: &Stage) -> bool {
    let mut table = Table::new("2. A chat user says \"yes\" and \"continue\" a lot");
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

/// One question in ever new words: only the embedding can see that.
pub async fn rephraser(stage: &Stage) -> bool {
    let mut table = Table::new("3. An agent asks one question in new words");
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

/// The same words and the same answer, again and again.
pub async fn repeater(stage: &Stage) -> bool {
    let mut table = Table::new("4. An agent repeats itself word for word and gets the same answer each time");
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
                && steps[4..].iter().all(|step| step.status == 403)
        },
    )
}

/// One question of three people, in two wordings: the provider answers it once. What only looks like it is the provider's.
pub async fn cached(stage: &Stage) -> bool {
    const ASK: &str = "How do I reset my password?";
    let mut table = Table::new("5. The same question three ways, and a trap beside them (response cache)");
    let person = |name: &str| format!("{CACHED}{name}");
    let counter = |name: &str| stage.count(name, &[]);
    table.ask(stage, &person("anna"), ASK).await;
    // An answer is stored behind the response; other words find it a moment later.
    for waiting in 0..100 {
        let again = stage.ask(Dialect::OpenaiChat, &person(&format!("waiting-{waiting}")), ASK).await;
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
    table
        .note(&format!("two answers of the cache spared {tokens} tokens and {nano_usd} billionths of a USD"));
    table.end("the same words and other words from the cache; the trap goes to the provider", |steps| {
        let caches: Vec<&str> = steps.iter().map(|step| step.cache.as_str()).collect();
        caches == ["miss", "exact", "semantic", "miss"] && all_allowed(steps) && tokens > 0
    })
}

/// Without the service the semantic signal is gone; every request passes all the same. A service that is not ours has been
/// stopped by whoever plays this scene alone.
pub async fn service_stopped(stage: &mut Stage, without_service: bool) -> bool {
    let mut table = Table::new("6. The embedding service is stopped in the middle (fail open)");
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
    // An Envoy that checks the service's health knows that nobody is there, and does not try.
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
