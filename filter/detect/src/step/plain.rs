//! The text of a result without what agents that act in text put around it: tags, lines that are labels, an empty last value.

use std::borrow::Cow;

use memchr::memmem::Finder;

use crate::Sought;

/// A label is not longer than this (words).
const LABEL_WORDS: usize = 6;
/// A tag's name is not longer than this (bytes).
const TAG: usize = 40;

/// The text without tags and lines that are labels.
pub(crate) fn of(text: &str) -> Cow<'_, str> {
    let text = text.trim();
    static CLOSING: Sought = Sought::new(|| Finder::new("</"));
    let has_tags = CLOSING.is_in(text);
    let has_labels = text.lines().any(is_label);
    if !has_tags && !has_labels {
        return Cow::Borrowed(text);
    }
    let inner = if has_tags { without_tags(text) } else { text.to_owned() };
    let said = |line: &&str| !line.trim().is_empty() && !is_label(line);
    let lines: Vec<&str> = inner.lines().filter(said).collect();
    // Below a label, "None" says that there is nothing.
    let kept: Vec<&str> = lines.into_iter().filter(|line| !has_labels || line.trim() != "None").collect();
    Cow::Owned(kept.join("\n").trim().to_owned())
}

/// `Execution logs:`
fn is_label(line: &str) -> bool {
    let line = line.trim();
    line.strip_suffix(':').is_some_and(|label| {
        !label.contains(['{', '"', '<', ':'])
            && label.split_whitespace().count() <= LABEL_WORDS
            && !label.bytes().any(|byte| byte.is_ascii_digit())
            && !label.to_ascii_lowercase().ends_with("error")
            && !label.to_ascii_lowercase().ends_with("exception")
    })
}

/// Tags go, and so do elements that hold nothing but a number (`<returncode>0</returncode>`).
fn without_tags(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, tag)) = rest.split_once('<') {
        out.push_str(before);
        match tag_end(tag) {
            Some(end) => {
                // The words before and behind a tag stay apart.
                out.push(' ');
                rest = tag.get(end..).unwrap_or_default();
                if let Some((content, closing)) = rest.split_once("</")
                    && !tag.starts_with('/')
                    && !content.trim().is_empty()
                    && content.trim().bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
                    && let Some(end) = tag_end(closing)
                {
                    rest = closing.get(end..).unwrap_or_default();
                }
            }
            None => {
                out.push('<');
                rest = tag;
            }
        }
    }
    out.push_str(rest);
    out
}

/// Where the tag ends that begins behind a `<`.
fn tag_end(text: &str) -> Option<usize> {
    let name = text.strip_prefix('/').unwrap_or(text);
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic());
    let end = text.bytes().take(TAG).position(|byte| byte == b'>')?;
    is_name.then(|| end.saturating_add(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_around_a_result_goes() {
        for (text, plain) in [
            ("running", "running"),
            ("<returncode>0</returncode>\n<output>\nrunning\n</output>", "running"),
            ("<returncode>0</returncode>\n<output>\n</output>", ""),
            ("Observation:\nExecution logs:\nrunning\nLast output from code snippet:\nNone", "running"),
            ("Error: it rains", "Error: it rains"),
            ("None", "None"),
            ("a < b and b > c", "a < b and b > c"),
            ("1 < 2 </", "1 < 2 </"),
            ("Traceback:\nValueError:\nx", "ValueError:\nx"),
        ] {
            assert_eq!(of(text), plain, "{text}");
        }
    }
}
