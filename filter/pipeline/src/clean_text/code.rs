//! Which characters of a text are code: fences and spans of backticks, as in Markdown. A span ends with its line.

/// White space, and the marks of quotes and lists.
pub fn may_stand_before_a_fence(c: char) -> bool {
    matches!(c, ' ' | '\t' | '>' | '-' | '*' | '+' | '.' | ')' | '0'..='9')
}

/// Where in code a text is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Code {
    #[default]
    None,
    /// A row of backticks or tildes that may open code.
    Opening {
        mark: char,
        length: usize,
        /// It stands in a place where a fence may stand.
        may_fence: bool,
    },
    /// The rest of the line of an opening fence.
    Info {
        mark: char,
        length: usize,
    },
    Fence {
        mark: char,
        length: usize,
        line: FenceLine,
    },
    /// `run`: backticks in a row, which may be its end.
    Span {
        length: usize,
        run: usize,
    },
}

/// What a line inside of a fence is so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FenceLine {
    Start,
    /// Marks in a row, which may be the end of the fence.
    Run(usize),
    /// An end with white space behind it.
    End,
    Other,
}

impl Code {
    /// Reads one more character. Returns whether it belongs to code or its marks. `may_fence`: so far, the line holds only what
    /// may stand before a fence.
    pub fn take(&mut self, c: char, may_fence: bool) -> bool {
        loop {
            let is_code;
            (*self, is_code) = match *self {
                Self::None if c == '`' || c == '~' && may_fence => {
                    (Self::Opening { mark: c, length: 1, may_fence }, true)
                }
                Self::None => return false,
                Self::Opening { mark, length, may_fence } if mark == c => {
                    (Self::Opening { mark, length: length.saturating_add(1), may_fence }, true)
                }
                Self::Opening { mark, length, may_fence } => {
                    *self = if may_fence && length >= 3 {
                        Self::Info { mark, length }
                    } else if mark == '`' {
                        Self::Span { length, run: 0 }
                    } else {
                        Self::None
                    };
                    continue;
                }
                Self::Info { mark, length } if c == '\n' => {
                    (Self::Fence { mark, length, line: FenceLine::Start }, true)
                }
                // The info string of a fence holds no backtick, so this is a span.
                Self::Info { mark: '`', length } if c == '`' => (Self::Span { length, run: 1 }, true),
                info @ Self::Info { .. } => (info, true),
                Self::Span { length, run } if c == '`' => {
                    (Self::Span { length, run: run.saturating_add(1) }, true)
                }
                Self::Span { length, run } if run == length => {
                    *self = Self::None;
                    continue;
                }
                Self::Span { .. } if c == '\n' => (Self::None, false),
                Self::Span { length, .. } => (Self::Span { length, run: 0 }, true),
                Self::Fence { mark, length, line } => (fence(mark, length, line, c), true),
            };
            return is_code;
        }
    }

    /// How many of the next bytes change nothing here. 0 if any of them may.
    pub fn plain(self, rest: &[u8]) -> usize {
        let end = match self {
            Self::None => rest.iter().position(|byte| matches!(byte, b'<' | b'`' | b'\n')),
            Self::Span { run: 0, .. } => rest.iter().position(|byte| matches!(byte, b'`' | b'\n')),
            Self::Fence { line: FenceLine::Other, .. } => rest.iter().position(|byte| *byte == b'\n'),
            _ => return 0,
        };
        end.unwrap_or(rest.len())
    }
}

fn fence(mark: char, length: usize, line: FenceLine, c: char) -> Code {
    let line = match (line, c) {
        (FenceLine::Run(run), '\n') if run >= length => return Code::None,
        (FenceLine::End, '\n') => return Code::None,
        (_, '\n') => FenceLine::Start,
        (FenceLine::Start, _) if c == mark => FenceLine::Run(1),
        (FenceLine::Start, ' ' | '\t' | '>') => FenceLine::Start,
        (FenceLine::Run(run), _) if c == mark => FenceLine::Run(run.saturating_add(1)),
        (FenceLine::Run(run), ' ' | '\t' | '\r') if run >= length => FenceLine::End,
        (FenceLine::End, ' ' | '\t' | '\r') => FenceLine::End,
        _ => FenceLine::Other,
    };
    Code::Fence { mark, length, line }
}
