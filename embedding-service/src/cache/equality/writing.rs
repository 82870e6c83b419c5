//! The same word in two ways of writing it: contractions, spellings, slips of the typist, the capital at the beginning of a
//! sentence, numbers and dates.

use super::{
    token::{Kind, Token},
    words::{american, is_in, is_start, meant, meant_at_start},
};

/// Contractions with their full form, with and without the apostrophe. Not "cant", "wont", "lets" and "ill": these are words.
const FULL_FORMS: &str = "don't:do not;doesn't:does not;didn't:did not;isn't:is not;aren't:are not;wasn't:was not;weren't:were not;\
    hasn't:has not;haven't:have not;hadn't:had not;shouldn't:should not;couldn't:could not;wouldn't:would not;can't:can not;\
    cannot:can not;won't:will not;mustn't:must not;i'm:i am;i've:i have;i'll:i will;you're:you are;we're:we are;they're:they are;\
    dont:do not;doesnt:does not;didnt:did not;isnt:is not;arent:are not;wasnt:was not;werent:were not;shouldnt:should not;\
    couldnt:could not;wouldnt:would not;havent:have not;hasnt:has not;hadnt:had not;\
    youve:you have;youre:you are;theyre:they are;you've:you have;we've:we have;they've:they have;\
    you'll:you will;we'll:we will;they'll:they will;it'll:it will;he'll:he will;she'll:she will;that'll:that will;needn't:need not;\
    what're:what are;who're:who are;how're:how are;where're:where are;whats:what is;wheres:where is;hows:how is;i'd:i would";
/// What "'s" stands for "is" behind, unless a participle follows ("what's happened").
const BEFORE_IS: &str = "what who where when how why that it there here";
/// What a clause begins with.
const CLAUSES: &str = "if when whenever because that while since until although though whether and but or as so once unless";
/// What a subject begins with.
const SUBJECTS: &str = "i you he she it we they this that these there who which people the a an my your his her its our their";
const PREPOSITIONS: &str = "of in on at for with by from to about into";
/// What may stand before a question without a mark between.
const OPENINGS: &str = "hi hello hey so ok okay um well please know me us wonder wondering and";

fn is_one_of(token: &Token, list: &str) -> bool {
    list.split(' ').any(|word| token.text.eq_ignore_ascii_case(word))
}

/// Whether a contraction is used, and not spoken of. "Is can't formal?", "spell don't", "a sign that reads don't walk", "what does don't
/// mean": there it stands where no verb can.
fn is_used_as_verb(given: &[Token], at: usize, is_about_words: bool) -> bool {
    let Some((before, [token, after @ ..])) = given.split_at_checked(at) else { return false };
    let is_of_is = token.text.to_lowercase().ends_with('s');
    let Some(next) = after.first().filter(|next| next.kind == Kind::Word || is_of_is && !next.is_mark()) else {
        return false;
    };
    if super::order::is_verb(next)
        || !is_of_is && is_one_of(next, PREPOSITIONS)
        || is_one_of(next, "and or short")
    {
        return false;
    }
    let is_start = |token: &Token| token.is_mark();
    let is_question = |token: &Token| {
        is_in("questions", &token.text.to_lowercase()) && !super::order::is_verb(&small(token))
    };
    if is_about_words {
        // "What's the plural of ox", but not "what's a contraction of".
        let is_open = after.last().is_some_and(|last| is_one_of(last, PREPOSITIONS));
        let is_why = matches!(before, [why] if is_one_of(why, "why"));
        return before.is_empty() && is_of_is && is_one_of(next, "the a an your my") && !is_open || is_why;
    }
    let Some(last) = before.last() else { return true };
    let is_not = token.text.to_lowercase().ends_with('t');
    if is_start(last)
        || is_question(last)
        || is_one_of(last, CLAUSES)
        || is_of_is && before.iter().all(|token| is_one_of(token, OPENINGS) || is_start(token))
        || is_of_is && is_one_of(last, "know me us wonder wondering")
    {
        return true;
    }
    // "If my car won't start", "I don't know".
    let subject = before.iter().rev().take(4).take_while(|token| {
        !is_start(token) && !is_one_of(token, CLAUSES) && !is_question(token) && !super::order::is_verb(&small(token))
    });
    let len = subject.count();
    let Some((opening, subject)) = before.split_at_checked(before.len().saturating_sub(len)) else { return false };
    let begins = subject.first().is_some_and(|first| is_one_of(first, SUBJECTS));
    let opens = opening.last().is_some_and(|last| is_one_of(last, CLAUSES) && !is_one_of(last, "that") || is_question(last));
    is_not && len > 0 && (begins && (opening.is_empty() || opening.last().is_some_and(is_start)) || opens || begins && opening.last().is_some_and(|last| is_one_of(last, CLAUSES)))
}

