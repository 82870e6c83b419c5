//! The same word in two ways of writing it: spellings, slips of the typist, the capital at the beginning of a sentence, numbers and
//! dates.

use std::collections::HashSet;

use super::{
    token::{Kind, Token, is_any_of},
    words::{american, is_in, is_start, meant, meant_at_start},
};

/// "floats" is "float". `None` for a word of which it cannot be told.
pub(super) fn without_s(verb: &str) -> Option<String> {
    let bare = verb.strip_suffix('s')?;
    let is_doubtful = ["s", "u", "i", "e", "a", "o"].iter().any(|end| bare.ends_with(end));
    (bare.len() > 2 && bare.chars().all(char::is_lowercase) && !is_doubtful).then(|| bare.to_owned())
}

/// The capital that only a sentence's beginning gives a word, and that of "I". Only for words that are no names.
pub(super) fn with_small_starts(tokens: &mut [Token], may_be_slip: bool) {
    let is_title = tokens.windows(2).next().is_some_and(|two| match two {
        // "The Trial", but not "The capital".
        [first, second] => matches!(first.text.as_str(), "The" | "A" | "An") && second.is_capital(),
        _ => false,
    });
    let follows_way = tokens.get(1).is_some_and(|next| next.is("way") || next.is("ways"));
    for token in tokens.iter_mut().skip(usize::from(is_title)).filter(|token| token.is_first) {
        let mut letters = token.text.chars();
        let is_one = letters.next().is_some_and(char::is_uppercase) && !letters.any(char::is_uppercase);
        let small = token.text.to_lowercase();
        // "Best way to", but "Best" may be the player.
        let is_way = small == "best" && follows_way;
        // "I" has a rule of its own.
        if is_one && small != "i" {
            if let Some(meant) = meant_at_start(&small).filter(|_| may_be_slip) {
                meant.clone_into(&mut token.text);
            } else if is_start(&small) || is_way {
                token.text = small;
            }
        }
    }
    // "Should I depend on x?"
    let has_value = tokens.iter().any(|token| {
        let mut letters = token.text.trim_end_matches(['.', '?', '!']).chars();
        letters.next().is_some_and(|first| first.is_lowercase() && !matches!(first, 'a' | 'i'))
            && letters.next().is_none()
    });
    for at in 0..tokens.len() {
        let word =
            |at: Option<usize>| at.and_then(|at| tokens.get(at)).map_or("", |token| token.text.as_str());
        let (before, after) = (word(at.checked_sub(1)).to_owned(), word(at.checked_add(1)).to_owned());
        // "When I increases": a value.
        let is_value = after.ends_with('s') && !matches!(after.as_str(), "was" | "always" | "perhaps");
        let is_pronoun = before != "does"
            && (is_in("before_i", &before)
                && after.len() > 1
                && !is_value
                && !is_in("of_values", &after)
                && !is_in("between_values", &after)
                || is_in("after_i", &after));
        if let Some(token) = tokens.get_mut(at).filter(|token| token.text == "I" && is_pronoun && !has_value)
        {
            "i".clone_into(&mut token.text);
        }
    }
}

/// Whether a word may be meant as it is written: in code, in games of letters, beside a single letter.
pub(super) fn may_be_meant(tokens: &[Token]) -> bool {
    let is_letter = |text: &str| text.chars().count() == 1 && text.chars().all(char::is_alphabetic);
    tokens.iter().any(|token| {
        let lower = token.text.to_lowercase();
        is_in("written", &lower)
            || token.kind == Kind::Word && is_letter(&lower) && lower != "a" && lower != "i"
    })
}

/// Whether a word says what a text is about.
fn says_much(token: &Token) -> bool {
    token.kind == Kind::Word && token.text.len() > 2 && !is_in("little", &token.text.to_lowercase())
}

