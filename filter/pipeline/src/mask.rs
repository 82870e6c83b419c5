//! Masks keys, tokens and passwords in a text. They are recognised by how they begin, or by the name in front of them. A secret
//! with neither is not found. If in doubt, too much is masked.

/// Stands for what is masked.
const MASK: &str = "[masked]";
/// If a text is cut off, this many bytes at its end are not shown: a key that begins there may be too short to be recognised.
const TAIL: usize = 128;
/// How keys of known services begin, and how many characters follow at least.
const BEGINNINGS: [(&str, usize); 34] = [
    ("sk-", 6),
    ("sk_", 12),
    ("pk_", 12),
    ("rk_", 12),
    ("whsec_", 8),
    ("AKIA", 12),
    ("ASIA", 12),
    ("AIza", 16),
    ("ya29.", 8),
    ("GOCSPX-", 8),
    ("eyJ", 12),
    ("ghp_", 8),
    ("gho_", 8),
    ("ghu_", 8),
    ("ghs_", 8),
    ("ghr_", 8),
    ("github_pat_", 8),
    ("glpat-", 8),
    ("xoxa-", 8),
    ("xoxb-", 8),
    ("xoxp-", 8),
    ("xoxr-", 8),
    ("xoxs-", 8),
    ("xapp-", 8),
    ("gsk_", 8),
    ("xai-", 12),
    ("hf_", 12),
    ("npm_", 12),
    ("pypi-", 12),
    ("dop_v1_", 8),
    ("SG.", 12),
    ("AGE-SECRET-KEY-", 8),
    ("pplx-", 12),
    ("tvly-", 12),
];
/// Endings of names whose values are secret, in lower case.
const SECRET_ENDS: [&str; 13] = [
    "key",
    "token",
    "secret",
    "password",
    "passwort",
    "passwd",
    "passphrase",
    "pwd",
    "credential",
    "credentials",
    "authorization",
    "cookie",
    "signature",
];
/// Names whose values are secret, in lower case. They are too short to be used as endings.
const SECRET_NAMES: [&str; 7] = ["pass", "auth", "pin", "sig", "pw", "sessionid", "session_id"];
/// Words before a credential.
const SCHEMES: [&str; 5] = ["bearer", "basic", "digest", "token", "negotiate"];
/// Values that are no secret, whatever the name.
const NO_SECRETS: [&str; 5] = ["null", "none", "true", "false", "undefined"];

/// At most `most` bytes of the beginning of a text, with all in it that looks like a key, a token or a password masked.
pub fn masked(text: &str, most: usize) -> String {
    let end = text.floor_char_boundary(most.saturating_mul(2).max(TAIL.saturating_mul(2)));
    let (seen, cut_off) = text.split_at_checked(end).unwrap_or((text, ""));
    let tail = if cut_off.is_empty() { 0 } else { TAIL };
    let mut out = String::with_capacity(most.min(seen.len()));
    let mut rest = seen;
    let mut is_word_start = true;
    while rest.len() > tail && out.len() < most {
        let found = if is_word_start { secret(rest, &out) } else { None }.or_else(|| address(rest));
        if let Some(Secret { shown, hidden }) = found {
            out.push_str(rest.get(..shown).unwrap_or_default());
            out.push_str(MASK);
            rest = rest.get(shown.saturating_add(hidden)..).unwrap_or_default();
            continue;
        }
        let word = run(rest, is_word);
        let first = rest.chars().next().map_or(1, char::len_utf8);
        let (passed, behind) = rest.split_at_checked(word.max(first)).unwrap_or((rest, ""));
        out.push_str(passed);
        (rest, is_word_start) = (behind, word == 0);
    }
    out.truncate(out.floor_char_boundary(most));
    out
}

/// How many bytes stay, and how many behind them are masked.
struct Secret {
    shown: usize,
    hidden: usize,
}

/// Letters of other scripts do not belong to a word: they may stand before a key without a space.
fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Characters of keys.
fn is_of_key(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '+' | '/' | '=' | '~')
}

/// Length of the beginning that has only such characters. Not generic, because it is rarely called, and its code should exist only once.
#[inline(never)]
fn run(text: &str, is_part: fn(char) -> bool) -> usize {
    text.char_indices().find(|(_, c)| !is_part(*c)).map_or(text.len(), |(at, _)| at)
}

fn blanks(text: &str) -> usize {
    run(text, |c| matches!(c, ' ' | '\t'))
}

/// A secret at the beginning of a word.
fn secret(text: &str, before: &str) -> Option<Secret> {
    key(text).or_else(|| private_key(text)).or_else(|| credential(text)).or_else(|| named(text, before))
}