fn small(token: &Token) -> Token {
    Token { text: token.text.to_lowercase(), ..token.clone() }
}

/// Contractions in full.
pub(super) fn with_full_forms(tokens: &mut Vec<Token>, is_about_words: bool) {
    let given = std::mem::take(tokens);
    let straight = |token: &Token| Token { text: token.text.replace('’', "'"), ..token.clone() };
    let has_been = given.iter().any(|token| token.is("been"));
    for (at, token) in given.iter().enumerate() {
        let next = given.get(at.saturating_add(1)).map_or("", |next| next.text.as_str());
        let curly = token;
        let token = &straight(token);
        if token.kind != Kind::Word || !is_used_as_verb(&given, at, is_about_words) {
            // "Peru’s capital", but not "is don’t ASCII?"
            let is_owner = at.saturating_add(1) < given.len()
                && !is_about_words
                && token.text.strip_suffix("'s").is_some_and(|owner| !BEFORE_IS.split(' ').any(|known| owner.eq_ignore_ascii_case(known)));
            tokens.push(if is_owner { token.clone() } else { curly.clone() });
            continue;
        }
        // "What's the teacher told": has or is.
        let rest = given.get(at.saturating_add(2)..).unwrap_or_default();
        let ends_in_participle = rest.last().is_some_and(|last| is_participle(&last.text));
        let is_done = has_been
            || token.text.eq_ignore_ascii_case("who's") && ends_in_participle
            || is_one_of(&Token::word(next), PERSONS) && !is_state(&token.text, next, rest)
            || next != "it" && rest.iter().take(4).any(|token| is_done_word(&token.text));
        // "I can not eat" and "who can not eat" may be able not to, but "why can not I" is "why can I not".
        let is_asked = at.checked_sub(1).and_then(|before| given.get(before)).is_none_or(|before| {
            ["why", "how", "when", "where"].iter().any(|word| before.text.eq_ignore_ascii_case(word))
        });
        if matches!(token.text.as_str(), "can't" | "cannot") && !is_asked {
            tokens.push(Token { text: "cannot".to_owned(), ..token.clone() });
            continue;
        }
        match full_form(&token.text, next, is_done) {
            Some((first, second)) => {
                tokens.push(Token { text: first, ..token.clone() });
                tokens.push(Token::word(second));
            }
            None => tokens.push(token.clone()),
        }
    }
}

const PERSONS: &str = "he she it we they you i this that";

/// "What's it like", "where's it put", but not "what's it eaten", "what's he shown", "what's this do": has, is or does.
fn is_state(word: &str, next: &str, rest: &[Token]) -> bool {
    let Some(what) = rest.first() else { return true };
    let is_ongoing = what.text.ends_with("ing");
    let is_put = word.eq_ignore_ascii_case("where's") && next == "it" && rest.len() == 1 && is_participle(&what.text);
    is_ongoing || is_put || is_one_of(what, "like called about for")
}

/// "floats" is "float". `None` for a word of which it cannot be told.
pub(super) fn without_s(verb: &str) -> Option<String> {
    let bare = verb.strip_suffix('s')?;
    let is_doubtful = ["s", "u", "i", "e", "a", "o"].iter().any(|end| bare.ends_with(end));
    (bare.len() > 2 && bare.chars().all(char::is_lowercase) && !is_doubtful).then(|| bare.to_owned())
}

/// "Between" and "often" end as "eaten" does.
fn is_done_word(word: &str) -> bool {
    ["ed", "wn", "orn", "ung", "unk", "ught", "ept"].iter().any(|end| word.ends_with(end))
        || is_in("participles", word)
}

