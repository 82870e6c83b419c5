//! Work that looks like a loop: waiting, acting, asking for a state, many runs behind one id, words of a framework.

use std::sync::atomic::{AtomicUsize, Ordering};

use sentinel_harness::Stack;
use sentinel_harness::provider::reply::text_for;
use sentinel_harness::provider::{Reply, speak};
use sentinel_harness::stack::in_run;
use serde_json::json;

use super::{REQUESTS, Way, verdicts};
use crate::support::QUESTION;
use sentinel_wire::Run;

/// Tool, arguments and result of step `n`.
type Step = fn(usize) -> (&'static str, String, String);

fn run_of(way: Way, steps: usize, step: Step) -> String {
    let mut run = Run::new(way.dialect, "Get the release out, and tell me when it is there.");
    for n in 0..steps {
        let (tool, arguments, result) = step(n);
        run.step(tool, &arguments, &result);
    }
    run.body(way.stream)
}

fn is_hint_or_less(verdict: &String) -> bool {
    verdict == "allow" || verdict == "hint"
}

/// These agents may get a hint to wait longer, but not before the fifth time. They are never stopped.
#[tokio::test]
async fn waiting_and_acting_are_never_stopped() {
    let cases: [(&str, Step); 14] = [
        ("a status", |_| ("get_job_status", r#"{"job":"build-7"}"#.into(), r#"{"status":"running"}"#.into())),
        ("a status with words", |_| {
            ("check_deployment", "{}".into(), "Rollout is still in progress.".into())
        }),
        ("a shell that asks for a state", |_| {
            let pods = "NAME READY STATUS RESTARTS\nweb-7d4 0/1 ContainerCreating 0";
            ("bash", r#"{"command":"kubectl get pods -n web"}"#.into(), pods.into())
        }),
        ("sleeps in a shell", |_| {
            (
                "run",
                r#"{"command":"sleep 30; tail -n 1 build.log"}"#.into(),
                "[ 42%] Building CXX object".into(),
            )
        }),
        ("a tool that waits", |_| ("wait", r#"{"seconds":30}"#.into(), "Waited for 30 seconds.".into())),
        ("an action that waits", |_| {
            ("computer", r#"{"action":"wait","duration":5}"#.into(), "The page shows a spinner.".into())
        }),
        ("sleep between polls", |n| match n % 2 {
            0 => ("sleep", r#"{"seconds":60}"#.into(), "done".into()),
            _ => ("get_build", r#"{"id":12}"#.into(), r#"{"id":12,"state":"queued"}"#.into()),
        }),
        ("the output of a job in the background", |_| {
            ("BashOutput", r#"{"bash_id":"b1"}"#.into(), "<status>running</status>\n<stdout></stdout>".into())
        }),
        ("a key", |_| ("press_key", r#"{"key":"Down"}"#.into(), "ok".into())),
        ("a click", |_| ("browser", r#"{"action":"click","ref":"e12"}"#.into(), "Clicked.".into())),
        ("scrolling", |_| ("scroll", r#"{"direction":"down"}"#.into(), "Scrolled down.".into())),
        ("an inbox", |_| ("check_inbox", "{}".into(), "[]".into())),
        ("a queue of like items", |_| {
            ("pop_queue", r#"{"queue":"mail"}"#.into(), r#"{"item":"resize","size":"small"}"#.into())
        }),
        ("an approval", |_| ("ask_approval", r#"{"for":"write"}"#.into(), "yes".into())),
    ];
    let mut stack = Stack::builder().start();
    for way in Way::all() {
        for (what, step) in cases {
            let agent = way.agent(what);
            let seen = verdicts(&stack, way, &in_run(&agent), REQUESTS, |n| run_of(way, n + 1, step)).await;
            assert!(seen.iter().all(is_hint_or_less), "{what}, {way:?}: {seen:?}");
            assert!(seen[..4].iter().all(|verdict| verdict == "allow"), "{what}, {way:?}: {seen:?}");
        }
    }
    stack.assert_sound();
}

/// One agent id, and no run id: cron, a probe, samples of one prompt, an evaluation that runs one task again and again.
#[tokio::test]
async fn many_runs_behind_one_id_are_hinted_at_most() {
    let mut stack = Stack::builder().service().start();
    for way in Way::all() {
        let agent = way.agent("cron");
        let headers = [("x-agent-id", agent.as_str())];
        let ask = |_| way.dialect.ask(QUESTION, way.stream).to_string();
        let seen = verdicts(&stack, way, &headers, REQUESTS, ask).await;
        assert!(seen.iter().all(is_hint_or_less), "a probe, {way:?}: {seen:?}");

        let agent = way.agent("evaluation");
        let headers = [("x-agent-id", agent.as_str())];
        // Four steps each, the same ones in every run: one short of what stops a run.
        let task = |n: usize| {
            run_of(way, n % 5, |_| ("deploy", r#"{"to":"prod"}"#.into(), "error: permission denied".into()))
        };
        let seen = verdicts(&stack, way, &headers, REQUESTS + 1, task).await;
        assert!(seen.iter().all(is_hint_or_less), "an evaluation, {way:?}: {seen:?}");
    }
    stack.assert_sound();
}

/// A text that a framework adds after every turn is no prompt, if the assistant says something else each time.
#[tokio::test]
async fn constant_words_of_a_framework_are_no_prompt() {
    const WORDS: [&str; 3] =
        ["Analyze the result of the tool and decide what to do next.", "Observation: (no output)", ""];
    let mut stack = Stack::builder().service().start();
    for way in Way::all() {
        for (at, words) in WORDS.into_iter().enumerate() {
            let body = |n: usize| {
                let mut run = Run::new(way.dialect, QUESTION);
                for turn in 0..n {
                    run.assistant(&format!("```bash\nmkdir -p out/{}\n```", text_for(&turn.to_string())));
                    run.user(if words.is_empty() { "Your command ran without any output." } else { words });
                }
                run.body(way.stream)
            };
            let agent = way.agent(&at.to_string());
            let seen = verdicts(&stack, way, &in_run(&agent), REQUESTS, body).await;
            assert!(seen.iter().all(|verdict| verdict == "allow"), "{words:?}, {way:?}: {seen:?}");
        }
    }
    stack.assert_sound();
}

/// A conversation that is written into one growing user text: each text is similar to the one before, but it is new work.
#[tokio::test]
async fn a_transcript_in_one_growing_text() {
    let mut stack = Stack::builder().service().start();
    for way in Way::all() {
        let mut transcript = "You are the guide of a museum. The talk so far:".to_owned();
        let mut texts = Vec::new();
        for n in 0..REQUESTS {
            transcript.push_str(&format!("\nVisitor: Tell me of the {}.", text_for(&n.to_string())));
            texts.push(way.dialect.ask(&transcript, way.stream).to_string());
            transcript.push_str(&format!("\nGuide: {}", text_for(&format!("of {n}"))));
        }
        let agent = way.agent("guide");
        let seen = verdicts(&stack, way, &in_run(&agent), REQUESTS, |n| texts[n].clone()).await;
        assert!(seen.iter().all(|verdict| verdict == "allow"), "{way:?}: {seen:?}");
    }
    stack.assert_sound();
}

/// A user has an answer regenerated again and again, and it is different each time.
#[tokio::test]
async fn regeneration_is_hinted_at_the_sixth_and_never_stopped() {
    let mut stack = Stack::builder().service().start();
    let answers = AtomicUsize::new(0);
    stack.provider.script(move |request| {
        let number = answers.fetch_add(1, Ordering::Relaxed);
        speak(request, &Reply::Text(text_for(&format!("answer {number}"))))
    });
    for way in Way::all() {
        let agent = way.agent("again");
        let ask = |_| way.dialect.ask(QUESTION, way.stream).to_string();
        let seen = verdicts(&stack, way, &in_run(&agent), REQUESTS, ask).await;
        assert!(seen[..5].iter().all(|verdict| verdict == "allow"), "{way:?}: {seen:?}");
        assert_eq!(seen[5], "hint", "{way:?}: {seen:?}");
        assert!(seen.iter().all(is_hint_or_less), "{way:?}: {seen:?}");
    }
    stack.assert_sound();
}

/// A kill belongs to the history that it was read from.
#[tokio::test]
async fn a_kill_does_not_outlive_its_history() {
    const STUCK: Step = |_| ("deploy", r#"{"to":"prod"}"#.into(), "error: permission denied".into());
    const WORK: Step = |n| {
        let page = format!("Page {n}: {}", text_for(&n.to_string()));
        ("read_page", json!({ "page": n }).to_string(), page)
    };
    let mut stack = Stack::builder().service().start();
    for way in Way::all() {
        let agent = way.agent("worker");
        let headers = [("x-agent-id", agent.as_str())];
        let steps = verdicts(&stack, way, &headers, 6, |n| run_of(way, n, STUCK)).await;
        assert_eq!(steps[5], "kill", "{way:?}: {steps:?}");
        let killed = way.send(&stack, &headers, run_of(way, 5, STUCK)).await;
        assert_eq!(
            (killed.verdict(), killed.reason().split(';').next()),
            ("kill", Some("repeated_step")),
            "{way:?}"
        );

        // A restart of the run, another run on the same task, and the same one without the looping steps.
        for (what, steps) in [("a restart", 0), ("a step after it", 1), ("two steps after it", 2)] {
            let response = way.send(&stack, &headers, run_of(way, steps, STUCK)).await;
            assert_eq!(response.verdict(), "allow", "{what}, {way:?}: {}", response.reason());
        }
        let seen = verdicts(&stack, way, &headers, REQUESTS, |n| run_of(way, n, WORK)).await;
        assert!(seen.iter().all(is_hint_or_less), "another run, {way:?}: {seen:?}");
        assert!(seen[1..].iter().all(|verdict| verdict == "allow"), "another run, {way:?}: {seen:?}");
        // The stuck run stays stopped, with its own reason.
        let again = way.send(&stack, &headers, run_of(way, 6, STUCK)).await;
        assert_eq!(
            (again.verdict(), again.reason().split(';').next()),
            ("kill", Some("repeated_step")),
            "{way:?}"
        );
    }
    stack.assert_sound();
}

#[tokio::test]
async fn an_agent_whose_kills_are_off_is_hinted_only() {
    let agents = json!([{"name": "spared", "settings": {"kill": {"enabled": false}}}]);
    let mut stack = Stack::builder().config(&json!({"agents": agents})).start();
    for way in Way::all() {
        let stuck = |n: usize| {
            run_of(way, n, |_| ("deploy", r#"{"to":"prod"}"#.into(), "error: permission denied".into()))
        };
        let run = way.agent("run");
        for (agent, last) in [("spared", "hint"), ("another", "kill")] {
            let headers = [("x-agent-id", agent), ("x-run-id", run.as_str())];
            let seen = verdicts(&stack, way, &headers, 12, stuck).await;
            assert_eq!(seen[11], last, "{agent}, {way:?}: {seen:?}");
            assert_eq!(seen.contains(&"kill".to_owned()), last == "kill", "{agent}, {way:?}: {seen:?}");
        }
        let asked = |_| way.dialect.ask(QUESTION, way.stream).to_string();
        let run = way.agent("another run");
        let headers = [("x-agent-id", "spared"), ("x-run-id", run.as_str())];
        let seen = verdicts(&stack, way, &headers, 12, asked).await;
        assert!(seen.iter().all(is_hint_or_less), "{way:?}: {seen:?}");
        assert!(seen.contains(&"hint".to_owned()), "{way:?}: {seen:?}");
    }
    stack.assert_sound();
}
