//! Long paragraphs of prose that say what the one before them says, as a model stutters. In code, verse, lists and tables a
//! repetition is meant.

use super::code::Code;

/// The text without them. Returns `None` when it has none.
pub fn without_repetitions(text: &str) -> Option<String> {
    // Nearly every text has none, in code or elsewhere.
    let mut last = "";
    let said = text.split("\n\n").map(str::trim).filter(|said| !said.is_empty());
    let mut repeats = said.map(|said| std::mem::replace(&mut last, said) == said);
    if !repeats.any(|is_repetition| is_repetition) {
        return None;
    }
    let (mut left, mut before, mut has_repetitions) = (Vec::new(), "", false);
    let mut code = Code::default();
    for paragraph in text.split("\n\n") {
        let (said, was_code) = (paragraph.trim(), code != Code::None);
        let has_code = pass(&mut code, paragraph);
        let is_plain = !was_code && !has_code && is_prose(said);
        if is_plain && !said.is_empty() && said == before {
            has_repetitions = true;
            continue;
        }
        left.push(paragraph);
        match is_plain {
            _ if said.is_empty() => {}
            true => before = said,
            false => before = "",
        }
    }
    has_repetitions.then(|| left.join("\n\n"))
}

/// A line of verse or of a table is shorter, and stands among others.
const SHORTEST: usize = 120;

fn is_prose(paragraph: &str) -> bool {
    paragraph.len() >= SHORTEST
        && !paragraph.contains('\n')
        && paragraph.starts_with(|c: char| c.is_alphanumeric() || "\"'“‘«*_".contains(c))
        && paragraph.ends_with(['.', '!', '?', '"', '”', '»', '。', '！', '？'])
}

/// Whether a paragraph begins or ends a fence, or is in one.
fn pass(code: &mut Code, paragraph: &str) -> bool {
    let (mut may_fence, mut has_fence) = (true, false);
    for c in paragraph.chars().chain(['\n', '\n']) {
        code.take(c, may_fence);
        may_fence = c == '\n' || may_fence && may_stand_before_a_fence(c);
        has_fence |= matches!(code, Code::Fence { .. });
    }
    has_fence
}

/// White space, quotes, and the marks of lists.
pub fn may_stand_before_a_fence(c: char) -> bool {
    matches!(c, ' ' | '\t' | '>' | '-' | '*' | '+' | '.' | ')' | '0'..='9')
}
