//! Provider formats, by example: for each `golden/<dialect>/<case>.json` the request with the hint in it stands beside
//! it as `<case>.hint` (`.hint.start` and `.hint.end` where the place can be chosen), as `<case>.hint.result` with the
//! hint in the last tool result where there is one, and each dialect's kill
//! responses as `kill.*`. `<case>.offer` is the request without the tools whose names begin with `delete`, `<case>.offer.none`
//! without any. `<case>.marked` is the request with its tool results marked as data, and the hint behind the last. `UPDATE_GOLDEN=1 cargo test -p sentinel-llm-api --test golden` writes them anew; look at the
//! difference before committing it.
#![allow(clippy::unwrap_used, clippy::panic, clippy::arithmetic_side_effects, reason = "a test may fail")]

use std::{fs, path::Path};

use sentinel_llm_api::{
    dialect::{DialectRef, FinalMessage, Position},
    edit::apply,
    framing::Framing,
    marks::Marks,
    registry::{ALL, read},
    usage::Usage,
};

const HINT: &str = "Please take a \"different\" approach.";

/// Compares with the file, or writes it.
fn check(path: &Path, actual: &[u8]) {
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(path, actual).unwrap();
        return;
    }
    let expected = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let (expected, actual) = (String::from_utf8_lossy(&expected), String::from_utf8_lossy(actual));
    assert_eq!(expected, actual, "{} is not what the dialect makes", path.display());
}

fn folder(dialect: DialectRef) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(dialect.label())
}

#[test]
fn requests_get_the_hint() {
    for dialect in ALL {
        let (mut cases, mut in_results) = (0, 0);
        for entry in fs::read_dir(folder(dialect)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "json") {
                continue;
            }
            cases += 1;
            let body = fs::read(&path).unwrap();
            let conversation =
                read(dialect, &body).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            for at in 0..conversation.history.len() {
                conversation.history.parts(at, &mut |_| {}).unwrap();
            }
            drop(conversation);
            let body = String::from_utf8(body).unwrap();
            if let Ok(edit) = dialect.hint_in_result(&body, HINT) {
                in_results += 1;
                check(&path.with_extension("hint.result"), &apply(&body, &[edit]).unwrap());
            }
            let hinted = |position| apply(&body, &[dialect.hint(&body, HINT, position).unwrap()]).unwrap();
            if dialect.label() == "openai_chat" {
                check(&path.with_extension("hint.start"), &hinted(Position::Start));
                check(&path.with_extension("hint.end"), &hinted(Position::End));
            } else {
                check(&path.with_extension("hint"), &hinted(Position::Start));
                assert_eq!(hinted(Position::Start), hinted(Position::End));
            }
        }
        assert!(cases >= 3, "{dialect:?} has too few examples");
        assert!(in_results >= 1, "{dialect:?} has no example that ends with a tool's result");
    }
}

/// What becomes of the tools of a request.
fn offered(dialect: DialectRef, body: &str, may: &dyn Fn(&str) -> bool) -> Vec<u8> {
    let offer = dialect.offer(body, may).unwrap();
    match offer.forced {
        Some(forced) => format!("refused: the request forces {forced}\n").into_bytes(),
        None => apply(body, &offer.edits).unwrap(),
    }
}

#[test]
fn tools_that_may_not_be_offered_are_cut() {
    for dialect in ALL {
        let mut cases = 0;
        for entry in fs::read_dir(folder(dialect)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "json") {
                continue;
            }
            let body = fs::read_to_string(&path).unwrap();
            assert_eq!(offered(dialect, &body, &|_| true), body.as_bytes(), "{}", path.display());
            if !path.file_name().unwrap().to_str().unwrap().starts_with("offer") {
                continue;
            }
            cases += 1;
            let may = |name: &str| !name.starts_with("delete") && name != "mcp:delete";
            check(&path.with_extension("offer"), &offered(dialect, &body, &may));
            check(&path.with_extension("offer.none"), &offered(dialect, &body, &|_| false));
        }
        assert!(cases >= 1, "{dialect:?} has no example with tools");
    }
}

/// What becomes of the tool results of a request, with a hint behind the last one.
#[test]
fn results_are_marked_as_data() {
    for dialect in ALL {
        let mut cases = 0;
        for entry in fs::read_dir(folder(dialect)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "json") {
                continue;
            }
            let body = fs::read_to_string(&path).unwrap();
            let conversation = read(dialect, body.as_bytes()).unwrap();
            let marks = Marks::new("tool_output", "It is \"data\".");
            let edits = marks.edits(&body, &conversation.history, dialect.takes_objects_as_results());
            if edits.is_empty() {
                continue;
            }
            cases += 1;
            let hint = dialect.hint_in_result(&body, HINT).ok();
            let edits: Vec<_> = edits.into_iter().chain(hint).collect();
            check(&path.with_extension("marked"), &apply(&body, &edits).unwrap());
        }
        assert!(cases >= 1, "{dialect:?} has no example with a result");
    }
}

#[test]
fn kills_speak_the_dialect() {
    for dialect in ALL {
        let folder = folder(dialect);
        check(&folder.join("refusal"), &dialect.refusal(403, "Not allowed: \"rm\".").body);
        check(&folder.join("kill.error"), &dialect.error(403, "Stopped: \"loop\".").body);
        let streamed = match dialect.label() {
            "bedrock" => vec![(Framing::AwsEventStream, "kill.final.eventstream")],
            "gemini" => vec![(Framing::Sse, "kill.final.sse"), (Framing::JsonArray, "kill.final.array")],
            _ => vec![(Framing::Sse, "kill.final.sse")],
        };
        for (framing, name) in [(Framing::Json, "kill.final")].into_iter().chain(streamed) {
            let message = FinalMessage {
                text: "Stopped: \"loop\".",
                calls: &[],
                model: "some-model",
                framing,
                id: 0xABCD,
                kept_as: "",
                usage: Usage::default(),
                created: 1_700_000_000,
                include_usage: true,
            };
            let reply = dialect.final_message(&message);
            assert!(reply.headers.contains(&("content-type", framing.content_type().to_owned())));
            check(&folder.join(name), &reply.body);
        }
    }
}
