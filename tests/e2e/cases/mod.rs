//! The smallest case of each rule of a verdict, in every dialect that can hold it.

mod render;

use std::collections::BTreeMap;

use sentinel_harness::{Dialect, Stack, client, stack::in_run};
use serde::Deserialize;

use render::Requests;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    /// What the user wants first.
    #[serde(default = "question")]
    task: String,
    does: Vec<Event>,
    /// One letter for each request.
    seen: String,
    /// What the last verdict's reason is, where it matters.
    reason: Option<String>,
    /// The history is one turn of the assistant, however many calls it holds.
    #[serde(default)]
    whole: bool,
    /// The requests name their run.
    #[serde(default)]
    in_run: bool,
    /// Why a dialect cannot hold it.
    #[serde(default)]
    except: BTreeMap<String, String>,
}

/// What happens next. One of the members up to `asks` says what it is.
#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Event {
    /// A call of a function, with its result.
    tool: Option<String>,
    /// Calls of one turn: tool, arguments and result.
    calls: Vec<[String; 3]>,
    /// A call of a tool that the provider makes, with its result.
    mcp: Option<String>,
    /// A program that the provider runs, with its result.
    code: Option<String>,
    /// The assistant's text.
    say: Option<String>,
    /// The user's text.
    user: Option<String>,
    /// The user's text in a request of its own.
    asks: Option<String>,
    /// Events that come one after the other.
    round: Vec<Event>,
    arguments: Option<String>,
    /// One text, or several in turn.
    result: Texts,
    /// The client says that the call failed.
    fails: bool,
    /// The picture that the user's message behind the result holds.
    pictures: Option<String>,
    /// A second text in the user's message.
    beside: Option<String>,
    system: Option<String>,
    times: Option<usize>,
    /// What `{n}` is, in turn.
    of: Vec<Text>,
}

#[derive(Clone, Deserialize)]
#[serde(untagged)]
enum Text {
    Number(serde_json::Number),
    Text(String),
}

#[derive(Clone, Deserialize)]
#[serde(untagged)]
enum Texts {
    One(String),
    Several(Vec<String>),
}

impl Default for Texts {
    fn default() -> Self {
        Self::One(String::new())
    }
}

fn question() -> String {
    crate::support::QUESTION.to_owned()
}

fn cases() -> Vec<Case> {
    serde_saphyr::from_str(include_str!("cases.yaml")).expect("cases")
}

/// The verdicts on all requests of a case, and the last reason.
async fn verdicts(stack: &Stack, dialect: Dialect, case: &Case, stream: bool) -> (String, String) {
    let name = format!("{} {}", case.name, dialect.label());
    let (mut seen, mut reason) = (String::new(), String::new());
    let requests = Requests::of(case, dialect, stream);
    let headers = if case.in_run || requests.is_fresh { in_run(&name).to_vec() } else { Vec::new() };
    for body in requests.bodies {
        let response = client::post(stack.address(), dialect.path(stream), &headers, body).await;
        seen.push(match response.verdict() {
            "allow" => 'a',
            "hint" => 'H',
            "kill" => 'K',
            other => panic!("{name}: {other:?} {}", response.reason()),
        });
        response.reason().clone_into(&mut reason);
    }
    (seen, reason)
}

#[tokio::test]
async fn every_case_gets_its_verdicts_in_every_dialect() {
    let mut stack = Stack::builder().start();
    let (mut wrong, mut hints, mut kills) = (Vec::new(), 0, 0);
    for (number, case) in cases().into_iter().enumerate() {
        for label in case.except.keys() {
            assert!(Dialect::ALL.iter().any(|dialect| dialect.label() == label), "{}: {label}", case.name);
        }
        for (at, dialect) in Dialect::ALL.into_iter().enumerate() {
            if case.except.contains_key(dialect.label()) {
                continue;
            }
            // Half of them are streams: in each dialect, and of each case.
            let stream = (number + at) % 2 == 1;
            let (seen, reason) = verdicts(&stack, dialect, &case, stream).await;
            hints += seen.matches('H').count();
            kills += seen.matches('K').count();
            if seen != case.seen || case.reason.as_ref().is_some_and(|wanted| *wanted != reason) {
                wrong.push(format!("{}, {dialect:?}: {seen}, not {} ({reason})", case.name, case.seen));
            }
        }
    }
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
    let log = stack.envoy.log();
    let logged = |verdict: &str| log.matches(&format!(r#""event":"verdict","verdict":"{verdict}""#)).count();
    assert_eq!((logged("hint"), logged("kill")), (hints, kills), "the log and the headers say the same");
    stack.assert_sound();
}
