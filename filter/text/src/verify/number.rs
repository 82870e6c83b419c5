//! Numbers, dates and units in one form each: "five", "5" and "5.0"; "May 3rd" and "3 May"; "5km" and "5 kilometres".

use std::{
    collections::{HashMap, HashSet},
    sync::LazyLock,
};

use super::token::{Shape, Token};

const SMALL: [&str; 20] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];
const TENS: [&str; 10] =
    ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
const ORDINALS: [&str; 11] =
    ["", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"];
const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// What is written behind a number, with what it stands for.
const UNITS: &str = "km:kilometer kms:kilometer cm:centimeter mm:millimeter m:meter mi:mile mile:mile ft:foot feet:foot yd:yard in:inch \
    inch:inch kg:kilogram kgs:kilogram kilo:kilogram g:gram gr:gram mg:milligram lb:pound lbs:pound oz:ounce l:liter ml:milliliter h:hour hr:hour \
    hrs:hour min:minute mins:minute s:second sec:second secs:second ms:millisecond kb:kilobyte mb:megabyte gb:gigabyte tb:terabyte hz:hertz \
    khz:kilohertz mhz:megahertz ghz:gigahertz w:watt kw:kilowatt kwh:kilowatthour v:volt mph:mph kph:kmh kmh:kmh c:celsius f:fahrenheit usd:dollar eur:euro gbp:pound \
    k:thousand bn:billion pct:percent x:times am:am pm:pm yrs:year yr:year";

/// Units that have no short form here.
const MORE_UNITS: &str =
    "yen litre metre kilometre day week month year degree ton gallon acre stone calorie kelvin knot";

/// Numbers and dates of `tokens` in one form.
pub(super) fn with_numbers(tokens: Vec<Token>) -> Vec<Token> {
    with_dates(with_number_words(with_currency(tokens.into_iter().flat_map(with_unit).collect())))
}

/// "5km" is "5 km", "10k" is "10 thousand"; a sign of currency or of percent is its word.
fn with_unit(token: Token) -> Vec<Token> {
    if token.shape == Shape::Sign {
        let word = match token.text.as_str() {
            "%" => "percent",
            "$" => "dollar",
            "€" => "euro",
            "£" => "pound",
            "¥" => "yen",
            "&" => "and",
            _ => return vec![token],
        };
        return vec![Token::word(word, &token)];
    }
    if token.shape != Shape::Number {
        return vec![token];
    }
    let digits = token.text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == ','));
    let Some((number, unit)) = digits.and_then(|at| token.text.split_at_checked(at)) else {
        return vec![Token { text: plain(&token.text), ..token }];
    };
    if matches!(unit, "st" | "nd" | "rd" | "th") {
        let ordinal =
            number.parse::<usize>().ok().and_then(|n| ORDINALS.get(n)).filter(|word| !word.is_empty());
        return vec![ordinal.map_or_else(
            || Token { text: format!("{number}th"), ..token.clone() },
            |word| Token::word(word, &token),
        )];
    }
    let Some(unit) = unit_of(unit) else { return vec![token] };
    let number = Token { text: plain(number), ..token };
    let unit = Token { is_first: false, after_break: false, ..Token::word(unit, &number) };
    vec![number, unit]
}

/// "$5" is "5 dollar".
fn with_currency(mut tokens: Vec<Token>) -> Vec<Token> {
    for at in 1..tokens.len() {
        if let Some([sign, number]) = tokens.get_mut(at.saturating_sub(1)..=at)
            && number.shape == Shape::Number
            && matches!(sign.text.as_str(), "dollar" | "euro" | "pound" | "yen")
            && sign.raw == sign.text
        {
            (number.is_first, number.after_break) = (sign.is_first, sign.after_break);
            (sign.is_first, sign.after_break) = (false, false);
            std::mem::swap(sign, number);
        }
    }
    tokens
}

/// The units by what is written behind a number.
fn units() -> &'static HashMap<&'static str, &'static str> {
    static BY_SHORT: LazyLock<HashMap<&'static str, &'static str>> =
        LazyLock::new(|| UNITS.split_ascii_whitespace().filter_map(|unit| unit.split_once(':')).collect());
    &BY_SHORT
}

