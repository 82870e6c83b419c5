//! How often a user's text wants something done: "run the tests 10 times", "twelve samples", "5×". The number stands before what
//! is counted, so "order 9" and "line 42" are names. A text may also want something done until something happens. All this makes
//! verdicts later, never earlier.

use memchr::memmem::Finder;
use sentinel_text::words;
use serde::{Deserialize, Serialize};

use super::{
    acknowledging::has,
    known::{Known, is_one_of},
    phrases::{self, Says},
};
use crate::{
    Sought,
    words::{
        chinese, english, french, german, italian, japanese, korean, others, portuguese, russian, spanish,
    },
};

/// Bytes of a text that are looked at, at its beginning and at its end.
const REACH: usize = 4_096;
/// Words between the number and what it counts: "10 more test runs".
const BETWEEN: usize = 2;
const LEAST: u32 = 5;
const MOST: u32 = 100;

static REPETITIONS: [Known; 7] = [
    Known::of(english::REPETITIONS),
    Known::of(german::REPETITIONS),
    Known::of(french::REPETITIONS),
    Known::of(spanish::REPETITIONS),
    Known::of(portuguese::REPETITIONS),
    Known::of(italian::REPETITIONS),
    Known::of(others::REPETITIONS),
];
/// In these scripts, a word is recognised by its beginning.
const BEGINNINGS: [&[&str]; 4] =
    [russian::REPETITIONS, chinese::REPETITIONS, japanese::REPETITIONS, korean::REPETITIONS];
const NUMBERS: [&[(&str, u32)]; 3] = [english::NUMBERS, german::NUMBERS, others::NUMBERS];

/// How often a text wants something done. Of two texts, the one that asks for more counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
pub enum Asked {
    #[default]
    NotSaid,
    /// Nobody knows how often: "until the door opens".
    OpenEnded,
    /// Again and again, with time in between: "check hourly". Until something is there, the result may be a failure.
    AtIntervals,
    /// From `LEAST` to `MOST`.
    Times(u32),
}

impl Asked {
    pub(crate) fn by(text: &str) -> Self {
        match in_both_ends(text) {
            0 if is_at_intervals(text) => Self::AtIntervals,
            0 if phrases::says(text, Says::OpenEnded) && !goes_to_the_end(text) => Self::OpenEnded,
            0 => Self::NotSaid,
            number => Self::Times(number),
        }
    }
}

/// "Every 30 minutes", "alle zehn Minuten", "cada hora", "hourly": a user who says so waits for something.
fn is_at_intervals(text: &str) -> bool {
    let is_every = |word: &str, before: &str| {
        [english::EVERY, others::EVERY].iter().copied().flatten().any(|every| match every.split_once(' ') {
            Some((first, last)) => before.eq_ignore_ascii_case(first) && word.eq_ignore_ascii_case(last),
            None => word.eq_ignore_ascii_case(every),
        })
    };
    let begins = |word: &str, units: &[&str]| {
        let word = word.to_ascii_lowercase();
        units.iter().any(|unit| word.starts_with(unit))
    };
    let reach = text.get(..text.floor_char_boundary(REACH)).unwrap_or_default();
    let (mut three, mut two, mut one) = ("", "", "");
    let in_words = words(reach).any(|word| {
        let is_number =
            one.starts_with(|digit: char| digit.is_ascii_digit()) || number_in_words(one).is_some();
        let found = is_number && is_every(two, three) && begins(word, others::UNITS_OF_TIME)
            // The unit must be written in full: "every minor fault" begins like "every min".
            || is_every(one, two) && begins(word, others::UNITS_IN_FULL)
            || is_one_of(word, others::INTERVALS)
            || others::AGAIN.iter().any(|[first, last]| {
                one.eq_ignore_ascii_case(first) && word.eq_ignore_ascii_case(last)
            });
        (three, two, one) = (two, one, word);
        found
    });
    in_words || others::INTERVALS_WITHOUT_SPACES.iter().any(|interval| reach.contains(interval))
}