/// One spelling, without slips.
pub(super) fn spelt(tokens: &mut [Token], is_known: &dyn Fn(&str) -> bool) {
    let is_programmed = tokens.iter().any(|token| is_in("programmed", &token.text.to_lowercase()));
    // A package may have the name of a slip.
    if tokens.iter().any(|token| {
        is_any_of(token, "install uninstall import update upgrade configure package module library")
    }) {
        return;
    }
    // "How common is definately?"
    let is_judged = tokens.iter().any(|token| is_in("judged", &token.text.to_lowercase()));
    // "Who stars in humour me?"
    let names_somebody = tokens.first().is_some_and(|first| first.is("who"));
    let company = tokens.iter().filter(|token| says_much(token)).count();
    let mut is_naming = false;
    let mut new = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let follows = std::mem::replace(&mut is_naming, is_in("naming", &token.text));
        let is_alone = company == usize::from(says_much(token));
        // "What is teh?"
        let is_meant = is_judged || follows || is_named(tokens, at) || is_alone && token.text.len() < 5;
        if !token.is_plain() || is_meant {
            continue;
        }
        let mended = meant(&token.text, is_known).filter(|word| stands_as_a_word(tokens, at, word));
        let american = american(mended.unwrap_or(&token.text))
            .filter(|_| is_used(tokens, at) && !is_programmed && !is_alone && !names_somebody);
        new.extend(american.or(mended).map(|word| (at, word)));
    }
    for (at, word) in new {
        if let Some(token) = tokens.get_mut(at) {
            word.clone_into(&mut token.text);
        }
    }
}

/// Whether a slip stands where its word does something in the sentence: "the captial of", "i recieve my", "to boil potatos", "how do vacines
/// work". "A sign that says seperate", "who was musuem?", "the seperate event" and "where does teh come from?" may mean it as it is.
fn stands_as_a_word(tokens: &[Token], at: usize, meant: &str) -> bool {
    const DETERMINERS: &str = "the teh a an my your his her its our their many much these those";
    const CLAUSES: &str = "because which that when where while what how why";
    const BEHIND: &str = "of for from to between and";
    const BOUND: &str = "in on at for with by from to of about into and or so as than";
    /// What may stand between an article and its noun.
    const KINDS: &str = "best most main good bad new old big small great common first last next only average total full whole different important \
        legal daily annual monthly chemical human current same";
    const WORTH: &str = "important good bad necessary dangerous healthy unhealthy expensive cheap hard difficult easy useful safe";
    let before = |by: usize| at.checked_sub(by).and_then(|at| tokens.get(at));
    let is = |by: usize, list: &str| before(by).is_some_and(|token| is_any_of(token, list));
    let next = at.checked_add(1).and_then(|at| tokens.get(at));
    let is_next = |list: &str| next.is_some_and(|next| is_any_of(next, list));
    let asks_how = tokens.first().is_some_and(|first| is_any_of(first, "how why when where"));
    let is_count = before(1).is_some_and(|number| {
        small_number(number).is_some() || number.text.starts_with(|c: char| c.is_ascii_digit())
    });
    let is_object = is(2, "i you we they to") && before(1).is_some_and(|verb| is_in("actions", &verb.text));
    let is_next_plain = next.is_some_and(Token::is_plain);
    let is_next_bound = is_next(BOUND) || next.is_some_and(super::order::is_verb);
    let is_clause = is_any_of(&Token::word(meant), CLAUSES);
    let is_object_of_action = is(2, "i you to") && before(1).is_some_and(|verb| is_in("actions", &verb.text));
    if meant == "the" {
        return next.is_some_and(|next| next.kind == Kind::Word)
            && !is_next_bound
            && (at == 0
                || is(1, "of in on to for from with at by explain")
                || is_object_of_action
                || is(1, "is are was were")
                    && at == 2
                    && (tokens.iter().skip(at).any(|token| token.is("of"))
                        || next.is_some_and(|next| next.text.ends_with("est") || next.is("first"))));
    }
    let ends_phrase = next.is_none_or(Token::is_mark) || is_next(BEHIND);
    // "Circle the recieve", "find the seperate": the word that stands there.
    let is_of_text = |verb: &Token| {
        !is_in("actions", &verb.text)
            || is_any_of(
                verb,
                "find check fix read write print quote use draw record translate cite add remove delete replace test",
            )
    };
    let verb_at: usize = if is(1, DETERMINERS) { 2 } else { 3 };
    let is_meant = next.is_none_or(Token::is_mark)
        && before(verb_at)
            .is_some_and(|verb| !is_any_of(verb, BOUND) && !super::order::is_verb(verb) && is_of_text(verb));
    let is_noun = !meant.ends_with("ly") && ends_phrase && !is_meant;
    at == 0
        || is_clause && is_next_plain && !is_next_bound && !before(1).is_some_and(super::order::is_verb)
        || is(1, DETERMINERS) && is_noun
        || is(1, "a an many much") && is_next_plain && !meant.ends_with("ly")
        || is_count
        || is(2, DETERMINERS) && (is(1, KINDS) || before(1).is_some_and(|kind| kind.text.ends_with("est"))) && is_noun
        || is(1, "i you we they to") && is_next_plain
        || is_object
        || asks_how && is(1, "do does did") && is_next_plain
        // "Why is excercise important?", but not "why is excercise underlined?"
        || is(2, "why") && is(1, "is are") && is_next(WORTH)
        // "How does the stock market wrok?"
        || asks_how && !meant.ends_with("ly") && !is(1, DETERMINERS) && ends_question(tokens, at)
}

