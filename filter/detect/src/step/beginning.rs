//! The first letters of a result, behind what it may be wrapped in. Most results that differ do so early, and need not be judged.

/// Characters of a result that are looked at before it is judged: results that differ do so early.
const BEGINNING: usize = 32;

/// Whether a string, as written in a body, may hold a text in one more wrapper, so that its first letters are not those of the text.
/// Returns false for strings longer than `MOST`: they are compared by their first letters anyway.
pub(super) fn may_be_wrapped(string: &str) -> bool {
    /// Longer results have the same form each time (bytes).
    const MOST: usize = 1_024;
    /// A label or the first field ends here at the latest (bytes).
    const LABEL: usize = 40;
    let text = string.strip_prefix('"').unwrap_or(string).trim_start();
    let has_label = || text.bytes().take(LABEL).any(|byte| matches!(byte, b':' | b'='));
    string.len() <= MOST && (text.starts_with(['{', '[', '\\']) || has_label())
}

/// A digest of the beginning of a text behind what it may be wrapped in. Nothing where it cannot be read.
pub(super) fn beginning(chars: impl Iterator<Item = Option<char>>) -> Option<u64> {
    /// Characters that are read, with those of a wrapper.
    const WRAPPED: usize = 96;
    Some(digest_of_beginning(&chars.take(WRAPPED).collect::<Option<String>>()?))
}

/// Digest of the first characters that are neither white space nor an escape.
#[inline(never)]
fn digest_of_beginning(text: &str) -> u64 {
    let (mut hash, mut is_escaped, mut count) = (0xCBF2_9CE4_8422_2325_u64, false, 0_usize);
    for c in peeled(text.trim_start()).chars() {
        let is_told = !c.is_whitespace() && c != '\\' && !(is_escaped && matches!(c, 'n' | 't' | 'r'));
        is_escaped = c == '\\';
        if count >= BEGINNING {
            break;
        }
        if is_told {
            // FNV-1a.
            hash = (hash ^ u64::from(u32::from(c))).wrapping_mul(0x100_0000_01B3);
            count = count.saturating_add(1);
        }
    }
    hash
}

/// The beginning of a text without what it may be wrapped in: brackets, quotes, and names of members. Of a block's type its value too.
fn peeled(text: &str) -> &str {
    let is_mark = |c: char| matches!(c, '{' | '[' | '"' | '\\') || c.is_whitespace();
    if !text.starts_with(['{', '[', '"']) {
        return text;
    }
    let mut rest = text.trim_start_matches(is_mark);
    loop {
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        let (name, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
        let value = after.trim_start_matches('\\').strip_prefix('"').map(str::trim_start);
        let Some(value) = value.and_then(|value| value.strip_prefix(':')) else { return rest };
        let value =
            if name == "type" { value.split_once(',').map_or(value, |(_, next)| next) } else { value };
        rest = value.trim_start_matches(is_mark);
    }
}
