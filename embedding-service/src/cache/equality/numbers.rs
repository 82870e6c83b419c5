//! Numbers, units and dates in two ways of writing them.

use std::collections::HashSet;

use super::{
    token::{Kind, Token, is_any_of},
    words::is_in,
};

/// "seven" in digits.
pub(super) fn small_number(token: &Token) -> Option<String> {
    const SMALL: [&str; 11] =
        ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
    SMALL.iter().zip(2_u8..).find(|(word, _)| token.is(word)).map(|(_, value)| value.to_string())
}

/// Units in full and short.
const UNITS: [(&str, &str); 14] = [
    ("kilometer", "km"),
    ("kilometers", "km"),
    ("centimeter", "cm"),
    ("centimeters", "cm"),
    ("millimeter", "mm"),
    ("millimeters", "mm"),
    ("kilogram", "kg"),
    ("kilograms", "kg"),
    ("milligram", "mg"),
    ("milligrams", "mg"),
    ("milliliter", "ml"),
    ("milliliters", "ml"),
    ("mL", "ml"),
    ("%", "percent"),
];

/// What is measured or counted in a unit.
const MEASURES: &str = "miles mile kilometers kilometer km meters meter m feet foot inches inch yards yard centimeters cm millimeters mm pounds pound lbs \
    ounces ounce kilograms kilogram kg grams gram g milligrams mg stone tons liters liter ml milliliters cups cup tablespoons teaspoons pints gallons \
    dollars euros yen rupees pesos percent hours minutes seconds days weeks acres hectares";
fn is_unit(word: &str) -> bool {
    word == "percent" || UNITS.iter().any(|(long, short)| word == *long || word == *short)
}

/// Whether a text asks for a number, or wants one converted into a measure: elsewhere, how a number is written may be what it is about ("does
/// the API accept 1,000?", "how many tokens is 15%?", "what is $5 backwards?", "how do I turn $5 into 5 dollars?").
fn calculates(tokens: &[Token]) -> bool {
    let is = |at: usize, list: &str| tokens.get(at).is_some_and(|token| is_any_of(token, list));
    let is_number = |at: usize| {
        tokens.get(at).is_some_and(|token| {
            token.text.starts_with(|c: char| c.is_ascii_digit() || c == '$') || small_number(token).is_some()
        })
    };
    let last = tokens.len().saturating_sub(1);
    // "Hi, what is".
    let begins =
        |at: usize| at.checked_sub(1).and_then(|before| tokens.get(before)).is_none_or(Token::is_mark);
    (0..tokens.len()).filter(|at| begins(*at)).any(|at| {
        let next = |by: usize| at.saturating_add(by);
        let is_converted = is(last, MEASURES)
            && is(last.saturating_sub(1), "in to into")
            && (is(at, "convert")
                || is(at, "what") && is(next(1), "is")
                || is(at, "how") && is(next(1), "much long far"));
        let is_of = |number: usize| {
            is_number(number)
                && is(number.saturating_sub(1), "of")
                && (is_number(number.saturating_sub(2)) || is(number.saturating_sub(2), "percent %"))
        };
        let is_share = is_of(last) || is(last, MEASURES) && is_of(last.saturating_sub(1));
        let is_counted =
            is(at, "how") && is(next(1), "many") && is(next(2), MEASURES) && is(next(3), "is are in");
        let is_bare = is(at, "what")
            && is(next(1), "is")
            && is_number(next(2))
            && !tokens.get(next(2)).is_some_and(|sum| sum.text.starts_with('$'))
            && (last == next(2) || last == next(3) && is(last, "percent %"));
        is_bare
            || is_converted
            || is_counted
            || is_share
                && (is(at, "calculate")
                    || is(at, "what") && is(next(1), "is")
                    || is(at, "how") && is(next(1), "much"))
    })
}

