//! The part of a turn for the second opinion: the texts of new tool results, a bounded part of each. The service reads them after
//! the request has gone on.

use sentinel_guard::text_of_json;
use sentinel_llm_api::{conversation::Conversation, history::Written};

use super::guard::new;
use crate::{mask::masked, turn::Turn};

/// Most results of one request, the newest.
const MOST: usize = 4;
/// Most bytes of a result that are told. Of a longer one, half of them from the beginning and half from the end.
const TEXT: usize = 4_096;
/// Most bytes of a result that are read, as it stands in the body.
const READ: usize = 64 << 10;
/// The next word is looked for within this many bytes.
const WORD: usize = 128;

/// Adds them to the turn.
pub fn add_results(conversation: &Conversation<'_>, turn: &mut Turn) {
    let history = &conversation.history;
    for at in new(history, false) {
        // What cannot be read is left to the guard.
        let _ = history.written(at, &mut |written| {
            if let Written::Result(json) = written {
                if turn.results.len() < MOST {
                    let text = shown(json);
                    turn.results.extend((!text.trim().is_empty()).then_some(text));
                } else {
                    turn.more_results = turn.more_results.saturating_add(1);
                }
            }
        });
    }
}

/// The text of a result, with keys masked.
fn shown(json: &str) -> String {
    let text = text_of_json(json.get(..json.floor_char_boundary(READ)).unwrap_or_default());
    if text.len() <= TEXT {
        return masked(&text, TEXT);
    }
    let half = TEXT / 2;
    let end = text.get(text.ceil_char_boundary(text.len().saturating_sub(half))..).unwrap_or_default();
    format!("{}\n{}", masked(&text, half), masked(whole_words(end), half))
}

/// A text that may begin within a word, without that word: a key without its beginning would not be recognised.
fn whole_words(text: &str) -> &str {
    let (beginning, _) = text.split_at_checked(text.floor_char_boundary(WORD)).unwrap_or((text, ""));
    let start = beginning.find(char::is_whitespace).unwrap_or(beginning.len());
    text.get(start..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use sentinel_llm_api::registry;

    use super::*;

    fn turn(messages: &str) -> Turn {
        let body = format!(r#"{{"messages":[{messages}]}}"#);
        let dialect = registry::by_label("openai_chat").unwrap();
        let conversation = registry::read(dialect, body.as_bytes()).unwrap();
        let mut turn = Turn::default();
        add_results(&conversation, &mut turn);
        turn
    }

    fn result(content: &str) -> String {
        format!(r#"{{"role":"tool","tool_call_id":"c","content":{content}}}"#)
    }

    fn quoted(text: &str) -> String {
        let escaped =
            text.chars().map(|c| if matches!(c, '"' | '\\') { format!("\\{c}") } else { c.to_string() });
        format!("\"{}\"", escaped.collect::<String>())
    }

    const CALL: &str = r#"{"role":"assistant","tool_calls":[]}"#;

    #[test]
    fn new_results_alone_are_told_and_the_newest_where_there_are_many() {
        let old = format!(r#"{},{CALL},{{"role":"user","content":"go on"}}"#, result(r#""old""#));
        assert_eq!(turn(&old).results, Vec::<String>::new());
        let many: Vec<String> = (0..6).map(|n| result(&format!(r#""r{n}""#))).collect();
        let told = turn(&format!("{CALL},{}", many.join(",")));
        assert_eq!(
            (told.results, told.more_results),
            (["r5\n", "r4\n", "r3\n", "r2\n"].map(String::from).to_vec(), 2)
        );
        let parts = result(r#"[{"type":"text","text":"a \"b\""}]"#);
        assert!(turn(&parts).results[0].contains("a \"b\""));
        assert!(turn(&result("\" \"")).results.is_empty());
    }

    #[test]
    fn a_long_result_is_told_by_its_ends_and_keys_are_masked() {
        let long = format!("first sk-quixotic123456 {} sk-quixotic654321 last", "word ".repeat(5_000));
        let told = turn(&result(&quoted(&long))).results.remove(0);
        assert!(told.len() <= TEXT + 1, "{}", told.len());
        assert!(
            told.starts_with("first [masked] word") && told.trim_end().ends_with("[masked] last"),
            "{told}"
        );
        assert!(!told.contains("quixotic"));
        // A key that goes across the cut is not told in part.
        let across = format!("{} sk-{} {}", "word ".repeat(1_000), "q".repeat(90), "w ".repeat(1_000));
        let told = turn(&result(&quoted(&across))).results.remove(0);
        assert!(!told.contains('q') && told.ends_with("w w w \n"), "{told}");
        for text in ["é".repeat(9_000), "\u{10ffff}".repeat(3_000), "x".repeat(70_000)] {
            assert!(turn(&result(&quoted(&text))).results[0].len() <= TEXT + 1);
        }
    }
}
