//! The tags and the marks in brackets that are looked for, one character after the other.

use super::{Removal, skipped::Block};

/// The longest tag (bytes). What is longer is text.
pub const LONGEST: usize = 128;

/// What a tag stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TagKind {
    /// Removed with its content.
    Thinking,
    /// Removed without its content.
    Final,
    /// Removed with its content, if that is a call.
    Call,
    /// Removed with its content.
    Argument,
}

impl TagKind {
    pub fn step(self) -> Removal {
        match self {
            Self::Thinking => Removal::Thinking,
            Self::Final => Removal::Final,
            Self::Call | Self::Argument => Removal::ToolXml,
        }
    }
}

/// A name that tags have.
#[derive(Debug, PartialEq, Eq)]
pub struct Name {
    pub text: &'static str,
    pub kind: TagKind,
    /// An opening tag must have `name=`, or `=` behind its name.
    needs_name: bool,
}

const fn name(text: &'static str, kind: TagKind, needs_name: bool) -> Name {
    Name { text, kind, needs_name }
}

static NAMES: [Name; 17] = [
    name("think", TagKind::Thinking, false),
    name("thinking", TagKind::Thinking, false),
    name("thought", TagKind::Thinking, false),
    name("antthinking", TagKind::Thinking, false),
    name("final", TagKind::Final, false),
    name("tool_call", TagKind::Call, false),
    name("tool_calls", TagKind::Call, false),
    name("function_call", TagKind::Call, false),
    name("function_calls", TagKind::Call, false),
    name("tool_use", TagKind::Call, false),
    name("minimax:tool_call", TagKind::Call, false),
    name("invfunction_calls", TagKind::Call, false),
    name("functioninvoke", TagKind::Call, false),
    name("invoke", TagKind::Argument, true),
    name("function", TagKind::Argument, true),
    name("parameter", TagKind::Argument, true),
    name("redacted_thinking", TagKind::Thinking, false),
];

/// A tag that is whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag {
    pub name: &'static Name,
    /// `</...>`
    pub closes: bool,
    /// `<.../>`
    pub is_empty: bool,
}

/// What the characters since `<` or `[` may become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Candidate {
    /// `<`, and the beginning of a name. `start`: where the name begins.
    Name {
        closes: bool,
        start: usize,
    },
    /// Behind a name.
    Attributes {
        name: &'static Name,
        closes: bool,
        start: usize,
    },
    Mark,
}

/// What a character makes of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TagProgress {
    Maybe(Candidate),
    No,
    Tag(Tag),
    Block(Block),
}

impl Candidate {
    pub const TAG: Self = Self::Name { closes: false, start: 1 };

    /// `held`: everything since `<` or `[`, with its last character `c`.
    pub fn take(self, held: &str, c: char) -> TagProgress {
        if held.len() > LONGEST {
            return TagProgress::No;
        }
        match self {
            Self::Name { closes: false, start: 1 } if held == "</" => {
                TagProgress::Maybe(Self::Name { closes: true, start: 2 })
            }
            Self::Name { closes, start } => {
                let at = held.len().saturating_sub(c.len_utf8());
                let Some((before, said)) = held.split_at_checked(at) else { return TagProgress::No };
                let so_far = held.get(start..).unwrap_or_default();
                if NAMES.iter().any(|name| begins(name.text, so_far)) {
                    return TagProgress::Maybe(self);
                }
                let whole = before.get(start..).unwrap_or_default();
                let Some(name) = NAMES.iter().find(|name| name.text.eq_ignore_ascii_case(whole)) else {
                    return TagProgress::No;
                };
                let may_follow = matches!(said, ">" | "/" | " " | "\t") || said == "=" && name.needs_name;
                let start = before.len();
                if may_follow {
                    Self::Attributes { name, closes, start }.take(held, c)
                } else {
                    TagProgress::No
                }
            }
            Self::Attributes { name, closes, start } => {
                let attributes = held.get(start..).unwrap_or_default();
                match c {
                    '<' | '`' | '\n' | '[' => TagProgress::No,
                    '>' => {
                        let attributes = attributes.trim_end_matches('>');
                        let is_named =
                            attributes.starts_with('=') || attributes.trim_start().starts_with("name=");
                        let stands_alone = name.needs_name && !is_named && !closes;
                        // Other XML may have the closing tag of a function, but hardly that of a parameter.
                        let is_foreign = closes && name.needs_name && name.text != "parameter";
                        let is_bare = closes || name.kind == TagKind::Final;
                        if stands_alone || is_foreign || is_bare && !attributes.trim().is_empty() {
                            return TagProgress::No;
                        }
                        TagProgress::Tag(Tag { name, closes, is_empty: attributes.ends_with('/') })
                    }
                    _ => TagProgress::Maybe(self),
                }
            }
            Self::Mark => match MARKS.iter().find(|(mark, _)| mark.starts_with(held)) {
                Some((mark, block)) if mark.len() == held.len() => TagProgress::Block(*block),
                Some(_) => TagProgress::Maybe(self),
                None => TagProgress::No,
            },
        }
    }
}

const MARKS: [(&str, Block); 6] = [
    ("[Tool Call:", Block::Call),
    ("[Tool Result ", Block::Result),
    ("[Tool Result:", Block::Result),
    // In a sentence that only names it, words follow.
    ("[Tool Result]\n", Block::Result),
    ("[Historical context: a ", Block::Call),
    ("[System Message]", Block::SystemMessage),
];

/// Whether a name begins like this.
fn begins(name: &str, so_far: &str) -> bool {
    name.as_bytes()
        .get(..so_far.len())
        .is_some_and(|beginning| beginning.eq_ignore_ascii_case(so_far.as_bytes()))
}

/// The end of an element whose content is removed: how much of `</name>` has come.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ending(usize);

impl Ending {
    /// Whether this character is its last.
    pub fn take(&mut self, name: &'static Name, c: char) -> bool {
        let wanted = |at: usize| match at {
            0 => Some(b'<'),
            1 => Some(b'/'),
            _ => name.text.as_bytes().get(at.saturating_sub(2)).copied(),
        };
        match wanted(self.0) {
            Some(byte) if c.eq_ignore_ascii_case(&char::from(byte)) => self.0 = self.0.saturating_add(1),
            None if c == '>' => return true,
            None if c.is_ascii_whitespace() => {}
            _ => self.0 = usize::from(c == '<'),
        }
        false
    }

    pub fn has_begun(self) -> bool {
        self.0 > 0
    }
}
