//! A provider's answer: how it is stored, and when two of them say the same.

use std::collections::BTreeSet;

use bytes::Bytes;
use prost::Message as _;
use sentinel_proto::v1::{CachedAnswer, Called};

/// Two answers that do not contradict each other count as the same if their beginnings have at least this similarity (cosine 0.90), the
/// same as for prompts of a loop. A higher value would cost hits, a lower one would let wrong answers count as right.
pub const SAME_ANSWER: f64 = 0.95;
/// Words that reverse the meaning of a sentence. Answers that differ in one of them are not the same, however similar they are.
const TURNING: &str = "not no never none nobody nothing neither nor without cannot hardly yes true false before after until since more \
    less fewer most least better worse higher lower above below up down increase increases decrease decreases always sometimes";

#[must_use]
pub fn encode(answer: &CachedAnswer) -> Bytes {
    answer.encode_to_vec().into()
}

/// `None` if the bytes are not an answer.
#[must_use]
pub fn decode(bytes: &Bytes) -> Option<CachedAnswer> {
    CachedAnswer::decode(bytes.clone()).ok().filter(|answer| match &answer.called {
        Some(called) => answer.text.is_empty() && is_sound(called),
        None => !answer.text.is_empty(),
    })
}

/// Whether it has at least one call, and every call has a name.
#[must_use]
pub fn is_sound(called: &Called) -> bool {
    !called.calls.is_empty() && called.calls.iter().all(|call| !call.name.is_empty())
}

/// Bytes of its text, and of the names and arguments of its calls.
#[must_use]
pub fn length(answer: &CachedAnswer) -> usize {
    let called = answer.called.iter().flat_map(|called| {
        let calls = called.calls.iter().flat_map(|call| [&call.name, &call.arguments]);
        calls.chain([&called.text])
    });
    called.map(String::len).fold(answer.text.len(), usize::saturating_add)
}

/// What can be told of two answers without a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Likeness {
    /// The same but for white space, case and the punctuation at the end.
    Same,
    /// They have other numbers, or one denies what the other says: not the same, however alike they are.
    Opposed,
    /// As far as their meaning is the same: see [`SAME_ANSWER`].
    Unknown,
}

#[must_use]
pub fn likeness(a: &str, b: &str) -> Likeness {
    if folded(a) == folded(b) {
        Likeness::Same
    } else if numbers(a) != numbers(b) || turning(a) != turning(b) {
        Likeness::Opposed
    } else {
        Likeness::Unknown
    }
}

/// The words of [`TURNING`] that a text has; "n't" counts as "not".
fn turning(text: &str) -> BTreeSet<&'static str> {
    let text = text.to_lowercase().replace("n't", " not").replace("n’t", " not");
    let words: BTreeSet<&str> = sentinel_text::words(&text).collect();
    TURNING.split_ascii_whitespace().filter(|word| words.contains(word)).collect()
}

fn folded(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").trim_end_matches(['.', '!']).to_lowercase()
}

/// The numbers in a text. The marks of a list ("1.") are left out, because they depend only on the form.
fn numbers(text: &str) -> BTreeSet<&str> {
    let mut numbers = BTreeSet::new();
    for line in text.lines() {
        let line = line.trim_start();
        let mark = line.find(|c: char| !c.is_ascii_digit()).unwrap_or_default();
        let rest = line.get(mark..).unwrap_or_default();
        let line =
            if mark > 0 && rest.starts_with(['.', ')']) && !rest.get(1..).is_some_and(starts_with_digit) {
                rest
            } else {
                line
            };
        numbers.extend(line.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty()));
    }
    numbers
}

fn starts_with_digit(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use sentinel_proto::v1::FunctionCall;

    use super::*;

    #[test]
    fn an_answer_comes_back_as_it_went() {
        let answer = CachedAnswer {
            text: "Yes.".to_owned(),
            model: "m".to_owned(),
            input_tokens: 1,
            cached_tokens: 2,
            output_tokens: 3,
            cost_nano_usd: 4,
            id: "resp_1".to_owned(),
            called: None,
        };
        assert_eq!(decode(&encode(&answer)), Some(answer.clone()));
        assert_eq!(length(&answer), 4);
        let with_calls = |text: &str, names: &[&str]| {
            let call = |name: &&str| FunctionCall { name: (*name).to_owned(), arguments: "{}".to_owned() };
            let called = Called { text: "Let me see.".to_owned(), calls: names.iter().map(call).collect() };
            CachedAnswer { text: text.to_owned(), called: Some(called), ..answer.clone() }
        };
        let calls = with_calls("", &["f", "g"]);
        assert_eq!((decode(&encode(&calls)), length(&calls)), (Some(calls), 17));
        for bad in [with_calls("", &[]), with_calls("Yes.", &["f"]), with_calls("", &["f", ""])] {
            assert_eq!(decode(&encode(&bad)), None, "{bad:?}");
        }
        assert_eq!(decode(&Bytes::from_static(b"\xff\xff")), None);
        assert_eq!(decode(&Bytes::new()), None, "an answer without a text is none");
    }

    /// Who reads an answer with calls and does not know them must find none, and not its text alone.
    #[test]
    fn an_earlier_version_finds_no_answer_where_there_are_calls() {
        #[derive(Clone, PartialEq, prost::Message)]
        struct Earlier {
            #[prost(string, tag = "1")]
            text: String,
        }
        let call = FunctionCall { name: "f".to_owned(), arguments: "{}".to_owned() };
        let called = Called { text: "Let me see.".to_owned(), calls: vec![call] };
        let bytes = encode(&CachedAnswer { called: Some(called), ..CachedAnswer::default() });
        assert_eq!(Earlier::decode(bytes).map(|earlier| earlier.text).as_deref(), Ok(""));
    }

    #[test]
    fn form_is_no_difference_and_a_number_or_a_denial_is() {
        assert_eq!(likeness("Paris.", " paris "), Likeness::Same);
        assert_eq!(likeness("It takes 15 minutes.", "It takes 50 minutes."), Likeness::Opposed);
        assert_eq!(likeness("It costs 1.50", "It costs 1.05"), Likeness::Opposed);
        assert_eq!(likeness("1. Mix\n2. Bake", "Mix, then bake"), Likeness::Unknown);
        assert_eq!(likeness("1.5 l of milk", "some milk"), Likeness::Opposed);
        assert_eq!(likeness("You can return it.", "You cannot return it."), Likeness::Opposed);
        assert_eq!(likeness("Paris", "The capital is Paris"), Likeness::Unknown);
    }
}
