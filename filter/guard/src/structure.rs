//! Marks that only a chat template, a provider or an operator writes: `<|im_start|>`, `[INST]`, `###(system_message)`, a closing
//! tag around the model's input that was never opened, a line that says that the prompt ends.

use crate::{
    Matches, Pattern,
    tokens::{COLON, LINE, QUOTE, SIGN, STOP, Token, UNQUOTE},
    word_table::kinds_of,
    words::{
        AI, CHAT, END, FRAME, IGNORE, INSTRUCTION, MODAL, PROMPT, RULE, SAID, SYSTEM, THIRD, WITHIN, YOU,
    },
};

/// No tag of a template is longer (bytes).
const LONGEST: usize = 40;

/// Judges the tags of a folded text.
pub fn tags(text: &str, found: &mut Matches) {
    // Frames that are open, the number of fences so far, up to where they were counted, and the place of the last fence.
    let (mut opened, mut fences, mut counted, mut last) = (0_usize, 0_usize, 0_usize, None);
    for at in memchr::memchr3_iter(b'<', b'[', b'#', text.as_bytes()) {
        let (before, rest) = text.split_at_checked(at).unwrap_or_default();
        let Some(tag) = Tag::of(before, rest) else { continue };
        if tag.is_frame() && !tag.is_closing {
            opened = opened.saturating_add(1);
        }
        let pattern = if tag.is_template() {
            Pattern::SystemTags
        } else if tag.is_frame() && tag.is_closing {
            if opened > 0 || !tag.is_used() {
                opened = opened.saturating_sub(1);
                continue;
            }
            Pattern::DelimiterEscape
        } else {
            continue;
        };
        let between = text.get(counted..at).unwrap_or_default();
        fences = fences.saturating_add(memchr::memmem::find_iter(between.as_bytes(), "```").count());
        counted = at;
        // Without a closing fence, it is no block.
        let last_fence = || text.as_bytes().windows(3).rposition(|part| part == b"```");
        let mut is_closed = || *last.get_or_insert_with(last_fence) >= Some(at);
        let is_code = fences % 2 == 1 && is_closed() || is_quoted(before, tag.behind);
        if !is_code && !found.has(pattern) {
            found.add(pattern, at);
        }
    }
}

/// A tag in angle brackets or square ones, or behind the marks of a heading.
struct Tag<'t> {
    /// Without brackets and bars.
    name: &'t str,
    is_closing: bool,
    /// `<|..|>`, `<<..>>`
    is_double: bool,
    is_barred: bool,
    is_square: bool,
    is_heading: bool,
    begins_line: bool,
    behind: &'t str,
}

impl<'t> Tag<'t> {
    fn of(before: &str, text: &'t str) -> Option<Self> {
        // Of several such signs in a row, only the first. Most are signs of a program or of HTML, and are skipped quickly.
        let can_begin = match text.as_bytes() {
            [b'#', b'#', ..] => !before.ends_with('#'),
            [b'<', b'a'..=b'z' | b'A'..=b'Z' | b'|' | b'/' | b'<', ..] => !before.ends_with('<'),
            [b'[', b'A'..=b'Z' | b'/', ..] => true,
            _ => false,
        };
        if !can_begin {
            return None;
        }
        let ahead = before.trim_end_matches([' ', '\t']);
        // Llama 2 has the mark of the system behind its own mark.
        let begins_line =
            ahead.ends_with(['\n', '.', '!', '>']) || ahead.ends_with("[INST]") || before.is_empty();
        let marks = text.len().saturating_sub(text.trim_start_matches('#').len());
        let text = text.get(marks..)?.trim_start_matches(' ');
        let is_heading = marks >= 2;
        if marks > 0 && !(is_heading && text.starts_with(['(', '[', '<'])) {
            return None;
        }
        let is_square = text.starts_with('[');
        let inside = text.get(1..)?;
        let window = inside.get(..inside.floor_char_boundary(LONGEST)).unwrap_or_default();
        let line = window.split('\n').next().unwrap_or_default();
        let end = line.bytes().position(|byte| matches!(byte, b'>' | b']' | b')'))?;
        let (name, behind) = inside.split_at_checked(end)?;
        let (is_double, is_barred) = (name.starts_with(['|', '<']), name.starts_with('|'));
        let is_closing = name.trim_start_matches(['|', '<']).starts_with('/');
        let name = name.trim_matches(['|', '<', '/', ' ']);
        // Attributes.
        let name = if name.contains('=') { name.split(' ').next().unwrap_or_default() } else { name };
        Some(Self {
            name,
            is_closing,
            is_double,
            is_barred,
            is_square,
            is_heading,
            begins_line,
            behind: behind.get(1..)?,
        })
    }

    /// Whether its name has only words of these kinds.
    fn words(&self, kinds: u64) -> bool {
        let mut words = self.name.split(['_', '-', ' ']).filter(|word| !word.is_empty()).peekable();
        words.peek().is_some() && words.all(|word| kinds_of(word) & kinds != 0)
    }

    /// Whether it is a mark of a chat template that is used and not only named.
    fn is_template(&self) -> bool {
        if self.is_heading {
            return self.words(SYSTEM | SAID | PROMPT | INSTRUCTION) && self.words_any(SYSTEM);
        }
        if self.is_square {
            let is_loud = !self.name.bytes().any(|byte| byte.is_ascii_lowercase());
            let is_head =
                is_loud && self.words(SYSTEM | SAID | PROMPT | INSTRUCTION) && self.words_any(SYSTEM);
            return (self.name == "INST" || is_head && self.name.contains(' ')) && self.is_used();
        }
        let is_mark = match self.is_double {
            // `<<user>>` is a UML stereotype, or a field of a form letter.
            true => self.name == "SYS" || self.is_barred && self.words(CHAT),
            false => matches!(self.name, "start_of_turn" | "end_of_turn"),
        };
        is_mark && self.is_used()
    }

