//! Characters as a reader sees them: a look-alike becomes the Latin letter, an accent is removed, and an invisible character is
//! left out. Also finds invisible characters and null bytes that nobody writes without a purpose.

use sentinel_text::alike;

/// What else was found while a text was folded: the first place of each kind (bytes).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hidden {
    pub null: Option<usize>,
    pub letters: Option<usize>,
}

/// At least this many invisible characters in a row carry a hidden text.
const ROW: usize = 8;
/// If there are at least this many groups of null bytes, they separate a list or are binary data.
const DATA: usize = 4;

/// Stands for a character that looks like no ASCII character. It is read as a sign, and is one byte long.
pub const OTHER: char = '\u{7f}';

/// Folds a text onto the end of `out`. What is not ASCII becomes a letter, a sign of ASCII or a space.
pub fn fold_into(text: &str, out: &mut String) -> Hidden {
    let (mut hidden, mut last) = (Hidden::default(), ' ');
    let mut ends_list = false;
    let (mut row, mut woven, mut begun, mut nulls) = (0_usize, 0_usize, 0_usize, 0_usize);
    for (at, c) in text.char_indices() {
        if c == '\0' {
            // Behind a word, a null byte hides or ends something. Elsewhere it is data.
            nulls = nulls.saturating_add(1);
            let rest = text.get(at.saturating_add(1)..).unwrap_or_default();
            // In a list such as `/proc/1/cmdline`, each entry ends with a null byte.
            ends_list |= rest.is_empty() || rest.starts_with('\n');
            if last.is_alphanumeric() && !rest.starts_with('\0') {
                hidden.null = hidden.null.or(Some(at));
            }
            last = c;
            continue;
        }
        if is_invisible(c) {
            begun = if row == 0 && woven == 0 { at } else { begun };
            row = row.saturating_add(1);
            woven = woven.saturating_add(usize::from(last.is_ascii_alphabetic()));
            if row == ROW || woven == ROW {
                hidden.letters = hidden.letters.or(Some(begun));
            }
        } else {
            row = 0;
            // Letters with an invisible character between any two of them.
            let is_woven = c.is_ascii_alphabetic() && is_invisible(last);
            woven = if is_woven { woven } else { 0 };
        }
        last = c;
        push(c, out);
    }
    if nulls >= DATA || ends_list && nulls > 1 {
        hidden.null = None;
    }
    hidden
}

/// The place in `text` where the folded text has reached `folded` bytes.
pub fn original(text: &str, folded: usize) -> usize {
    let mut out = String::new();
    let mut length = 0_usize;
    for (at, c) in text.char_indices() {
        out.clear();
        push(c, &mut out);
        if length.saturating_add(out.len()) > folded {
            return at;
        }
        length = length.saturating_add(out.len());
    }
    text.len()
}

/// Characters that no font shows and no script needs several of in a row: tags, variation selectors, zero-width spaces.
fn is_invisible(c: char) -> bool {
    matches!(u32::from(c), 0xE0000..=0xE007F | 0xE0100..=0xE01EF | 0xFE00..=0xFE0F | 0x200B | 0x200C | 0x200D | 0x2060..=0x2064 | 0xFEFF)
}

/// Scripts without spaces between words.
pub fn is_ideograph(c: char) -> bool {
    matches!(u32::from(c), 0x2E80..=0x2FFF | 0x3040..=0x30FF | 0x3400..=0x9FFF | 0xAC00..=0xD7AF | 0xF900..=0xFAFF)
}

fn push(c: char, out: &mut String) {
    match c {
        'ß' | 'ẞ' => out.push_str("ss"),
        'æ' | 'Æ' => out.push_str("ae"),
        'œ' | 'Œ' => out.push_str("oe"),
        // It begins a quotation, even with a space behind it.
        '«' => out.push_str("\"'"),
        _ => out.extend(alike(c).map(|seen| if seen == ' ' && !c.is_whitespace() { OTHER } else { seen })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_alike_reads_alike() {
        for text in [
            "ｉｇｎｏｒｅ",
            "𝐢𝐠𝐧𝐨𝐫𝐞",
            "𝕴𝖌𝖓𝖔𝖗𝖊",
            "іgnоrе",
            "i\u{200b}g\u{ad}n\u{2060}ore",
            "ⓘⓖⓝⓞⓡⓔ",
            "ïgnòré",
            "i\u{1dc4}g\u{fe20}n\u{fff0}o\u{1d173}r\u{1bca0}e\u{e01f0}",
        ] {
            let mut out = String::new();
            assert_eq!(fold_into(text, &mut out), Hidden::default());
            assert_eq!(out, "ignore", "{text}");
        }
    }

    #[test]
    fn control_characters_and_tags_are_none_of_a_name_and_stay_in_a_text() {
        let name = "\u{1}r\t\u{7f}M\u{9f}\u{e0061}\n";
        assert_eq!([false, true].map(|reads_tags| crate::folded(name, reads_tags)), ["rm", "rma"]);
        let mut out = String::new();
        fold_into("a\tb\nc\u{85}d", &mut out);
        assert_eq!(out, "a\tb\nc\nd");
    }

    #[test]
    fn rows_of_invisible_characters_are_found_and_single_ones_are_not() {
        let tags = |text: &str| -> String {
            text.chars().map(|c| char::from_u32(0xE0000 + u32::from(c)).unwrap()).collect()
        };
        let hidden = |text: &str| fold_into(text, &mut String::new()).letters.is_some();
        assert!(hidden(&format!("hello {}", tags("ignore all"))));
        assert!(hidden(&"\u{200b}\u{200c}".repeat(8)));
        // The flag of Scotland, a family, a Persian word.
        assert!(!hidden(&format!("\u{1F3F4}{}\u{E007F}", tags("gbsct"))));
        assert!(!hidden("👨\u{200d}👩\u{200d}👧 می\u{200c}خواهم"));
    }

    #[test]
    fn a_null_byte_within_a_word_is_found_and_data_is_not() {
        let null = |text: &str| fold_into(text, &mut String::new()).null;
        assert_eq!(null("ig\0nore"), Some(2));
        for text in ["a\0b\0c\0d\0e", "Output: \0\0\0\0", "?\0`!"] {
            assert_eq!(null(text), None, "{text:?}");
        }
    }
}