fn ends_question(tokens: &[Token], at: usize) -> bool {
    let is = |at: usize, list: &str| tokens.get(at).is_some_and(|token| is_any_of(token, list));
    at.saturating_add(1) == tokens.len() && is(1, "do does did") && !is(2, "i you we they he she it")
}

/// Whether a word is used and not spoken of: "what is the colour of", "what colour is", "how do I organise my", but not "underline the
/// colour of", "how many bytes has the colour of", "the colour argument".
fn is_used(tokens: &[Token], at: usize) -> bool {
    let is = |at: Option<usize>, list: &str| {
        at.and_then(|at| tokens.get(at)).is_some_and(|token| is_any_of(token, list))
    };
    let before = |by: usize| at.checked_sub(by);
    let behind = |by: usize| at.checked_add(by);
    let is_verb = behind(1).and_then(|at| tokens.get(at)).is_some_and(super::order::is_verb);
    let is_asked =
        is(before(3), "what") && is(before(2), "is are was were") || is(before(2), "explain describe");
    let is_of = is(behind(1), "of")
        || is(behind(2), "of") && behind(1).and_then(|at| tokens.get(at)).is_some_and(Token::is_plain);
    is(before(1), "the") && is_asked && is_of
        || is(before(1), "what which") && at == 1 && is_verb
        || is(before(1), "of") && is(before(2), "symptoms causes signs treatment risks") && behind(1).and_then(|at| tokens.get(at)).is_none_or(Token::is_mark)
        // "How can I send an e-mail", "what is a good neighbour?", "tips for travelling"
        || is(before(1), "a an the my")
            && before(2).and_then(|at| tokens.get(at)).is_some_and(|verb| is_in("actions", &verb.text))
            && is(before(3), "i you")
            && is(before(5), "how")
        || behind(1).and_then(|at| tokens.get(at)).is_none_or(Token::is_mark)
            && (is(before(1), "a an") && is(before(2), "is") && is(before(3), "what")
                || is(before(2), "a an") && is(before(3), "is") && is(before(4), "what"))
        || at == 2 && is(before(1), "for") && is(before(2), "tips ideas advice")
        || is(before(1), "i you we they to")
            && (is(before(3), "how") || is(before(2), "how"))
            && is(behind(1), "the a an my your his her our their this these")
}

/// Whether a word is the name of what is called so beside it: "the lenght function".
fn is_named(tokens: &[Token], at: usize) -> bool {
    let beside = [at.checked_sub(1), at.checked_add(1)].into_iter().flatten();
    let is_called = |token: &Token| is_in("named", &token.text) || is_in("searched", &token.text);
    // "What does normalise do?", "is it seperate?"
    let is_subject = match tokens.get(..at) {
        Some([.., is, it]) if it.is("it") => {
            is.text.eq_ignore_ascii_case("is") && tokens.len() == at.saturating_add(1)
        }
        Some([wh, does]) => {
            ["what", "who", "when"].iter().any(|word| wh.text.eq_ignore_ascii_case(word))
                && matches!(does.text.as_str(), "does" | "did")
                && tokens.get(at).is_some_and(|token| token.text.len() > 3)
        }
        _ => false,
    };
    is_subject || beside.filter_map(|at| tokens.get(at)).any(is_called)
}

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

fn is_unit(word: &str) -> bool {
    word == "percent" || UNITS.iter().any(|(long, short)| word == *long || word == *short)
}

/// Whether a text asks for a number, or wants one converted into a measure: elsewhere, how a number is written may be what it is about ("does
/// the API accept 1,000?", "how many tokens is 15%?", "what is $5 backwards?", "how do I turn $5 into 5 dollars?").
fn calculates(tokens: &[Token]) -> bool {
    const MEASURES: &str = "miles mile kilometers kilometer km meters meter m feet foot inches inch yards yard centimeters cm millimeters mm pounds pound lbs \
        ounces ounce kilograms kilogram kg grams gram g milligrams mg stone tons liters liter ml milliliters cups cup tablespoons teaspoons pints gallons \
        dollars euros yen rupees pesos percent hours minutes seconds days weeks acres hectares";
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
    let has_plural = after.iter().take(2).any(super::changes::is_plural);
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
