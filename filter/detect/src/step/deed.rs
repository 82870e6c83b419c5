//! What a tool does, guessed from its name: it decides how a short result is read. Nothing else may depend on names.

use serde::{Deserialize, Serialize};

/// What a tool does, by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) enum Deed {
    /// It tells something: what it says is what it was called for, be it a word.
    Ask,
    /// It changes something, or runs what it is given: it may say nothing, and say the same of every change.
    Act,
    /// It sends something: its receipt has a new id each time.
    Send,
}

impl Deed {
    pub fn of(name: &str) -> Self {
        const SEND: [&str; 8] = ["send", "post", "publish", "notify", "reply", "submit", "email", "message"];
        const ACT: [&str; 34] = [
            "write", "create", "insert", "append", "add", "update", "upsert", "set", "put", "save", "store",
            "delete", "remove", "move", "copy", "rename", "edit", "modify", "replace", "patch", "upload",
            "fill", "type", "make", "run", "exec", "execute", "bash", "shell", "terminal", "command",
            "python", "code", "sql",
        ];
        let has = |verbs: &[&str]| {
            name_words(name).any(|word| verbs.iter().any(|verb| word.eq_ignore_ascii_case(verb)))
        };
        if has(&SEND) {
            Self::Send
        } else if has(&ACT) {
            Self::Act
        } else {
            Self::Ask
        }
    }
}

/// The words of `write_file`, `writeFile` and `fs.write`.
fn name_words(name: &str) -> impl Iterator<Item = &str> {
    name.split(|c: char| !c.is_ascii_alphabetic()).flat_map(|part| {
        let mut rest = part;
        std::iter::from_fn(move || {
            let hump =
                |pair: &[u8]| matches!(pair, [a, b] if a.is_ascii_lowercase() && b.is_ascii_uppercase());
            let end = rest.as_bytes().windows(2).position(hump).map_or(rest.len(), |at| at.saturating_add(1));
            let (word, after) = rest.split_at_checked(end)?;
            rest = after;
            (!word.is_empty()).then_some(word)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_is_known_by_the_verbs_in_its_name() {
        for name in ["write_file", "fs.writeFile", "WRITE", "mcp__notes__add"] {
            assert_eq!(Deed::of(name), Deed::Act, "{name}");
        }
        for name in ["get_settings", "look_up_address", "credit_check", "search"] {
            assert_eq!(Deed::of(name), Deed::Ask, "{name}");
        }
        assert_eq!(Deed::of("sendMail"), Deed::Send);
    }
}