pub(super) fn is_participle(word: &str) -> bool {
    word.ends_with("en") || is_done_word(word)
}

/// German and Dutch participles: "wie gesagt", "zoals beloofd".
pub(super) fn is_participle_elsewhere(word: &str) -> bool {
    ["ge", "be", "ver", "vor", "abge", "ange"].iter().any(|begin| word.starts_with(begin)) && (word.ends_with('t') || word.ends_with("en") || word.ends_with('d'))
}

/// `next`: the word behind it. `is_done`: a participle follows soon.
fn full_form(word: &str, next: &str, is_done: bool) -> Option<(String, &'static str)> {
    let lower = word.to_lowercase();
    let (first, second) = match lower.strip_suffix("'s") {
        Some(before) if BEFORE_IS.split(' ').any(|known| known == before) => {
            // "What's she bought" is "what has she bought".
            if is_participle(next) || is_done {
                return None;
            }
            (before.to_owned(), "is")
        }
        Some(_) => return None,
        None => {
            let mut forms = FULL_FORMS.split(';').filter_map(|entry| entry.split_once(':'));
            let (first, second) = forms.find(|(short, _)| *short == lower)?.1.split_once(' ')?;
            // "Whats app" has a name of its own.
            if lower == "whats" && next == "app" {
                return None;
            }
            // "I'd" is "I had" as well.
            if lower == "i'd" && !matches!(next, "like" | "love" | "prefer") {
                return None;
            }
            (first.to_owned(), second)
        }
    };
    let mut letters = word.chars();
    let is_capital = letters.next().is_some_and(char::is_uppercase);
    // "DON'T" in capitals says more.
    if letters.any(char::is_uppercase) {
        return None;
    }
    Some((if is_capital { capital(&first) } else { first }, second))
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// The capital that only a sentence's beginning gives a word, and that of "I". Only for words that are no names.
pub(super) fn with_small_starts(tokens: &mut [Token]) {
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
            if let Some(meant) = meant_at_start(&small) {
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

/// Whether the text is about more than the word at this place.
fn has_company(tokens: &[Token], at: usize) -> bool {
    tokens.iter().enumerate().any(|(place, token)| {
        place != at
            && token.kind == Kind::Word
            && token.text.len() > 2
            && !is_in("little", &token.text.to_lowercase())
    })
}

/// One spelling, without slips.
pub(super) fn spelt(tokens: &mut [Token], is_known: &dyn Fn(&str) -> bool) {
    // "Is captial a mistake?", "how common is definately?"
    let is_judged = tokens.iter().any(|token| is_in("judged", &token.text.to_lowercase()));
    let is_asked_of = |at: usize| at == 1 && tokens.first().is_some_and(|first| super::order::is_verb(&small(first)));
    let is_spoken_of = |at| is_named(tokens, at) || is_judged || is_asked_of(at);
    let around = |at| (is_spoken_of(at), !has_company(tokens, at), is_used(tokens, at));
    let named: Vec<_> = (0..tokens.len()).map(around).collect();
    let is_programmed = tokens.iter().any(|token| is_in("programmed", &token.text.to_lowercase()));
    // "Who stars in humour me?"
    let names_somebody = tokens.first().is_some_and(|first| first.is("who"));
    let mut is_naming = false;
    for (token, (is_named, is_alone, is_used)) in tokens.iter_mut().zip(named) {
        let follows = std::mem::replace(&mut is_naming, is_in("naming", &token.text));
        // "What is teh?"
        if !token.is_plain() || is_named || follows || is_alone && token.text.len() < 5 {
            continue;
        }
        if let Some(meant) = meant(&token.text, is_known) {
            meant.clone_into(&mut token.text);
        }
        if let Some(american) =
            american(&token.text).filter(|_| is_used && !is_programmed && !is_alone && !names_somebody)
        {
            american.clone_into(&mut token.text);
        }
    }
}

/// Whether a word is used and not spoken of: "the colour of", "what colour is", "to organise my", but not "underline the colour", "the
/// colour argument".
fn is_used(tokens: &[Token], at: usize) -> bool {
    let is = |at: Option<usize>, list: &str| {
        at.and_then(|at| tokens.get(at)).is_some_and(|token| is_one_of(token, list))
    };
    let (before, behind) = (at.checked_sub(1), at.checked_add(1));
    let is_verb = behind.and_then(|at| tokens.get(at)).is_some_and(super::order::is_verb);
    is(before, "the") && is(behind, "of")
        || is(before, "what which") && is_verb
        || is(before, "i you we they to") && is(behind, "the a an my your his her our their this these")
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

/// Whether a text asks for a number or a day, or wants one converted: elsewhere, how a number is written may be what it is about ("does the
/// API accept 1,000?", "make a sign that reads $5", "how do I turn $5 into 5 dollars?").
fn calculates(tokens: &[Token]) -> bool {
    match tokens {
        [first, second, ..] => {
            first.is("convert")
                || first.is("calculate")
                || first.is("how") && is_in("degrees", &second.text)
                || first.is("what") && (second.is("is") || second.is("are"))
        }
        _ => false,
    }
}

/// "Name five gases", "in two sentences, explain", "what are the five lakes", but not "a story titled five lakes".
fn is_count(before: &[Token]) -> bool {
    let is_order =
        |token: &Token| ["orders", "orders_with_object"].iter().any(|list| is_in(list, &token.text));
    match before {
        [into] if into.is("in") => true,
        [order] => is_order(order),
        [.., mark, order] if mark.is_mark() => is_order(order),
        [.., order, to] if to.is("me") || to.is("us") => is_order(order),
        [order, .., into] if into.is("in") => is_order(order),
        [what, are, the] => what.is("what") && are.is("are") && the.is("the"),
        _ => false,
    }
}

/// Small numbers in digits; "15 %", "15%" and "15 percent"; "$5" and "5 dollars"; "1,000" and "1000"; a date with its year.
pub(super) fn with_numbers(tokens: &mut Vec<Token>) {
    with_dates(tokens);
    let has = |list: &str| tokens.iter().any(|token| is_in(list, &token.text.to_lowercase()));
    let is_programmed = has("programmed");
    let calculates = calculates(tokens) && !is_programmed;
    // Elsewhere a comma begins the fraction.
    let names_somewhere = tokens
        .iter()
        .skip(1)
        .any(|token| token.is_capital() && token.text.chars().any(char::is_lowercase));
    let is_english = has("english") && !has("languages") && !has("commas") && !names_somewhere;
    let given = std::mem::take(tokens);
    for (at, token) in given.iter().enumerate() {
        let (before, after) = (given.get(..at).unwrap_or_default(), given.get(at.saturating_add(1)..).unwrap_or_default());
        let next = after.first();
        // "Enter five in the box", "is five a number": no count. "10 % 3" is the rest of a division.
        let counts = next.is_some_and(|next| next.is_plain() && !is_in("no_counted", &next.text));
        let before_number = next.is_some_and(|next| next.text.starts_with(|c: char| c.is_ascii_digit()));
        let is_measured = next.is_some_and(|next| is_unit(&next.text));
        let follows_number = tokens.last().is_some_and(|last| {
            last.kind == Kind::Other && last.text.ends_with(|c: char| c.is_ascii_digit()) && !last.text.contains(|c: char| c.is_alphabetic())
        });
        let small = small_number(token)
            .filter(|_| counts && !is_programmed && (is_count(before) || calculates && is_measured));
        let unit = UNITS
            .iter()
            .find(|(long, _)| token.text == *long)
            .filter(|_| calculates && follows_number && !(token.text == "%" && before_number));
        if let Some(text) = small {
            tokens.push(Token { kind: Kind::Other, text, ..token.clone() });
        } else if let Some((_, short)) = unit {
            tokens.push(Token::word(short));
        } else if let Some((number, unit)) = number(&token.text).filter(|(_, unit)| {
            let is_fraction = token.text.contains(',')
                && (!is_english || before.last().is_some_and(|word| word.is_plain() && word.text.ends_with('s') && !word.is("is")));
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
        let is_date = day.parse::<u8>().is_ok_and(|day| (1..=31).contains(&day))
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
