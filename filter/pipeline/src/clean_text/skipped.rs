//! Blocks in brackets at the beginning of a line. They are removed line by line, with what belongs to them.

use super::{Removal, tags::LONGEST};

/// What kind of block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Block {
    /// A call, or the context of one. Removed with its arguments.
    Call,
    /// Removed with its output, which ends with an empty line.
    Result,
    /// Removed up to an empty line.
    SystemMessage,
}

impl Block {
    pub fn step(self) -> Removal {
        match self {
            Self::Call | Self::Result => Removal::ToolText,
            Self::SystemMessage => Removal::SystemMessage,
        }
    }
}

/// Where in a block a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skip {
    /// In a line that is removed.
    Line,
    /// At the beginning of a line. It is not known yet whether the line belongs to the block.
    Start,
    /// In an object.
    Object { depth: usize, is_in_string: bool, is_escaped: bool, is_blank: bool },
}

/// What a character does to a block.
pub enum Skipped {
    On(Skip),
    /// It was the last character of the block.
    End,
    /// It is behind the block, and so is what was held.
    Behind,
}

const ARGUMENTS: &str = "Arguments:";
const OBJECT: Skip = Skip::Object { depth: 1, is_in_string: false, is_escaped: false, is_blank: false };

impl Skip {
    /// `held`: what has come of the line, as long as it is not known whether it belongs to the block.
    pub fn take(self, block: Block, held: &mut String, c: char) -> Skipped {
        match self {
            Self::Line if c == '\n' => Skipped::On(Self::Start),
            Self::Line => Skipped::On(self),
            Self::Start => start(block, held, c),
            Self::Object { depth, is_in_string, is_escaped, is_blank } => match c {
                // No JSON has an empty line in it, so the braces do not match.
                '\n' if is_blank => {
                    held.clear();
                    Skipped::End
                }
                '\n' => Skipped::On(Self::Object { depth, is_in_string, is_escaped: false, is_blank: true }),
                _ if is_in_string => Skipped::On(Self::Object {
                    depth,
                    is_in_string: is_escaped || c != '"',
                    is_escaped: c == '\\' && !is_escaped,
                    is_blank: is_blank && c.is_whitespace(),
                }),
                '}' if depth <= 1 => Skipped::On(Self::Line),
                _ => Skipped::On(Self::Object {
                    depth: match c {
                        '{' => depth.saturating_add(1),
                        '}' => depth.saturating_sub(1),
                        _ => depth,
                    },
                    is_in_string: c == '"',
                    is_escaped: false,
                    is_blank: is_blank && c.is_whitespace(),
                }),
            },
        }
    }
}

fn start(block: Block, held: &mut String, c: char) -> Skipped {
    match (block, c) {
        (Block::Result | Block::SystemMessage, '\n') => {
            held.clear();
            return Skipped::End;
        }
        (Block::Call | Block::Result, '{') if held.trim().is_empty() => {
            held.clear();
            return Skipped::On(OBJECT);
        }
        (Block::Call, '\n') if held.trim().is_empty() => {
            held.clear();
            return Skipped::On(Skip::Start);
        }
        (Block::Call, '}') if held.trim().is_empty() => {
            held.clear();
            return Skipped::On(Skip::Line);
        }
        (_, _) if c.is_whitespace() && held.trim().is_empty() => {
            if held.len() < LONGEST {
                held.push(c);
            }
            return Skipped::On(Skip::Start);
        }
        (Block::Result | Block::SystemMessage, _) => {
            held.clear();
            return Skipped::On(Skip::Line);
        }
        (Block::Call, _) => {}
    }
    held.push(c);
    let said = held.trim_start();
    if said == ARGUMENTS {
        held.clear();
    } else if !ARGUMENTS.starts_with(said) {
        held.pop();
        return Skipped::Behind;
    }
    Skipped::On(Skip::Start)
}
