//! Texts from outside, as they may be shown: names, arguments and results are data that agents have chosen. HTML is escaped by the
//! templates; here is the rest. A character that is not seen, or that changes how others are seen, is shown by its number, a text cannot
//! turn the direction of what stands beside it, and long texts are cut.

use maud::{Markup, html};

/// Characters of a name that are shown in a list.
pub const NAME: usize = 60;
/// Characters of a name that its tooltip shows. The service cuts names longer than this.
const WHOLE: usize = 512;
/// Characters that are shown of a text that has a place of its own.
pub const TEXT: usize = 4_000;

/// Whether a character is not shown, or changes how others are: controls, marks of direction, joiners, separators of lines, tags.
#[must_use]
pub fn is_odd(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// A name within a line, cut to `most` characters. A tooltip shows the whole name.
#[must_use]
pub fn name(text: &str, most: usize) -> Markup {
    let (shown, is_cut) = beginning(text, most);
    let title = is_cut.then(|| plain(text, WHOLE));
    html! { bdi title=[title] { (pieces(shown, false)) @if is_cut { "…" } } }
}

/// A text with its lines, cut to `most` characters.
#[must_use]
pub fn block(text: &str, most: usize) -> Markup {
    let (shown, is_cut) = beginning(text, most);
    html! { (pieces(shown, true)) @if is_cut { "…" } }
}

/// As a plain text: for titles and labels.
#[must_use]
pub fn plain(text: &str, most: usize) -> String {
    let (shown, is_cut) = beginning(text, most);
    let mut plain = String::with_capacity(shown.len());
    for c in shown.chars() {
        if is_odd(c) {
            plain.push_str(&number(c));
        } else {
            plain.push(c);
        }
    }
    if is_cut {
        plain.push('…');
    }
    plain
}

/// A piece of the reference: what stands between backticks is code, and of a link its words are shown.
#[must_use]
pub fn reference(markdown: &str) -> Markup {
    let mut words = String::with_capacity(markdown.len());
    let mut rest = markdown;
    while let Some((before, link, after)) = rest
        .split_once("](")
        .and_then(|(before, after)| before.rsplit_once('[').map(|(before, link)| (before, link, after)))
    {
        words.push_str(before);
        words.push_str(link);
        rest = after.split_once(')').map_or("", |(_, rest)| rest);
    }
    words.push_str(rest);
    html! {
        @for (place, piece) in words.split('`').enumerate() {
            @if place.is_multiple_of(2) { (piece) } @else { code { (piece) } }
        }
    }
}

/// A value for a query.
#[must_use]
pub fn encoded(value: &str) -> String {
    form_urlencoded::byte_serialize(value.as_bytes()).collect()
}

fn beginning(text: &str, most: usize) -> (&str, bool) {
    match text.char_indices().nth(most) {
        Some((end, _)) => (text.get(..end).unwrap_or_default(), true),
        None => (text, false),
    }
}

fn number(c: char) -> String {
    match c {
        '\n' => "\\n".to_owned(),
        '\r' => "\\r".to_owned(),
        '\t' => "\\t".to_owned(),
        c => format!("\\u{{{:x}}}", u32::from(c)),
    }
}

/// Plain stretches, and odd characters marked as such.
fn pieces(text: &str, has_lines: bool) -> Markup {
    let is_marked = |c: char| is_odd(c) && !(has_lines && matches!(c, '\n' | '\t'));
    html! {
        @for piece in text.split_inclusive(is_marked) {
            @match piece.chars().next_back().filter(|c| is_marked(*c)) {
                Some(odd) => {
                    (piece.get(..piece.len().saturating_sub(odd.len_utf8())).unwrap_or_default())
                    span.odd { (number(odd)) }
                }
                None => (piece),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hostile_name_is_text_and_stands_for_itself() {
        let name = name("<script>alert('a')</script>\u{202e}gpj\n\u{200b}\"x\"", 100).into_string();
        let wanted = "<bdi>&lt;script&gt;alert('a')&lt;/script&gt;<span class=\"odd\">\\u{202e}</span>gpj\
            <span class=\"odd\">\\n</span><span class=\"odd\">\\u{200b}</span>&quot;x&quot;</bdi>";
        assert_eq!(name, wanted);
    }

    #[test]
    fn code_and_links_of_the_reference_are_shown() {
        let shown = reference("See [Control](control.md#a): `a < b` and `c`.").into_string();
        assert_eq!(shown, "See Control: <code>a &lt; b</code> and <code>c</code>.");
        assert_eq!(reference("`steps[]` [1, 2]").into_string(), "<code>steps[]</code> [1, 2]");
        assert_eq!(reference("`a[]`, [b](c) d").into_string(), "<code>a[]</code>, b d");
    }

    #[test]
    fn long_names_are_cut_between_characters_and_are_at_hand() {
        let long = "ä\"".repeat(5_000);
        let shown = name(&long, 10).into_string();
        assert!(shown.contains(&format!("{}…", "ä&quot;".repeat(5))), "{shown}");
        assert!(shown.len() < 5_000 && shown.contains("title=\"ä&quot;"), "{}", shown.len());
        assert_eq!(name("short", 10).into_string(), "<bdi>short</bdi>");
    }

    #[test]
    fn a_text_keeps_its_lines_and_a_title_has_none() {
        assert_eq!(block("a\n\tb\0", 10).into_string(), "a\n\tb<span class=\"odd\">\\u{0}</span>");
        assert_eq!(plain("a\nb\u{2066}", 10), "a\\nb\\u{2066}");
        assert_eq!(plain("abc", 2), "ab…");
        assert_eq!(encoded("a&b=c d\u{202e}"), "a%26b%3Dc+d%E2%80%AE");
    }
}
