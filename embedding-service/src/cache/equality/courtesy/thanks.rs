//! Thanks and "please" at the end of a question.

use super::{
    super::{
        contractions::is_participle,
        token::{Token, is_any_of},
        words::{begins_a_question, is_in, is_order_word},
    },
    asks_you,
    self_contained::{MUCH, is_of_itself},
};

/// Takes thanks behind a mark, and "please" behind a comma. Returns whether anything went.
pub(in super::super) fn without_thanks(
    tokens: &mut Vec<Token>,
    is_about_words: bool,
    is_asked: bool,
) -> bool {
    const THANKS: &str =
        "appreciated many thanks thx cheers thank you a lot so very much in advance for your help time";
    const HELP: &str = "any help is would be much greatly appreciated";
    let Some(mark) = tokens.iter().rposition(Token::is_mark).filter(|mark| *mark > 0) else { return false };
    let Some((before, [sign, after @ ..])) = tokens.split_at_checked(mark) else { return false };
    let is_comma = sign.is(",");
    let is_please = is_comma && matches!(after, [only] if is_any_of(only, "please pls plz"));
    let is_help = matches!(after, [any, help, .., last] if is_any_of(any, "any") && help.is("help") && last.is("appreciated"))
        && after.iter().all(|token| is_any_of(token, HELP));
    // "Many" and "much" alone thank nobody.
    let thanks = match after {
        [only] => is_any_of(only, "thanks thank thx cheers"),
        [first, ..] => {
            is_help
                || is_any_of(first, "thanks thank thx cheers many much")
                    && after.iter().all(|token| is_any_of(token, THANKS))
        }
        [] => false,
    };
    // "How do you say, thank you?", "which album has the song, Thank You?", "how do I end the letter? Cheers?"
    let is_title = is_comma
        && (after.first().is_some_and(Token::is_capital)
            || tokens.iter().any(|token| is_in("works", &token.text)));
    let is_meant = is_about_words || is_title || thanks && is_asked;
    // "Could you list the planets, please?" is as polite as "could you please list the planets?"
    let asked = before.get(2..).filter(|_| is_please && asks_you(before)).unwrap_or(before);
    // "How do I paint a sign reading stop, please?", "explain why dogs hear sit, please": the last words may be what is said.
    let is_said = |token: &Token| {
        token.is("with")
            || token.text.ends_with("ing") && !token.is("explaining")
            || is_participle(&token.text)
    };
    // "How do I sign yes, please?", "why do parents insist on no, thanks?"
    let is_named = asked.iter().any(|token| is_any_of(token, "of between"))
        && matches!(asked, [what, is, the, ..] if what.is("what") && is_any_of(is, "is are was") && is_any_of(the, "a an the"))
        || asked.iter().any(|token| is_any_of(token, "of between about"))
            && matches!(asked, [order, the, ..] if is_order_word(&order.text) && is_any_of(the, "a an the me"));
    let is_list = matches!(asked, [list, the, _] | [list, the, _, _] if list.is("list") && the.is("the"));
    let is_spoken = is_comma && !is_named && !is_list || is_please && before.iter().skip(4).any(is_said);
    // "Which song did Dido record? Thank You."
    let is_name = after.iter().skip(1).any(Token::is_capital);
    let is_free = !is_name && (is_of_itself(asked, MUCH) || is_list);
    if !(is_please || thanks) || is_meant || is_spoken || !is_free || waits(before) {
        return false;
    }
    // "Could you list the planets, please?" is "could you please list the planets?"
    if is_please && asks_you(tokens) {
        tokens.truncate(mark);
        tokens.insert(2, Token::word("please"));
        return true;
    }
    // Another mark is the end of the question.
    tokens.truncate(mark.saturating_add(usize::from(!is_comma)));
    true
}

/// Whether a text has to follow: "Classify the sentiment", "translate into German".
fn waits(before: &[Token]) -> bool {
    // "A list in Python" is no order.
    let is_noun = |at: usize| {
        at.checked_sub(1).and_then(|at| before.get(at)).is_some_and(|the| is_any_of(the, "a the my"))
    };
    let lacks_object = before.windows(2).enumerate().any(|(at, two)| match two {
        [order, next] => {
            is_order_word(&order.text)
                && !is_noun(at)
                && (next.is("to") || is_in("circumstances", &next.text))
        }
        _ => false,
    });
    lacks_object || !before.iter().any(begins_a_question)
}