/// "Name five noble gases", "give me three tips", "in two sentences, explain", "what are the five lakes", but not "explain six sigma" and "a
/// story titled five lakes".
fn is_count(before: &[Token], after: &[Token]) -> bool {
    // "Write five stars in capitals"
    let is_order = |token: &Token| {
        is_any_of(token, "name list give tell suggest recommend")
            || token.is("write")
                && after.iter().take(2).any(|thing| {
                    is_any_of(
                        thing,
                        "sentences paragraphs poems haikus stories tips questions reasons examples tweets",
                    )
                })
    };
    // "Three musketeers" is a novel, "3 musketeers" are sweets.
    const STYLES: &str = "capitals caps backward backwards reverse reversed mirrored cursive morse ascii unicode bold italics numerals digits figures code";
    if after.iter().any(|token| is_any_of(token, STYLES))
        || after.first().is_some_and(|thing| thing.is("musketeers"))
    {
        return false;
    }
    // "Give me five guys", "what are the four tops?": names.
    const COUNTED: &str = "tips reasons ideas examples facts ways questions sentences words paragraphs books movies films songs poems haikus \
        stories tweets countries cities foods jokes benefits exercises recipes lakes rivers mountains wonders laws seas oceans continents planets gases elements";
    let has_plural = after.iter().take(2).any(|thing| is_any_of(thing, COUNTED));
    has_plural
        && match before {
            [order] | [.., order]
                if is_order(order)
                    && before.iter().rev().skip(1).all(|polite| is_any_of(polite, "please pls plz")) =>
            {
                true
            }
            [.., mark, order] if mark.is_mark() => is_order(order),
            [.., into]
                if into.is("in")
                    && after
                        .first()
                        .is_some_and(|unit| is_any_of(unit, "sentences words paragraphs lines")) =>
            {
                true
            }
            [.., order, me] if is_any_of(me, "me us") => is_order(order),
            [what, are, the] => what.is("what") && are.is("are") && the.is("the"),
            _ => false,
        }
}

/// Small numbers in digits; "15 %", "15%" and "15 percent"; "$5" and "5 dollars"; "1,000" and "1000"; a date with its year.
pub(super) fn with_numbers(tokens: &mut Vec<Token>) {
    with_dates(tokens);
    let has = |list: &str| tokens.iter().any(|token| is_in(list, &token.text.to_lowercase()));
    let is_programmed = has("programmed");
    let is_in_capitals = |token: &Token| {
        token.kind == Kind::Word && token.text.len() > 1 && token.text.chars().all(char::is_uppercase)
    };
    // "What is 5 kg short for?", "is 15 % right in APA?"
    let is_spoken_of = tokens.last().is_some_and(|last| last.is("for"))
        || tokens.windows(2).any(|two| matches!(two, [into, form] if into.is("in") && is_in_capitals(form)));
    let calculates = calculates(tokens) && !is_programmed && !is_spoken_of;
    // Elsewhere a comma begins the fraction.
    let names_somewhere =
        tokens.iter().skip(1).any(|token| token.is_capital() && token.text.chars().any(char::is_lowercase));
    let given = std::mem::take(tokens);
    for (at, token) in given.iter().enumerate() {
        let (before, after) =
            (given.get(..at).unwrap_or_default(), given.get(at.saturating_add(1)..).unwrap_or_default());
        let next = after.first();
        // "Enter five in the box", "is five a number": no count. "10 % 3" is the rest of a division.
        let counts = next.is_some_and(|next| next.is_plain() && !is_in("no_counted", &next.text));
        let before_number = next.is_some_and(|next| next.text.starts_with(|c: char| c.is_ascii_digit()));
        let is_measured = next.is_some_and(|next| is_unit(&next.text));
        let follows_number = tokens.last().is_some_and(|last| {
            last.kind == Kind::Other
                && last.text.ends_with(|c: char| c.is_ascii_digit())
                && !last.text.contains(|c: char| c.is_alphabetic())
        });
        let small = small_number(token)
            .filter(|_| counts && !is_programmed && (is_count(before, after) || calculates && is_measured));
        let unit = UNITS
            .iter()
            .find(|(long, _)| token.text == *long)
            .filter(|_| calculates && follows_number && !(token.text == "%" && before_number));
        if let Some(text) = small {
            tokens.push(Token { kind: Kind::Other, text, ..token.clone() });
        } else if let Some((_, short)) = unit {
            tokens.push(Token::word(short));
        } else if let Some((number, unit)) = number(&token.text).filter(|(_, unit)| {
            // "1,000 grams", but not "the mean of 1,200": elsewhere a comma separates values, or begins the fraction.
            let is_fraction = token.text.contains(',')
                && !(token.text.ends_with(",000")
                    && (next.is_some_and(|next| {
                        is_unit(&next.text)
                            || is_any_of(next, "grams ounces pounds dollars euros miles meters feet inches")
                    }) || token.text.starts_with('$'))
                    && !names_somewhere);
            calculates && !(is_fraction || unit == "%" && before_number)
        }) {
            tokens.push(Token { text: number, ..token.clone() });
            if !unit.is_empty() {
                let unit =
                    UNITS.iter().find(|(long, _)| *long == unit).map_or(unit.as_str(), |(_, short)| short);
                tokens.push(Token::word(unit));
            }
        } else {
            tokens.push(token.clone());
        }
    }
    // "Convert $5 to 5 dollars": how it is written is the matter.
    let mut seen = HashSet::new();
    let is_number = |token: &&Token| token.text.starts_with(|c: char| c.is_ascii_digit());
    if tokens.iter().filter(is_number).any(|token| !seen.insert(token.text.as_str())) {
        *tokens = given;
    }
}