fn key(text: &str) -> Option<Secret> {
    let is_key = |(beginning, least): &(&str, usize)| {
        text.strip_prefix(beginning).is_some_and(|rest| run(rest, is_of_key) >= *least)
    };
    BEGINNINGS.iter().any(is_key).then(|| Secret { shown: 0, hidden: run(text, is_of_key) })
}

/// A private key in PEM format.
fn private_key(text: &str) -> Option<Secret> {
    // The dashes in front of it have already been read.
    const BEGIN: &str = "BEGIN ";
    let line = text.get(..text.find("-----")?)?;
    if !line.starts_with(BEGIN) || !line.ends_with("PRIVATE KEY") {
        return None;
    }
    let end = text.find("-----END ").unwrap_or(text.len());
    Some(Secret { shown: line.len(), hidden: end.saturating_sub(line.len()) })
}

/// The length of a scheme's name with the blanks behind it, if one stands here.
fn scheme(text: &str) -> Option<usize> {
    let (word, rest) = text.split_at_checked(run(text, |c| c.is_ascii_alphabetic()))?;
    let gap = blanks(rest);
    let is_scheme = gap > 0 && SCHEMES.iter().any(|scheme| word.eq_ignore_ascii_case(scheme));
    is_scheme.then(|| word.len().saturating_add(gap))
}

/// `Bearer ...` and the like.
fn credential(text: &str) -> Option<Secret> {
    let shown = scheme(text)?;
    let hidden = run(text.get(shown..)?, is_of_key);
    // Short words behind a scheme's name belong to a sentence.
    (hidden >= 8).then_some(Secret { shown, hidden })
}

/// The value behind a name that says that it is secret: `password: ...`, `"api_key": "..."`, `--token ...`.
fn named(text: &str, before: &str) -> Option<Secret> {
    let (name, rest) = text.split_at_checked(run(text, |c| is_word(c) || c == '-'))?;
    let lower = name.to_ascii_lowercase();
    let is_secret =
        SECRET_ENDS.iter().any(|end| lower.ends_with(end)) || SECRET_NAMES.contains(&lower.as_str());
    if !is_secret {
        return None;
    }
    let behind_quote = rest.trim_start_matches('\\');
    let behind_quote = behind_quote.strip_prefix(['"', '\'']).unwrap_or(rest);
    let sign = behind_quote.get(blanks(behind_quote)..)?;
    let value = match sign.strip_prefix([':', '=']) {
        Some(behind) => behind.strip_prefix(['=', '>']).unwrap_or(behind),
        // An option of a command line.
        None if before.ends_with("--") && blanks(rest) > 0 => rest,
        None => return None,
    };
    let value = value.get(blanks(value)..)?;
    let is_line = lower.ends_with("authorization") || lower.ends_with("cookie");
    let Secret { shown, hidden } = value_of(value, is_line)?;
    Some(Secret { shown: text.len().saturating_sub(value.len()).saturating_add(shown), hidden })
}

/// The secret part of a text that begins with a value. `is_line`: the value goes on to the end of the line.
fn value_of(text: &str, is_line: bool) -> Option<Secret> {
    let slashes = run(text, |c| c == '\\');
    if let Some(quote) = text.get(slashes..)?.chars().next().filter(|c| matches!(c, '"' | '\'')) {
        let shown = slashes.saturating_add(1);
        let inner = text.get(shown..)?;
        let hidden = closing(inner, quote, slashes);
        let is_none = inner.get(..hidden).is_some_and(|inner| inner.trim().is_empty());
        return (!is_none).then_some(Secret { shown, hidden });
    }
    let length = unquoted(text, is_line);
    let value = text.get(..length)?;
    let bare = value.trim_end_matches([',', ';', ')', '}', ']', '.']);
    let is_none = bare.is_empty()
        || value.starts_with(['{', '[', '('])
        || value.starts_with("//")
        || NO_SECRETS.iter().any(|none| bare.eq_ignore_ascii_case(none));
    if is_none {
        return None;
    }
    let scheme = scheme(text).unwrap_or(0);
    let behind = unquoted(text.get(scheme..)?, is_line);
    Some(Secret { shown: 0, hidden: length.max(scheme.saturating_add(behind)) })
}

/// Where a quoted value ends: at the first `quote` with exactly `slashes` backslashes before it.
fn closing(text: &str, quote: char, slashes: usize) -> usize {
    let mut before = 0_usize;
    for (at, c) in text.char_indices() {
        if c == quote && before == slashes {
            return at.saturating_sub(before);
        }
        before = if c == '\\' { before.saturating_add(1) } else { 0 };
    }
    text.len()
}

