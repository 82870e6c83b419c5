//! Characters as a reader sees them: a look-alike becomes the Latin letter, an accent is removed, and an invisible character is left out.

use std::sync::OnceLock;

/// The ASCII letter or sign that a character looks like, in small letters if the character is not ASCII itself. A letter of
/// another script stays as it is, and any other sign becomes a space. `None` if the character is invisible.
#[inline]
pub fn alike(c: char) -> Option<char> {
    if c.is_ascii() { Some(c).filter(|c| *c != '\0') } else { beyond_ascii(c) }
}

#[inline(never)]
fn beyond_ascii(c: char) -> Option<char> {
    let code = u32::from(c);
    // A range that starts at `first` and repeats the alphabet.
    let letter = |first: u32| {
        let place = code.wrapping_sub(first).checked_rem(26).unwrap_or(0);
        char::from_u32(u32::from('a').wrapping_add(place))
    };
    match code {
        // Combining marks, soft hyphen, joiners, directions, variation selectors, fillers, signs of shorthand and of music, what could not
        // be decoded.
        0x0300..=0x036F
        | 0x0483..=0x0489
        | 0x1AB0..=0x1AFF
        | 0x1DC0..=0x1DFF
        | 0xFE20..=0xFE2F
        | 0x1BCA0..=0x1BCA3
        | 0x1D173..=0x1D17A
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
        | 0xFFF0..=0xFFFB
        | 0xFFFD
        | 0xE0080..=0xE0FFF => None,
        // Tags: ASCII that no font shows, and that models read.
        0xE0020..=0xE007E => char::from_u32(code.wrapping_sub(0xE0000)),
        0xE0000..=0xE007F => None,
        // Full-width forms, letters in brackets, circles and squares, mathematical letters and digits.
        0xFF01..=0xFF5E => char::from_u32(code.wrapping_sub(0xFEE0)),
        0x249C..=0x24B5 => letter(0x249C),
        0x24B6..=0x24E9 => letter(0x24B6),
        0x1F110..=0x1F129 => letter(0x1F110),
        0x1F130..=0x1F149 => letter(0x1F130),
        0x1F150..=0x1F169 => letter(0x1F150),
        0x1F170..=0x1F189 => letter(0x1F170),
        0x1D400..=0x1D6A3 => letter(0x1D400),
        0x1D7CE..=0x1D7FF => char::from_digit(code.wrapping_sub(0x1D7CE).checked_rem(10).unwrap_or(0), 10),
        0x2028 | 0x2029 | 0x0085 => Some('\n'),
        _ => Some(other(c)),
    }
}

/// A Latin letter or a sign of ASCII, and the characters that look like it.
const ALIKE: &str = "aᴀᵃᴬàáâãäåāăąǎȧạảаαɑά bℬʙᵇᴮвβ cℂℭᴄᶜçćčĉċсϲⅽ dⅆᴅᵈᴰďđԁⅾɗ eℰℯⅇᴇᵉᴱèéêëēĕėęěẹẻеёєεέҽ℮ fℱꜰᶠ gℊɢᵍᴳĝğġģɡց hℋℌℍℎʜʰᴴĥħһհḥ iℐℑⅈⁱᴵìíîïĩīĭįıịіїιίⅰɩɪ jⅉᴊʲᴶĵјϳ kᴋᵏᴷķкκқ \
    lℒℓˡᴸĺļľŀłӏⅼʟ mℳᴍᵐᴹмⅿ nℕⁿᴺñńņňηոɴп oℴᵒᴼòóôõöøōŏőơọоοόσօᴏ pℙᴘᵖᴾрρṗ rℛℜℝʳᴿŕŗřгʀ sˢśŝşšșѕꜱſ tᴛᵗᵀţťŧțтτ uᵘᵁùúûüũūŭůűųưυսᴜ vᴠᵛⱽνѵⅴ wᴡʷᵂŵԝω xˣхχⅹ yʏʸýÿŷуүγ \
    qℚ zℤℨᶻźżžᴢ '\u{2018}\u{2019}\u{201B}\u{2032}\u{00B4}\u{02BC} \"\u{201C}\u{201D}\u{201E}\u{201F}»「」 \
    -\u{2010}\u{2011}\u{2012}\u{2013}\u{2014}\u{2015}\u{2212}\u{FE58}\u{FE63} .。． :： ,，、 !！ ?？ <‹〈＜⟨﹤❮❬\u{2329}\u{1438}\u{2C2} >›〉＞⟩ [【〔［ ]】〕］ |｜∣│ _‿︳︴﹍﹎﹏‗ /⁄∕⧸╱";

fn other(c: char) -> char {
    let c = c.to_lowercase().next().unwrap_or(c);
    let plain = table().binary_search_by_key(&c, |(alike, _)| *alike).ok().and_then(|at| table().get(at));
    plain.map_or(if c.is_alphanumeric() { c } else { ' ' }, |(_, plain)| *plain)
}

/// Each look-alike with its plain character, sorted by look-alike.
fn table() -> &'static [(char, char)] {
    static TABLE: OnceLock<Vec<(char, char)>> = OnceLock::new();
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