    /// Whether the tag is really used: it stands at the beginning of a line, or text follows directly behind it. With a
    /// placeholder behind it, it belongs to a template, and at the end of a string, to a program.
    fn is_used(&self) -> bool {
        let behind = self.behind.trim_start_matches(['>', ' ', '\n']);
        // "<|im_end|> closes a turn."
        let word =
            self.behind.strip_prefix(' ').and_then(|behind| behind.split(' ').next()).unwrap_or_default();
        let is_told = word.ends_with('s') && word.bytes().all(|byte| byte.is_ascii_lowercase());
        const FILLED_IN: [char; 12] = ['{', '%', '$', '"', '\'', '`', '\\', '+', '<', '[', ',', ')'];
        // `<|im_start|>user\n{question}<|im_end|>`: only a placeholder stands between the marks.
        let content = behind.as_bytes();
        let role = content.iter().take_while(|byte| byte.is_ascii_lowercase()).count();
        let content = content.get(role..).unwrap_or_default().trim_ascii_start();
        let end = content.iter().take(LONGEST).position(|byte| matches!(byte, b'}' | b' ' | b'\n'));
        let end = end.filter(|_| content.starts_with(b"{")).and_then(|end| content.get(end..));
        let is_filler = matches!(end, Some([b'}', b'<' | b'"' | b'\'' | b'`', ..]));
        let is_filled_in = behind.starts_with(FILLED_IN) || is_filler;
        !behind.is_empty()
            && (self.begins_line || self.behind.starts_with(|c: char| c.is_alphanumeric()))
            && !is_filled_in
            && !is_told
    }

    fn words_any(&self, kinds: u64) -> bool {
        self.name.split(['_', '-', ' ']).any(|word| kinds_of(word) & kinds != 0)
    }

    /// Whether it is a tag around what the model is given: its instructions, its input, the result of a tool.
    fn is_frame(&self) -> bool {
        !self.is_square
            && !self.is_heading
            && !self.is_double
            && self.words(FRAME)
            && self.words_any(INSTRUCTION | PROMPT | SYSTEM) | self.name.contains(['_', '-'])
    }
}

/// Whether a tag stands in quotation marks, or in a program's text.
fn is_quoted(before: &str, behind: &str) -> bool {
    before.ends_with(['"', '\'', '`', '\\', '(', ',']) || behind.starts_with(['"', '\'', '`'])
}

/// Words with which such a line begins.
pub const BEGINNINGS: u64 = SYSTEM | END;

/// Judges lines such as "--- END OF SYSTEM PROMPT ---" and "SYSTEM: you must ..".
pub fn lines(tokens: &[Token], found: &mut Matches) {
    for (at, token) in tokens.iter().enumerate() {
        if !token.follows(LINE | STOP) || !token.is(BEGINNINGS) {
            continue;
        }
        let after = tokens.get(at.saturating_add(1)..).unwrap_or_default();
        let words = after.iter().position(|word| word.gap != 0).unwrap_or(after.len());
        let (line, next) = after.split_at_checked(words.min(6)).unwrap_or_default();
        let is_about = |kinds: u64| line.iter().any(|word| word.is(kinds));
        if token.is(END) {
            // "END OF USER INPUT". But tools print such lines around their results, and scripts around their parts.
            let frames = line.iter().filter(|word| word.is(FRAME)).count();
            let is_last = || next.first().is_none_or(|next| next.follows(LINE | STOP));
            let is_of_system = is_about(SYSTEM) && (frames >= 2 || is_last());
            let is_input =
                token.is_loud && line.iter().any(|word| word.is(FRAME) && word.is(THIRD)) && frames >= 2;
            let is_known = |word: &Token| !word.is_unknown() && (!word.is(SAID) || word.is(FRAME));
            let is_prompt = (is_about(PROMPT) || is_of_system || is_input) && line.iter().all(is_known);
            if is_prompt
                && (token.is_loud || token.follows(SIGN))
                && next.first().is_none_or(|next| next.follows(SIGN | LINE | STOP))
            {
                found.add(Pattern::DelimiterEscape, token.offset);
            }
            continue;
        }
        let is_head = line.iter().all(|word| word.is(SAID | PROMPT | INSTRUCTION | RULE | WITHIN | AI));
        let told = next.get(..next.len().min(8)).unwrap_or_default();
        // The order must follow directly behind the tag: `<system-..>` is another tag.
        let is_order = match told {
            [you, must, ..] if you.is(YOU) => must.is(MODAL),
            [first, ..] => first.is(IGNORE | AI),
            [] => false,
        };
        let signs = next.first().map_or(0, |next| next.gap);
        let is_tag = token.follows(SIGN) && signs & SIGN != 0 && (token.gap | signs) & (QUOTE | UNQUOTE) == 0;
        let is_line = token.is_loud && signs & COLON != 0 && told.iter().any(|word| word.is(IGNORE | AI));
        if is_head && (is_tag && is_order || is_line) {
            found.add(Pattern::SystemTags, token.offset);
        }
    }
}