/// "Keep going until the problem is solved" says how an agent works. It does not wait for anything.
fn goes_to_the_end(text: &str) -> bool {
    /// Bytes behind it that are looked at.
    const NEAR: usize = 40;
    static UNTIL: Sought = Sought::new(|| Finder::new("until "));
    UNTIL.places(text).any(|at| {
        let near = text.get(at..text.floor_char_boundary(at.saturating_add(NEAR))).unwrap_or_default();
        english::OWN_WORK.iter().any(|work| has(near, work))
    })
}

/// How many calls a text asks for, by a number before something that the call names: "craft 8 planks" before a call that names a
/// plank, "open the 14th photo" before one that names a photo. `call`: its name and its arguments. `says_little`: the call is
/// given a token at most, so a number of anything may mean it: "a stack of 24 slices" means `snap`.
pub(crate) fn number_of_named(text: &str, call: &str, says_little: bool) -> u32 {
    /// A word is recognised by all letters but its ending, and by at least this many.
    const STEM: usize = 4;
    let call = call.to_ascii_lowercase();
    let (mut number, mut most) = (0, 0);
    for word in words(text) {
        if number > 0 && says_little && may_be_counted(word) {
            most = most.max(number);
        }
        if number > 0 && word.len() >= STEM {
            let word = word.to_ascii_lowercase();
            let stem = word.floor_char_boundary(word.len().saturating_sub(2).max(STEM));
            let stem = word.get(..stem).unwrap_or_default();
            // Split names such as `oak_plank`.
            if call
                .split(|c: char| c.is_ascii() && !c.is_ascii_alphanumeric())
                .any(|named| named.starts_with(stem))
            {
                most = most.max(number);
            }
        }
        let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let is_ordinal = matches!(word.get(digits.len()..), Some("" | "st" | "nd" | "rd" | "th"));
        let in_digits = if is_ordinal { digits.parse().ok() } else { None };
        number = in_digits.or_else(|| number_in_words(word)).filter(in_range).unwrap_or(0);
        // If the call holds the number, it is a name: "14, Lake Road".
        if number > 0 && is_given_back(number, &call) {
            number = 0;
        }
    }
    most
}

/// Whether a number before it may count it: a word of letters that is no unit of time.
fn may_be_counted(word: &str) -> bool {
    static UNITS: Known = Known::of(english::UNITS_OF_TIME);
    word.len() > 2 && word.chars().all(char::is_alphabetic) && !UNITS.has(word)
}

/// Whether the number stands in the arguments: "sell 5 calls" is a quantity if the order says 5.
pub(crate) fn is_given_back(number: u32, arguments: &str) -> bool {
    words(arguments).any(|word| word.parse() == Ok(number) || number_in_words(word) == Some(number))
}

fn in_both_ends(text: &str) -> u32 {
    if text.len() <= REACH.saturating_mul(2) {
        return in_part(text);
    }
    let beginning = text.get(..text.floor_char_boundary(REACH)).unwrap_or_default();
    let end = text.get(text.ceil_char_boundary(text.len().saturating_sub(REACH))..).unwrap_or_default();
    in_part(beginning).max(in_part(end))
}

fn in_part(text: &str) -> u32 {
    let mut most = 0;
    // A number that may count what follows, and the words since.
    let mut open: Option<(u32, usize)> = None;
    for word in words(text) {
        let (digits, rest) = word
            .split_at_checked(word.find(|c: char| !c.is_ascii_digit()).unwrap_or(word.len()))
            .unwrap_or((word, ""));
        let (number, counted) = match digits.parse::<u32>() {
            Ok(number) => (Some(number), rest),
            Err(_) => match word.strip_suffix("mal").and_then(number_in_words) {
                Some(number) => (Some(number), "mal"),
                None => (number_in_words(word), ""),
            },
        };
        // "x10".
        let signed = word.strip_prefix(['x', 'X']).and_then(|digits| digits.parse().ok());
        most = most.max(signed.filter(in_range).unwrap_or(0));
        // An `x` counts only directly behind the number.
        let is_sign = |word: &str, between: usize| between == 0 && word.eq_ignore_ascii_case("x");
        if let Some(number) = number {
            // "10x", "10次", "zehnmal".
            if !counted.is_empty() {
                if is_repetition(counted) || is_sign(counted, 0) {
                    most = most.max(Some(number).filter(in_range).unwrap_or(0));
                }
                open = None;
            } else {
                open = Some((number, 0));
            }
            continue;
        }
        if let Some((number, between)) = open {
            if is_repetition(word) || is_sign(word, between) {
                most = most.max(Some(number).filter(in_range).unwrap_or(0));
                open = None;
            } else {
                open = (between < BETWEEN).then_some((number, between.saturating_add(1)));
            }
        }
    }
    // `words` does not return `×`.
    for (at, _) in text.match_indices('×') {
        let before = text.get(..at).unwrap_or_default().trim_end();
        let digits = before.len().saturating_sub(before.trim_end_matches(|c: char| c.is_ascii_digit()).len());
        let number = before.get(before.len().saturating_sub(digits)..).and_then(|digits| digits.parse().ok());
        most = most.max(number.filter(in_range).unwrap_or(0));
    }
    most
}

