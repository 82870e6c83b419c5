//! Blocks in brackets that stand at the beginning of a line and go with what belongs to them, line by line.

use super::{Removal, tags::LONGEST};

/// What kind of block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Block {
    /// A call, or the context of one: goes with its arguments.
    Call,
    /// Goes with its output, which ends with an empty line.
    Result,
    /// Goes up to an empty line.
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
    /// In a line that goes.
    Line,
    /// At the beginning of a line: what it is is not known.
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
    /// `held`: what has come of a line whose kind is not known.
    pub fn take(self, block: Block, held: &mut String, c: char) -> Skipped {
        match self {
            Self::Line if c == '\n' => Skipped::On(Self::Start),
            Self::Line => Skipped::On(self),
            Self::Start => start(block, held, c),
            Self::Object { depth, is_in_string, is_escaped, is_blank } => match c {
                // No JSON has an empty line in it: the braces do not match.
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
