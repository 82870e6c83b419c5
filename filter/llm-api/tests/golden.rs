//! Provider formats by example. For each request `golden/<dialect>/<case>.json` there are `<case>.hint`, the request
//! with a hint (`.hint.start` and `.hint.end` if the place can be chosen); `<case>.hint.result`, with the hint in the
//! last tool result; `<case>.offer`, without the tools whose names begin with `delete`; `<case>.offer.none`, without
//! any tools; and `<case>.marked`, with spotlighted tool results and a hint behind the last. `read*.read` lists the
//! parts of a request. `kill.*` are each dialect's kill responses. `UPDATE_GOLDEN=1 cargo test -p sentinel-llm-api
//! --test golden` rewrites them; read the difference before you commit it.
#![allow(clippy::unwrap_used, clippy::panic, clippy::arithmetic_side_effects, reason = "a test may fail")]

#[path = "support/repeatable.rs"]
mod repeatable;

use std::{fs, path::Path};

use repeatable::framings;
use sentinel_llm_api::{
    conversation::{Part, texts_of_media},
    dialect::{DialectRef, FinalMessage, Position},
    edit::apply,
    json::Raw,
    registry::{ALL, read},
    spotlight::Spotlight,
    usage::Usage,
};

const HINT: &str = "Please take a \"different\" approach.";

/// Compares with the file, or rewrites it.
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
            let places = conversation.hint_places();
            let text = std::str::from_utf8(&body).unwrap();
            if let Some(slot) = &places.in_result {
                in_results += 1;
                check(&path.with_extension("hint.result"), &apply(text, &[slot.edit(HINT)]).unwrap());
            }
            let hinted = |position| apply(text, &[places.beside(position).unwrap().edit(HINT)]).unwrap();
            let (start, end) = (hinted(Position::Start), hinted(Position::End));
            if start == end {
                check(&path.with_extension("hint"), &start);
            } else {
                check(&path.with_extension("hint.start"), &start);
                check(&path.with_extension("hint.end"), &end);
            }
        }
        assert!(cases >= 3, "{dialect:?} has too few examples");
        assert!(in_results >= 1, "{dialect:?} has no example that ends with a tool's result");
    }
}

/// The request without denied tools.
fn offered(dialect: DialectRef, body: &str, may: &dyn Fn(&str) -> bool) -> Vec<u8> {
    let offer = read(dialect, body.as_bytes()).unwrap().offer(&|name, _| may(name)).unwrap();
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

/// The request with spotlighted results, and a hint behind the last one.
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
            let marks = Spotlight::new("tool_output", "It is \"data\".");
            let edits = marks.edits(&conversation);
            if edits.is_empty() {
                continue;
            }
            cases += 1;
            let hint = conversation.hint_places().in_result.map(|slot| slot.edit(HINT));
            let edits: Vec<_> = edits.into_iter().chain(hint).collect();
            check(&path.with_extension("marked"), &apply(&body, &edits).unwrap());
        }
        assert!(cases >= 1, "{dialect:?} has no example with a result");
    }
}

/// The parts of each message, for requests whose names begin with `read`.
#[test]
fn requests_are_read() {
    for dialect in ALL {
        for entry in fs::read_dir(folder(dialect)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if !name.starts_with("read") || !name.ends_with(".json") {
                continue;
            }
            let body = fs::read_to_string(&path).unwrap();
            let history = read(dialect, body.as_bytes()).unwrap().history;
            let mut lines = String::new();
            for at in 0..history.len() {
                lines += &format!("{:?}\n", history.role(at));
                history.parts(at, &mut |part| lines += &shown(part)).unwrap();
            }
            check(&path.with_extension("read"), lines.as_bytes());
        }
    }
}

fn shown(part: Part<'_>) -> String {
    match part {
        Part::Text(text) => format!("  text {text:?}\n"),
        Part::Media(media) => {
            let mut words = Vec::new();
            texts_of_media(media.get(), &mut |text| words.push(text.to_owned()));
            format!("  media of {} bytes, with the words {}\n", media.get().len(), words.join(", "))
        }
        Part::Call(call) => format!("  call {:?} of {:?} with {}\n", call.id, call.name, call.arguments),
        Part::Result(result) => {
            let content = result.content.map_or("nothing", Raw::get);
            let failed = if result.is_error { "error" } else { "result" };
            format!("  {failed} of {:?}: {content}\n", result.of)
        }
    }
}

#[test]
fn kills_speak_the_dialect() {
    for dialect in ALL {
        let folder = folder(dialect);
        check(&folder.join("refusal"), &dialect.refusal(403, "Not allowed: \"rm\".").body);
        check(&folder.join("kill.error"), &dialect.error(403, "Stopped: \"loop\".").body);
        for (framing, ending) in framings(dialect) {
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
            check(&folder.join(format!("kill.final{ending}")), &reply.body);
        }
    }
}