fn is_repetition(word: &str) -> bool {
    REPETITIONS.iter().any(|known| known.has(word))
        || BEGINNINGS.into_iter().flatten().any(|beginning| word.starts_with(beginning))
}

#[inline(never)]
fn number_in_words(word: &str) -> Option<u32> {
    let is_it = |known: &str| word.eq_ignore_ascii_case(known);
    let from_one = english::FROM_ONE.iter().zip(1..).find(|(known, _)| is_it(known));
    from_one
        .map(|(_, number)| number)
        .or_else(|| NUMBERS.into_iter().flatten().find(|(known, _)| is_it(known)).map(|(_, number)| *number))
}

fn in_range(number: &u32) -> bool {
    (LEAST..=MOST).contains(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_before_what_is_counted() {
        for (text, number) in [
            ("Run the tests 10 times and tell me how often they fail.", 10),
            ("Sample register 4 twelve times.", 12),
            ("Take twelve samples of register 4", 12),
            ("Flip the coin 20x, please", 20),
            ("5× please", 5),
            ("Do 10 more test runs", 10),
            ("Roll it ten times", 10),
            ("Führe den Test 10-mal aus", 10),
            ("把测试运行10次", 10),
            ("Запусти тесты 10 раз", 10),
            ("Cancel order 9", 0),
            ("Look at line 42 of main.rs", 0),
            ("Find the 10 largest files", 0),
            ("Try 3 times", 0),
            ("Cancel order 9 three times", 0),
            ("Jun 6 10:20 ..\ndrwxr-xr-x 1 root", 0),
            ("Führe die Tests zehnmal aus, bitte", 10),
            ("Bitte zwölf Mal messen", 12),
            ("Testleri 10 kez çalıştır", 10),
            ("شغّل الاختبارات 10 مرات", 10),
            ("Lance les tests dix fois", 10),
            ("请运行测试十次", 10),
            ("pytest x10", 10),
            ("10 requests to the API", 10),
            ("Appelle /panier quinze fois", 15),
            ("Tira el dado veinte veces", 20),
            ("Relais K3: 12 Zyklen, danach messen", 12),
            ("Read xls and x86 files", 86),
            ("Send mail to 10 people", 0),
            ("Uruchom testy dziesięć razy", 10),
            ("Прогони тесты десять раз", 10),
            ("Relève la température douze fois", 12),
            ("테스트를 열 번 실행해 줘", 10),
            ("I want 20 pings", 20),
            ("Run it 1000 times", 0),
            ("In room 12 there are four times", 0),
            ("", 0),
            ("Roll a die 12 times, or until you see a six", 12),
            ("Tell me the opening hours of the bakery", 0),
            ("Wir haben von 9 bis 10 Uhr offen", 0),
            ("When was the library founded?", 0),
            ("Keep going until the user's query is resolved.", 0),
            ("Do not stop until you have found the answer", 0),
            ("×", 0),
        ] {
            let asked = if number == 0 { Asked::NotSaid } else { Asked::Times(number) };
            assert_eq!(Asked::by(text), asked, "{text}");
        }
    }

    #[test]
    fn what_is_done_until_something_comes_about() {
        for text in [
            "Tell me when the kiln has cooled.",
            "Roll a die until you see a six",
            "Sag mir, wenn der Ofen heiß ist",
            "Préviens-moi quand le four est chaud.",
            "炉が冷めたら教えて。",
            "炉子凉了告诉我。",
            "भट्ठी ठंडी हो जाए तो बताना।",
            "Go on until the tests pass",
            "Ping the board until it answers",
            "Würfle, bis eine Sechs fällt",
            "Vuelve a mirar hasta que responda",
            "Gooi tot er een zes valt",
            "釣れるまで釣って",
        ] {
            assert_eq!(Asked::by(text), Asked::OpenEnded, "{text}");
        }
    }

    #[test]
    fn what_is_done_at_intervals() {
        for text in [
            "Every 30 minutes look at the parcel's status.",
            "Check hourly and start the import when it is there",
            "Poll it every minute until it answers",
            "Schau alle zehn Minuten nach dem Paket.",
            "Sieh stündlich nach",
            "Regarde toutes les 5 minutes.",
            "Vérifie chaque heure si le fichier est là",
            "Revisa el horno cada 15 segundos",
            "Controlla ogni minuto",
            "每隔半小时看一下物流。",
            "30分おきに確認して",
            "10분마다 보고 들어오면 알려 줘",
            "Call it over and over, I want to see it flicker",
            "Sprawdzaj wilgotność co kwadrans",
            "Schau alle Viertelstunde nach",
            "Look every few minutes",
            "Проверяй каждую минуту",
            "反复多跑几遍看看稳不稳定",
        ] {
            assert_eq!(Asked::by(text), Asked::AtIntervals, "{text}");
        }
        for text in
            ["Fix every minor fault", "Name every uncle", "Each of them has an hour", "At every horizon"]
        {
            assert_eq!(Asked::by(text), Asked::NotSaid, "{text}");
        }
    }

    #[test]
    fn a_number_before_what_the_call_names() {
        for (text, call, number) in [
            ("Craft 8 planks.", r#"craft {"recipe":"oak plank"}"#, 8),
            ("Print each of the 8 badges", r#"print_badge {"text":"VISITOR DAY PASS"}"#, 8),
            ("Start six workers", r#"spawn_worker {"queue":"jobs"}"#, 6),
            ("Ziehe 9 Schrauben fest", r#"drehen {"teil":"Schraube links"}"#, 9),
            ("Compra cinco entradas", r#"comprar {"tipo":"entrada de adulto"}"#, 5),
            ("Look at issue 17 in the parser", r#"search {"query":"parser crash"}"#, 0),
            ("Cancel order 9", r#"cancel {"what":"order 9"}"#, 0),
            ("Craft 3 planks", r#"craft {"recipe":"oak plank"}"#, 0),
            ("You have 17 turns left", r#"search {"input":"The Return of the King"}"#, 0),
            ("Change my address: 14, Lake Road", r#"set_address {"new":"14, Lake Road"}"#, 0),
            ("Craft 8 planks", r#"craft {"recipe":"oak plank","count":8}"#, 0),
            ("", "", 0),
        ] {
            assert_eq!(number_of_named(text, call, false), number, "{text}");
        }
        // A number of anything may mean a call that is given next to nothing.
        for (text, number) in [
            ("Dig 12 tiles east", 12),
            ("Six replicate injections from vial 3, then the samples", 6),
            ("Take a stack of 24 slices, 1 µm apart", 24),
            ("Gå vidare till den tolv bilden", 12),
            ("Go on to the 14th photo", 14),
            ("Dig at tile 12", 0),
            ("Come back in 15 minutes", 0),
            ("Sell 5 calls", 0),
        ] {
            assert_eq!(number_of_named(text, r#"dig {"qty":-5}"#, true), number, "{text}");
        }
    }

    #[test]
    fn of_a_long_text_both_ends_are_read() {
        let long =
            format!("Run it 10 times. {} Then 12 runs more. {}", "é ".repeat(9_000), "Ende. ".repeat(20));
        assert_eq!(Asked::by(&long), Asked::Times(12));
    }
}