/// Where a value without quotes ends.
fn unquoted(text: &str, is_line: bool) -> usize {
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let is_end = match c {
            '\\' => chars.peek().is_some_and(|(_, next)| matches!(next, 'n' | 'r' | 't' | '"' | '\'')),
            '\n' | '\r' | '"' | '\'' | '<' | '`' => true,
            '&' => !is_line,
            c => c.is_whitespace() && !is_line,
        };
        if is_end {
            return at;
        }
    }
    text.len()
}

/// The password in an address: `://user:password@host`.
fn address(text: &str) -> Option<Secret> {
    const SIGN: &str = "://";
    let behind = text.strip_prefix(SIGN)?;
    let whole = behind.get(
        ..run(behind, |c| {
            !c.is_whitespace() && !matches!(c, '/' | '?' | '#' | '"' | '\'' | '<' | '>' | '\\')
        }),
    )?;
    let at = whole.rfind('@')?;
    let colon = whole.get(..at)?.find(':')?;
    let shown = SIGN.len().saturating_add(colon).saturating_add(1);
    let hidden = at.saturating_sub(colon).saturating_sub(1);
    (hidden > 0).then_some(Secret { shown, hidden })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_tokens_and_passwords_are_masked_and_what_stands_around_them_stays() {
        for (text, shown) in [
            ("use sk-proj-abc123DEF456 now", "use [masked] now"),
            ("(AKIAIOSFODNN7EXAMPLE)", "([masked])"),
            ("a ghp_16C7e42F292c6912E7710c838347Ae178B4a, next", "a [masked], next"),
            ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc-_x, next", "[masked], next"),
            ("Authorization: Bearer abc.def-123\nHost: x", "Authorization: [masked]\nHost: x"),
            ("curl -H 'authorization: Basic dXNlcjpwYXNz' x", "curl -H 'authorization: [masked]' x"),
            ("send Bearer abcdefgh12345678 along", "send Bearer [masked] along"),
            ("password: hunter2 is old", "password: [masked] is old"),
            ("PASSWORD=hunter2\nnext", "PASSWORD=[masked]\nnext"),
            ("https://x.io/?key=abc123&page=2", "https://x.io/?key=[masked]&page=2"),
            (r#"{"api_key": "a \"b\" c", "page": 2}"#, r#"{"api_key": "[masked]", "page": 2}"#),
            (r#""{\"apiToken\":\"abc\",\"n\":1}""#, r#""{\"apiToken\":\"[masked]\",\"n\":1}""#),
            (r#""password: hunter2\nok""#, r#""password: [masked]\nok""#),
            ("{'pin': 1234, 'n': 1}", "{'pin': [masked] 'n': 1}"),
            ("login --password hunter2 --user eve", "login --password [masked] --user eve"),
            ("postgres://eve:s3cr3t@db/x and", "postgres://eve:[masked]@db/x and"),
            ("set-cookie: a=b; c=d\nx", "set-cookie: [masked]\nx"),
            ("token: Token abc def", "token: [masked] def"),
            (
                "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
                "-----BEGIN RSA PRIVATE KEY[masked]-----END RSA PRIVATE KEY-----",
            ),
            (
                "passwörter, Schlüssel: 7; das api-key=ü1 da",
                "passwörter, Schlüssel: 7; das api-key=[masked] da",
            ),
        ] {
            assert_eq!(masked(text, 2_048), shown);
        }
    }

    #[test]
    fn what_is_no_secret_stays_as_it_is() {
        for text in [
            "",
            "a task-force, a disk-based one, sk-learn, the key to it, a bearer of news",
            r#"{"max_tokens": 100, "keys": ["a"], "key": {"a": 1}, "token": null, "keyword": "x"}"#,
            "see https://example.com:8080/a@b and eyJ, or password?",
            "größer 🦀 als",
        ] {
            assert_eq!(masked(text, 2_048), text);
        }
    }

    #[test]
    fn a_long_text_is_cut_and_no_key_at_the_cut_is_shown() {
        let key = "sk-0123456789abcdefghijklmnopqrstuvwxyz";
        for shift in 0..90 {
            for many in [0, 3_000] {
                // A masked key before it makes what follows move forwards.
                let text =
                    format!("sk-{}{}{key}{}", "y".repeat(many), " ä".repeat(shift), " z".repeat(9_000));
                let shown = masked(&text, 100);
                assert!(shown.len() <= 100 && !shown.contains("0123"), "{shown}");
            }
            let text = format!("{}{key}", "z ".repeat(shift));
            assert!(!masked(&text, 100).contains("0123"), "{shift}");
        }
        let unclosed = format!("\"password\": \"{}", "x".repeat(1 << 20));
        assert_eq!(masked(&unclosed, 2_048), "\"password\": \"[masked]");
    }
}
