//! Characters as a reader sees them: a look-alike becomes the Latin letter, and an invisible character is left out.

/// What a character is read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Folded {
    One(char),
    Two(char, char),
    /// Nobody sees it.
    Nothing,
}

/// The character in lower case, without accents, in the letter that it looks like.
#[inline]
pub fn fold(c: char) -> Folded {
    if c.is_ascii() { Folded::One(c.to_ascii_lowercase()) } else { fold_wide(c) }
}

fn fold_wide(c: char) -> Folded {
    let code = u32::from(c);
    match code {
        // Combining marks, soft hyphen, joiners, directions, variation selectors, Hangul and Mongolian fillers.
        0x0300..=0x036F
        | 0x00AD
        | 0x061C
        | 0x115F..=0x1160
        | 0x17B4..=0x17B5
        | 0x180B..=0x180F
        | 0x1AB0..=0x1AFF
        | 0x1DC0..=0x1DFF
        | 0x200B..=0x200F
        | 0x202A..=0x202E
        | 0x2060..=0x206F
        | 0x20D0..=0x20FF
        | 0x3164
        | 0xFE00..=0xFE0F
        | 0xFE20..=0xFE2F
        | 0xFEFF
        | 0xFFA0
        | 0xE0100..=0xE01EF => Folded::Nothing,
        // Tags: ASCII that no font shows, and that models read.
        0xE0020..=0xE007E => ascii(code, 0xE0000),
        0xE0000..=0xE007F => Folded::Nothing,
        // Full-width forms.
        0xFF01..=0xFF5E => ascii(code, 0xFEE0),
        // Letters in circles, squares and brackets, and mathematical ones.
        0x24B6..=0x24CF => letter(code, 0x24B6),
        0x24D0..=0x24E9 => letter(code, 0x24D0),
        0x249C..=0x24B5 => letter(code, 0x249C),
        0x1F130..=0x1F149 => letter(code, 0x1F130),
        0x1F150..=0x1F169 => letter(code, 0x1F150),
        0x1F170..=0x1F189 => letter(code, 0x1F170),
        0x1F1E6..=0x1F1FF => letter(code, 0x1F1E6),
        0x1D400..=0x1D6A3 => letter(code, 0x1D400),
        0x1D7CE..=0x1D7FF => digit(code.wrapping_sub(0x1D7CE)),
        _ => other(c),
    }
}

fn ascii(code: u32, offset: u32) -> Folded {
    let c = char::from_u32(code.wrapping_sub(offset)).unwrap_or(' ');
    Folded::One(c.to_ascii_lowercase())
}

fn letter(code: u32, first: u32) -> Folded {
    let place = code.wrapping_sub(first).checked_rem(26).unwrap_or(0);
    Folded::One(char::from_u32(u32::from('a').wrapping_add(place)).unwrap_or('a'))
}

fn digit(place: u32) -> Folded {
    Folded::One(char::from_digit(place.checked_rem(10).unwrap_or(0), 10).unwrap_or('0'))
}