/// A number without the commas of its thousands, and what is written to it.
fn number(text: &str) -> Option<(String, String)> {
    let (text, is_dollar) = text.strip_prefix('$').map_or((text, false), |text| (text, true));
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == ',' || c == '.')).unwrap_or(text.len());
    let (digits, unit) = text.split_at_checked(end)?;
    if !digits.starts_with(|c: char| c.is_ascii_digit()) || !digits.ends_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let (whole, fraction) =
        digits.split_once('.').map_or((digits, None), |(whole, rest)| (whole, Some(rest)));
    let mut groups = whole.split(',');
    let first = groups.next().unwrap_or_default();
    let is_grouped = whole.contains(',');
    let fits = !is_grouped
        || (1..=3).contains(&first.len()) && !first.starts_with('0') && groups.all(|group| group.len() == 3);
    let is_plain = fraction.is_none_or(|rest| !rest.contains([',', '.']));
    let unit = match unit {
        "" if is_dollar => "dollars",
        "" | "%" | "km" | "cm" | "mm" | "kg" | "mg" | "ml" if !is_dollar => unit,
        _ => return None,
    };
    (fits && is_plain).then(|| (digits.replace(',', ""), unit.to_owned()))
}

/// "May 3rd, 1979" is "3 May 1979", where something happened on it or its day is asked for: "which pattern reads May 3, 1979?"
fn with_dates(tokens: &mut Vec<Token>) {
    let happens = tokens.iter().any(|token| token.is("happened") || token.is("born") || token.is("died"));
    let asks_for_day = matches!(tokens.as_slice(), [which, day, ..] if (which.is("which") || which.is("what")) && day.is("day"));
    if !happens && !asks_for_day {
        return;
    }
    for at in 0..tokens.len() {
        let text = |by: usize| {
            at.checked_add(by).and_then(|at| tokens.get(at)).map_or("", |token| token.text.as_str())
        };
        let is_month = |text: &str| is_in("months", text);
        let comma = usize::from(text(2) == ",");
        let (month, day, year, len) = if is_month(text(0)) {
            (text(0), text(1), text(comma.saturating_add(2)), comma.saturating_add(3))
        } else if is_month(text(1)) {
            (text(1), text(0), text(2), 3)
        } else if text(1) == "of" && is_month(text(2)) {
            (text(2), text(0), text(3), 4)
        } else {
            continue;
        };
        let day = ["st", "nd", "rd", "th"].iter().find_map(|end| day.strip_suffix(end)).unwrap_or(day);
        let before = |by: usize| at.checked_sub(by).and_then(|at| tokens.get(at));
        // "On the page titled May 3, 1979, who died?"
        let is_of_event = asks_for_day
            || before(1).is_some_and(|on| on.is("on"))
            || before(1).is_some_and(|the| the.is("the")) && before(2).is_some_and(|on| on.is("on"));
        let is_date = is_of_event
            && day.parse::<u8>().is_ok_and(|day| (1..=31).contains(&day))
            && year.len() == 4
            && year.parse::<u16>().is_ok();
        if is_date {
            // "On the 3rd of May" is "on 3 May".
            let is_the = text(1) == "of"
                && at.checked_sub(1).and_then(|at| tokens.get(at)).is_some_and(|token| token.is("the"));
            let from = at.saturating_sub(usize::from(is_the));
            let date = [day.to_owned(), month.to_owned(), year.to_owned()];
            let date = date.map(|text| Token { kind: Kind::Other, ..Token::word(&text) });
            tokens.splice(from..at.saturating_add(len).min(tokens.len()), date);
        }
    }
}