fn unit_of(short: &str) -> Option<&'static str> {
    units().get(short).copied()
}

/// "1,000.50" is "1000.5", "007" stays.
fn plain(number: &str) -> String {
    let groups: Vec<&str> = number.split(',').collect();
    let is_grouped = groups.iter().skip(1).all(|group| group.split('.').next().is_some_and(|g| g.len() == 3));
    let plain = if is_grouped { groups.concat() } else { number.to_owned() };
    match plain.split_once('.') {
        Some((whole, fraction)) if fraction.bytes().all(|byte| byte == b'0') => whole.to_owned(),
        Some((whole, fraction)) if !fraction.contains('.') => {
            format!("{whole}.{}", fraction.trim_end_matches('0'))
        }
        _ => plain,
    }
}

/// Units that are written out after a number ("5 km"), and numbers that are: "twenty five", "two hundred".
fn with_number_words(tokens: Vec<Token>) -> Vec<Token> {
    let mut found: Vec<Token> = Vec::with_capacity(tokens.len());
    let mut open: Option<u64> = None;
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let is_number = token.shape == Shape::Number;
        let after_number = found.last().is_some_and(|last| last.shape == Shape::Number);
        if token.shape == Shape::Word
            && after_number
            && !token.after_break
            && let Some(unit) = unit_of(&token.text)
            && !(token.text == "in" && tokens.peek().is_some_and(|next| next.shape != Shape::Sign))
        {
            found.push(Token::word(unit, &token));
            continue;
        }
        let is_pronoun = token.text == "one" && !is_counted(&found, tokens.peek());
        let value = if is_number || is_pronoun { None } else { value_of(&token) };
        match (value, open) {
            (Some(unit @ 1..=9), Some(tens)) if tens >= 20 && tens % 10 == 0 && tens < 100 => {
                open = set_last(&mut found, tens.saturating_add(unit));
            }
            (Some(value), _) => {
                open = Some(value);
                let text = value.to_string();
                found.push(Token { shape: Shape::Number, raw: text.clone(), text, ..token });
            }
            (None, Some(value)) if multiplier(&token).is_some() => {
                open = set_last(&mut found, value.saturating_mul(multiplier(&token).unwrap_or(1)));
            }
            _ => {
                if let (Some(times), Some(last)) = (multiplier(&token), found.last_mut())
                    && last.shape == Shape::Number
                    && let Ok(value) = last.text.parse::<u64>()
                {
                    last.text = value.saturating_mul(times).to_string();
                    continue;
                }
                open = None;
                found.push(token);
            }
        }
    }
    found
}

fn set_last(found: &mut [Token], value: u64) -> Option<u64> {
    if let Some(last) = found.last_mut() {
        last.text = value.to_string();
    }
    Some(value)
}

fn value_of(token: &Token) -> Option<u64> {
    let place = |list: &[&str]| list.iter().position(|word| !word.is_empty() && *word == token.text);
    let value = place(&SMALL).or_else(|| place(&TENS).map(|tens| tens.saturating_mul(10)))?;
    u64::try_from(value).ok()
}

fn multiplier(token: &Token) -> Option<u64> {
    Some(match token.text.as_str() {
        "hundred" => 100,
        "thousand" => 1_000,
        "million" => 1_000_000,
        "billion" => 1_000_000_000,
        _ => return None,
    })
}

/// "one" is a number before what can be counted, and none in "which one" or "does one".
fn is_counted(before: &[Token], next: Option<&Token>) -> bool {
    let after_pointing = before.last().is_some_and(|last| {
        [
            "which", "this", "that", "the", "any", "no", "each", "every", "another", "does", "can", "should",
            "would", "a", "good", "do",
        ]
        .contains(&last.text.as_str())
    });
    !after_pointing && next.is_some_and(|next| !next.after_break)
}

