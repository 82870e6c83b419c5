//! Words that ask for the same. Stricter than what tells a rewording from a batch (`wording/synonyms.rs`): there a mistake
//! costs a hint, here a wrong answer.

use std::{collections::HashMap, sync::LazyLock};

use crate::wording::stem;

/// One group a line: words that can be exchanged in a question and leave its answer as it is, whatever they are said of.
const GROUPS: &str = include_str!("equivalents.txt");

/// What a word has in common with those that ask for the same: its root, and the groups it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Key {
    root: String,
    groups: &'static [usize],
}

impl Key {
    pub fn of(word: &str) -> Self {
        static GROUPS_OF: LazyLock<HashMap<String, Vec<usize>>> = LazyLock::new(|| {
            let mut groups: HashMap<String, Vec<usize>> = HashMap::new();
            for (number, group) in GROUPS.lines().enumerate().filter(|(_, line)| !line.starts_with('#')) {
                for word in group.split_ascii_whitespace() {
                    groups.entry(root(word)).or_default().push(number);
                }
            }
            groups
        });
        let root = root(word);
        let groups = GROUPS_OF.get(&root).map(Vec::as_slice).unwrap_or_default();
        Self { root, groups }
    }

    pub fn is_like(&self, other: &Self) -> bool {
        self.root == other.root || self.groups.iter().any(|group| other.groups.contains(group))
    }
}

/// The stem of a word in one spelling, and of the noun made of a verb.
fn root(word: &str) -> String {
    const OWN_MEANING: &str =
        "hardly lately nearly mostly highly shortly barely news goods customs species series means";
    if OWN_MEANING.split(' ').any(|own| own == word) || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return word.to_owned();
    }
    let spelt = american(word);
    for ending in ["ation", "ations", "ate", "ates", "ated", "ating"] {
        if let Some(rest) = spelt.strip_suffix(ending)
            && rest.len() > 3
        {
            return stem::of(rest);
        }
    }
    for ending in ["ion", "ions"] {
        if let Some(rest) = spelt.strip_suffix(ending)
            && rest.len() > 4
            && rest.ends_with(['t', 's'])
        {
            return stem::of(&format!("{rest}e"));
        }
    }
    stem::of(&spelt)
}

/// British spelling as American.
fn american(word: &str) -> String {
    const ENDINGS: [(&str, &str); 10] = [
        ("our", "or"),
        ("ours", "ors"),
        ("oured", "ored"),
        ("ouring", "oring"),
        ("tre", "ter"),
        ("tres", "ters"),
        ("yse", "yze"),
        ("ysing", "yzing"),
        ("ogue", "og"),
        ("ence", "ense"),
    ];
    ENDINGS
        .iter()
        .find_map(|(british, ours)| {
            word.strip_suffix(british).filter(|rest| rest.len() > 2).map(|rest| format!("{rest}{ours}"))
        })
        .unwrap_or_else(|| word.to_owned())
}

#[cfg(test)]
mod tests {
    use super::Key;

    #[test]
    fn inflections_spellings_and_equivalents_have_one_key() {
        for (a, b) in [
            ("colour", "colors"),
            ("centre", "center"),
            ("analyse", "analyzing"),
            ("calculate", "calculation"),
            ("install", "installation"),
            ("create", "creation"),
            ("connect", "connections"),
            ("buy", "purchasing"),
            ("car", "automobile"),
            ("begin", "started"),
        ] {
            assert!(Key::of(a).is_like(&Key::of(b)), "{a} {b}");
        }
    }

    #[test]
    fn words_of_another_sense_have_other_keys() {
        for (a, b) in [
            ("install", "uninstall"),
            ("hard", "hardly"),
            ("late", "lately"),
            ("increase", "decrease"),
            ("four", "for"),
            ("state", "station"),
            ("habit", "habitat"),
            ("good", "goods"),
            ("teacher", "teach"),
            ("absorb", "adsorb"),
        ] {
            assert!(!Key::of(a).is_like(&Key::of(b)), "{a} {b}");
        }
    }
}
