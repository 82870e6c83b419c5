//! The characters of a text, or of the strings of a JSON text with their escapes.

/// Where characters come from. One type, so that the module has the reader once.
pub enum Source<'a> {
    Plain(std::str::Chars<'a>),
    Json(JsonChars<'a>),
}

impl<'a> Source<'a> {
    /// What comes next as it stands: escapes and all in JSON, up to the end and not only of the string.
    #[inline]
    pub fn ahead(&mut self) -> &'a str {
        match self {
            Self::Plain(chars) => chars.as_str(),
            Self::Json(chars) => chars.ahead(),
        }
    }

    /// Goes over so many bytes of what is ahead, which are characters that stand for themselves.
    #[inline]
    pub fn pass(&mut self, bytes: usize) {
        let chars = match self {
            Self::Plain(chars) => chars,
            Self::Json(JsonChars { chars, .. }) => chars,
        };
        *chars = chars.as_str().get(bytes..).unwrap_or_default().chars();
    }

    #[inline]
    pub fn is_json(&self) -> bool {
        matches!(self, Self::Json(_))
    }
}

impl Iterator for Source<'_> {
    type Item = char;

    #[inline]
    fn next(&mut self) -> Option<char> {
        match self {
            Self::Plain(chars) => chars.next(),
            Self::Json(chars) => chars.next(),
        }
    }
}

/// The characters in the strings of a JSON text; between two strings is the end of a line.
pub struct JsonChars<'a> {
    chars: std::str::Chars<'a>,
    in_string: bool,
}

impl<'a> JsonChars<'a> {
    pub fn new(json: &'a str) -> Self {
        Self { chars: json.chars(), in_string: false }
    }

    /// The rest of the text from within the next string on; nothing where there is no other.
    fn ahead(&mut self) -> &'a str {
        self.enter();
        if self.in_string { self.chars.as_str() } else { "" }
    }

    /// Goes into the next string, where it is in none.
    #[inline]
    fn enter(&mut self) {
        if !self.in_string {
            let rest = self.chars.as_str();
            if rest.is_empty() {
                return;
            }
            let quote = memchr::memchr(b'"', rest.as_bytes());
            self.in_string = quote.is_some();
            let inside = quote.map_or(rest.len(), |quote| quote.saturating_add(1));
            self.chars = rest.get(inside..).unwrap_or_default().chars();
        }
    }

    fn escape(&mut self) -> Option<char> {
        Some(match self.chars.next()? {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'b' | 'f' => ' ',
            'u' => {
                let unit = self.unit()?;
                if !(0xD800..0xDC00).contains(&unit) {
                    return Some(char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER));
                }
                let rest = self.chars.as_str();
                let Some(low) =
                    rest.strip_prefix("\\u").and_then(hex).filter(|low| (0xDC00..0xE000).contains(low))
                else {
                    return Some(char::REPLACEMENT_CHARACTER);
                };
                self.chars = rest.get(6..).unwrap_or_default().chars();
                let code = ((unit & 0x3FF) << 10 | (low & 0x3FF)).wrapping_add(0x1_0000);
                char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
            }
            other => other,
        })
    }

    fn unit(&mut self) -> Option<u32> {
        let unit = hex(self.chars.as_str())?;
        self.chars = self.chars.as_str().get(4..).unwrap_or_default().chars();
        Some(unit)
    }
}

/// The sign or white space that is next, and how many bytes it takes; nothing where anything else is.
#[inline]
pub fn plain_sign(ahead: &[u8], is_json: bool) -> Option<(u8, usize)> {
    let (sign, length) = match ahead {
        // The string ends.
        [b'"', ..] if is_json => return None,
        [b'\\', kind, ..] if is_json => match kind {
            b'n' => (b'\n', 2),
            b't' => (b'\t', 2),
            b'r' => (b'\r', 2),
            b'b' | b'f' => (b' ', 2),
            b'"' | b'\\' | b'/' => (*kind, 2),
            _ => return None,
        },
        [b'\\'] if is_json => return None,
        [sign, ..] => (*sign, 1),
        [] => return None,
    };
    let is_other = sign.is_ascii_alphanumeric() || !sign.is_ascii() || matches!(sign, b'\0' | b'_');
    (!is_other).then_some((sign, length))
}

fn hex(text: &str) -> Option<u32> {
    u32::from_str_radix(text.get(..4)?, 16).ok()
}

impl Iterator for JsonChars<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        self.enter();
        match self.chars.next()? {
            '"' => {
                self.in_string = false;
                Some('\n')
            }
            '\\' => self.escape(),
            other => Some(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_strings_of_json_are_read_with_their_escapes() {
        let read = |json: &str| JsonChars::new(json).collect::<String>();
        assert_eq!(read(r#""a\n\"b\u0041\ud83d\ude00""#), "a\n\"bA😀\n");
        assert_eq!(read(r#"{"k":["v",7,"\ud800x"]}"#), "k\nv\n\u{fffd}x\n");
        assert_eq!(read(r#""cut \u00"#), "cut ");
        assert_eq!(read("7"), "");
    }
}