#[inline(never)]
fn other(c: char) -> Folded {
    let c = c.to_lowercase().next().unwrap_or(c);
    let plain = match c {
        'à' | 'á' | 'â' | 'ã' | 'ä' | 'å' | 'ā' | 'ă' | 'ą' | 'ǎ' | 'ȧ' | 'ạ' | 'ả' | 'а' | 'α' | 'ɑ'
        | 'ά' | 'ª' => 'a',
        'ç' | 'ć' | 'č' | 'ĉ' | 'ċ' | 'с' | 'ϲ' | 'ⅽ' => 'c',
        'ď' | 'đ' | 'ԁ' | 'ⅾ' | 'ɗ' => 'd',
        'è' | 'é' | 'ê' | 'ë' | 'ē' | 'ĕ' | 'ė' | 'ę' | 'ě' | 'ẹ' | 'ẻ' | 'е' | 'ё' | 'є' | 'ε' | 'έ'
        | 'ҽ' | '℮' => 'e',
        'ĝ' | 'ğ' | 'ġ' | 'ģ' | 'ɡ' | 'ց' => 'g',
        'ĥ' | 'ħ' | 'һ' | 'հ' | 'ḥ' => 'h',
        'ì' | 'í' | 'î' | 'ï' | 'ĩ' | 'ī' | 'ĭ' | 'į' | 'ı' | 'ị' | 'і' | 'ї' | 'ι' | 'ί' | 'ⅰ' | 'ɩ'
        | 'ɪ' => 'i',
        'ĵ' | 'ј' | 'ϳ' => 'j',
        'ķ' | 'к' | 'κ' | 'қ' => 'k',
        'ĺ' | 'ļ' | 'ľ' | 'ŀ' | 'ł' | 'ӏ' | 'ⅼ' | 'ʟ' => 'l',
        'м' | 'ⅿ' => 'm',
        'ñ' | 'ń' | 'ņ' | 'ň' | 'ŉ' | 'η' | 'ո' | 'ɴ' | 'п' => 'n',
        'ò' | 'ó' | 'ô' | 'õ' | 'ö' | 'ø' | 'ō' | 'ŏ' | 'ő' | 'ơ' | 'ọ' | 'о' | 'ο' | 'ό' | 'σ' | 'օ'
        | 'º' | 'ᴏ' => 'o',
        'р' | 'ρ' | 'ṗ' => 'p',
        'ŕ' | 'ŗ' | 'ř' | 'г' | 'ʀ' => 'r',
        'ś' | 'ŝ' | 'ş' | 'š' | 'ș' | 'ѕ' | 'ꜱ' => 's',
        'ţ' | 'ť' | 'ŧ' | 'ț' | 'т' | 'τ' => 't',
        'ù' | 'ú' | 'û' | 'ü' | 'ũ' | 'ū' | 'ŭ' | 'ů' | 'ű' | 'ų' | 'ư' | 'υ' | 'ս' | 'ᴜ' => {
            'u'
        }
        'ν' | 'ѵ' | 'ⅴ' => 'v',
        'ŵ' | 'ԝ' | 'ω' => 'w',
        'х' | 'χ' | 'ⅹ' => 'x',
        'ý' | 'ÿ' | 'ŷ' | 'у' | 'ү' | 'γ' => 'y',
        'ź' | 'ż' | 'ž' | 'ᴢ' => 'z',
        'в' | 'β' => 'b',
        'ſ' => 's',
        '\u{2018}' | '\u{2019}' | '\u{201B}' | '\u{2032}' | '\u{00B4}' | '\u{02BC}' => '\'',
        '\u{201C}' | '\u{201D}' | '\u{201E}' | '\u{201F}' | '«' | '»' | '\u{2033}' | '「' | '」' => '"',
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        '\u{2028}' | '\u{2029}' | '\u{0085}' => '\n',
        '。' | '．' => '.',
        '：' => ':',
        '，' | '、' => ',',
        '！' => '!',
        '？' => '?',
        '‹' | '〈' | '＜' | '⟨' => '<',
        '›' | '〉' | '＞' | '⟩' => '>',
        '【' | '〔' | '［' => '[',
        '】' | '〕' | '］' => ']',
        '｜' | '∣' | '│' => '|',
        'ß' => return Folded::Two('s', 's'),
        'æ' => return Folded::Two('a', 'e'),
        'œ' => return Folded::Two('o', 'e'),
        other if other.is_whitespace() => ' ',
        other => other,
    };
    Folded::One(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_alike_reads_alike() {
        let read = |text: &str| {
            let mut out = String::new();
            for c in text.chars() {
                match fold(c) {
                    Folded::One(c) => out.push(c),
                    Folded::Two(a, b) => out.extend([a, b]),
                    Folded::Nothing => {}
                }
            }
            out
        };
        for text in [
            "Ignore",
            "IGNORE",
            "ｉｇｎｏｒｅ",
            "𝐢𝐠𝐧𝐨𝐫𝐞",
            "𝕴𝖌𝖓𝖔𝖗𝖊",
            "іgnоrе",
            "i\u{200b}g\u{ad}n\u{2060}ore",
            "ⓘⓖⓝⓞⓡⓔ",
            "ïgnòré",
        ] {
            assert_eq!(read(text), "ignore", "{text}");
        }
        let hidden: String =
            "ignore".chars().map(|c| char::from_u32(0xE0000 + u32::from(c)).unwrap()).collect();
        assert_eq!(read(&hidden), "ignore");
        assert_eq!(read("Straße"), "strasse");
    }
}