/// A month with its day: "May 3rd", "3 May", "the 3rd of May", "2024-05-03".
fn with_dates(tokens: Vec<Token>) -> Vec<Token> {
    let mut found: Vec<Token> = Vec::with_capacity(tokens.len());
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let Some(month) = month_of(&token) else {
            found.push(token);
            continue;
        };
        if found.last().is_some_and(|last| last.is("of"))
            && found.iter().rev().nth(1).and_then(day_of).is_some()
        {
            found.pop();
        }
        let day = if let Some(day) = found.last().and_then(day_of) {
            found.pop();
            Some(day)
        } else if let Some(day) = tokens.peek().and_then(day_of) {
            tokens.next();
            Some(day)
        } else {
            None
        };
        let text = day.map_or_else(
            || MONTHS.get(month).copied().unwrap_or_default().to_owned(),
            |day| format!("{month}-{day}"),
        );
        let shape = if day.is_some() { Shape::Number } else { Shape::Word };
        found.push(Token { shape, raw: text.clone(), text, ..token });
    }
    found
}

/// "may" is a month where it is written as a name, "march" too.
fn month_of(token: &Token) -> Option<usize> {
    let can_be_a_verb = matches!(token.text.as_str(), "may" | "march" | "mar");
    let is_name = token.raw.chars().next().is_some_and(char::is_uppercase) && !token.is_first;
    if token.shape != Shape::Word || can_be_a_verb && !is_name {
        return None;
    }
    MONTHS.iter().position(|month| {
        *month == token.text
            || token.text.len() == 3 && month.starts_with(&token.text)
            || token.text == "sept" && *month == "september"
    })
}

fn day_of(token: &Token) -> Option<usize> {
    let by_name = ORDINALS.iter().position(|word| !word.is_empty() && *word == token.text);
    by_name
        .or_else(|| token.text.trim_end_matches("th").parse().ok().filter(|_| token.shape == Shape::Number))
        .filter(|day| (1..=31).contains(day))
}

/// Whether a word is a unit of measure or of money.
pub(super) fn is_unit(text: &str) -> bool {
    static FULL: LazyLock<HashSet<&'static str>> =
        LazyLock::new(|| units().values().copied().chain(MORE_UNITS.split_ascii_whitespace()).collect());
    FULL.contains(text.strip_suffix('s').unwrap_or(text))
}

/// Whether a word names a month, a day of the week, or a day as seen from today.
pub(super) fn is_date(text: &str) -> bool {
    MONTHS.contains(&text)
        || matches!(text, "today" | "tomorrow" | "yesterday" | "tonight" | "weekend" | "christmas" | "easter")
        || ["mon", "tues", "wednes", "thurs", "fri", "satur", "sun"]
            .iter()
            .any(|day| text.strip_prefix(day).is_some_and(|rest| matches!(rest, "day" | "days")))
        || ["spring", "summer", "autumn", "winter", "century", "decade"].contains(&text)
}

#[cfg(test)]
mod tests {
    use super::{super::token::tokens, *};

    fn forms(text: &str) -> Vec<String> {
        with_numbers(tokens(text)).into_iter().map(|token| token.text).collect()
    }

    #[test]
    fn one_number_has_one_form() {
        for (a, b) in [
            ("five", "5"),
            ("5.0", "5"),
            ("twenty five", "25"),
            ("twenty-five", "25"),
            ("two hundred", "200"),
            ("1,000", "1000"),
            ("2 million", "2000000"),
            ("10k", "10000"),
            ("5km", "5 km"),
            ("5%", "5 percent"),
            ("the 3rd of May", "the May 3"),
            ("on May 3rd", "on 3 May"),
            ("the 1st", "the first"),
        ] {
            assert_eq!(forms(a), forms(b), "{a} | {b}");
        }
    }

    #[test]
    fn other_numbers_have_other_forms() {
        for (a, b) in [
            ("5", "6"),
            ("-5", "5"),
            ("3.5", "35"),
            ("1.5", "1.05"),
            ("10", "100"),
            ("two hundred", "two"),
            ("5 km", "5 miles"),
            ("$5", "€5"),
            ("May 3", "May 4"),
            ("on May 3", "on June 3"),
            ("v1.2.0", "v1.2.1"),
            ("1/2", "12"),
        ] {
            assert_ne!(forms(a), forms(b), "{a} | {b}");
        }
        assert_eq!(forms("which one may I march to"), ["which", "one", "may", "i", "march", "to"]);
    }
}
