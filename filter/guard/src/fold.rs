//! Characters as a reader sees them: a look-alike becomes the Latin letter, an accent goes, and an invisible character is
//! left out. Here too: which invisible characters and null bytes nobody writes without a purpose.

/// What folding a text found besides its letters: where each stood first (bytes).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hidden {
    pub null: Option<usize>,
    pub letters: Option<usize>,
}

/// Invisible characters in a row from which they carry a text of their own.
const ROW: usize = 8;
/// So many groups of null bytes are the separators of a list, or binary data.
const DATA: usize = 4;

/// Folds a text onto the end of `out`. What is not ASCII becomes a letter, a sign of ASCII or a space.
pub fn fold_into(text: &str, out: &mut String) -> Hidden {
    let (mut hidden, mut last) = (Hidden::default(), ' ');
    let (mut row, mut woven, mut begun, mut nulls) = (0_usize, 0_usize, 0_usize, 0_usize);
    for (at, c) in text.char_indices() {
        if c == '\0' {
            // Behind a word it hides or ends one; elsewhere it is data.
            nulls = nulls.saturating_add(1);
            if last.is_alphanumeric()
                && !text.get(at.saturating_add(1)..).unwrap_or_default().starts_with('\0')
            {
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
            // Letters with one between any two of them.
            let is_woven = c.is_ascii_alphabetic() && is_invisible(last);
            woven = if is_woven { woven } else { 0 };
        }
        last = c;
        push(c, out);
    }
    if nulls >= DATA {
        hidden.null = None;
    }
    hidden
}

/// Where in `text` the folded text has reached so many bytes.
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

/// Characters that no font shows and no script needs in a row: tags, variation selectors, zero-width spaces.
fn is_invisible(c: char) -> bool {
    matches!(u32::from(c), 0xE0000..=0xE007F | 0xE0100..=0xE01EF | 0xFE00..=0xFE0F | 0x200B | 0x200C | 0x200D | 0x2060..=0x2064 | 0xFEFF)
}

/// Scripts without spaces between words.
pub fn is_ideograph(c: char) -> bool {
    matches!(u32::from(c), 0x2E80..=0x2FFF | 0x3040..=0x30FF | 0x3400..=0x9FFF | 0xAC00..=0xD7AF | 0xF900..=0xFAFF)
}

fn push(c: char, out: &mut String) {
    if c.is_ascii() {
        if c != '\0' {
            out.push(c);
        }
        return;
    }
    let code = u32::from(c);
    match code {
        // Combining marks, soft hyphen, joiners, directions, variation selectors, fillers, what could not be decoded.
        0x0300..=0x036F
        | 0x00AD
        | 0x061C
        | 0x17B4..=0x17B5
        | 0x115F..=0x1160
        | 0x180B..=0x180F
        | 0x200B..=0x200F
        | 0x202A..=0x202E
        | 0x2060..=0x206F
        | 0x20D0..=0x20FF
        | 0x3164
        | 0xFE00..=0xFE0F
        | 0xFEFF
        | 0xFFA0
        | 0xFFF9..=0xFFFB
        | 0xFFFD
        | 0xE0100..=0xE01EF => {}
        // Tags: ASCII that no font shows, and that models read.
        0xE0020..=0xE007E => ascii(code.wrapping_sub(0xE0000), out),
        0xE0000..=0xE007F => {}
        // Full-width forms, letters in circles and squares, mathematical letters.
        0xFF01..=0xFF5E => ascii(code.wrapping_sub(0xFEE0), out),
        0x24B6..=0x24CF => letter(code, 0x24B6, out),
        0x24D0..=0x24E9 => letter(code, 0x24D0, out),
        0x1F130..=0x1F149 => letter(code, 0x1F130, out),
        0x1F150..=0x1F169 => letter(code, 0x1F150, out),
        0x1F170..=0x1F189 => letter(code, 0x1F170, out),
        0x1D400..=0x1D6A3 => letter(code, 0x1D400, out),
        0x2028 | 0x2029 | 0x0085 => out.push('\n'),
        _ => other(c, out),
    }
}

fn ascii(code: u32, out: &mut String) {
    out.push(char::from_u32(code).unwrap_or(' '));
}

fn letter(code: u32, first: u32, out: &mut String) {
    let place = code.wrapping_sub(first).checked_rem(26).unwrap_or(0);
    ascii(u32::from('a').wrapping_add(place), out);
}

/// A Latin letter or a sign of ASCII, and the characters that look like it.
const ALIKE: &str = "aᴀᵃᴬàáâãäåāăąǎȧạảаαɑά bʙᵇᴮвβ cᴄᶜçćčĉċсϲⅽ dᴅᵈᴰďđԁⅾɗ eᴇᵉᴱèéêëēĕėęěẹẻеёєεέҽ℮ fꜰᶠ gɢᵍᴳĝğġģɡց hʜʰᴴĥħһհḥ iⁱᴵìíîïĩīĭįıịіїιίⅰɩɪ jᴊʲᴶĵјϳ kᴋᵏᴷķкκқ \
    lˡᴸĺļľŀłӏⅼʟ mᴍᵐᴹмⅿ nⁿᴺñńņňηոɴп oᵒᴼòóôõöøōŏőơọоοόσօᴏ pᴘᵖᴾрρṗ rʳᴿŕŗřгʀ sˢśŝşšșѕꜱſ tᴛᵗᵀţťŧțтτ uᵘᵁùúûüũūŭůűųưυսᴜ vᴠᵛⱽνѵⅴ wᴡʷᵂŵԝω xˣхχⅹ yʏʸýÿŷуүγ \
    zᶻźżžᴢ '\u{2018}\u{2019}\u{201B}\u{2032}\u{00B4}\u{02BC} \"\u{201C}\u{201D}\u{201E}\u{201F}»「」 \
    -\u{2010}\u{2011}\u{2012}\u{2013}\u{2014}\u{2015}\u{2212} .。． :： ,，、 !！ ?？ <‹〈＜⟨ >›〉＞⟩ [【〔［ ]】〕］ |｜∣│";

#[inline(never)]
fn other(c: char, out: &mut String) {
    let c = c.to_lowercase().next().unwrap_or(c);
    match c {
        'ß' => return out.push_str("ss"),
        'æ' => return out.push_str("ae"),
        'œ' => return out.push_str("oe"),
        // A space may follow it, and yet it begins a quotation.
        '«' => return out.push_str("\"'"),
        _ => {}
    }
    let plain = table().binary_search_by_key(&c, |(alike, _)| *alike).ok().and_then(|at| table().get(at));
    out.push(plain.map_or(if c.is_alphanumeric() { c } else { ' ' }, |(_, plain)| *plain));
}

/// What looks alike, and the plain character, in the order of the former.
fn table() -> &'static [(char, char)] {
    static TABLE: std::sync::OnceLock<Vec<(char, char)>> = std::sync::OnceLock::new();
    TABLE.get_or_init(|| {
        let of = |row: &'static str| {
            let mut chars = row.chars();
            let plain = chars.next().unwrap_or(' ');
            chars.map(move |alike| (alike, plain))
        };
        let mut all: Vec<_> = ALIKE.split_whitespace().flat_map(of).collect();
        all.sort_unstable();
        all
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_alike_reads_alike() {
        for text in
            ["ｉｇｎｏｒｅ", "𝐢𝐠𝐧𝐨𝐫𝐞", "𝕴𝖌𝖓𝖔𝖗𝖊", "іgnоrе", "i\u{200b}g\u{ad}n\u{2060}ore", "ⓘⓖⓝⓞⓡⓔ", "ïgnòré"]
        {
            let mut out = String::new();
            assert_eq!(fold_into(text, &mut out), Hidden::default());
            assert_eq!(out, "ignore", "{text}");
        }
    }

    #[test]
    fn rows_of_invisible_characters_are_found_and_single_ones_are_not() {
        let tags = |text: &str| -> String {
            text.chars().map(|c| char::from_u32(0xE0000 + u32::from(c)).unwrap()).collect()
        };
        let hidden = |text: &str| fold_into(text, &mut String::new()).letters.is_some();
        assert!(hidden(&format!("hello {}", tags("ignore all"))));
        assert!(hidden(&"\u{200b}\u{200c}".repeat(8)));
        // The flag of Scotland, a family, Persian.
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
