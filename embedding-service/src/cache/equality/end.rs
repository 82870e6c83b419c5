//! How a text ends: its last marks, and whether the last of them says something. What the words before them ask is in no other file.

use super::token::{Kind, Token, is_any_of};
use super::{changes, contractions, order, words};

/// How a text ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Plain,
    Stopped,
    Asked,
    Exclaimed,
    Both,
    /// "I am...": something is to follow.
    Open,
}

/// What a text says before the changes that decides what its last mark says.
#[derive(Clone, Copy)]
pub(super) struct Beginning {
    has_order: bool,
    pub is_asked_for: bool,
    /// "Explain": it says nothing, whatever ends it.
    pub is_order: bool,
}

impl Beginning {
    pub fn of(tokens: &[Token]) -> Self {
        // "Could you", but not "could have been worse".
        let is_asked = |two: &[Token]| match two {
            [verb, who] => {
                words::is_in("asking", &verb.text.to_lowercase()) && words::is_in("asked", &who.text)
            }
            _ => false,
        };
        let is_how = matches!(tokens, [how, verb, i, ..] if how.is("how") && is_any_of(verb, "do can") && is_any_of(i, "i you"));
        let is_asked_for = is_how || tokens.windows(2).any(is_asked);
        let has_order = tokens.iter().any(|token| words::is_order_word(&token.text));
        let is_order = tokens.first().is_some_and(|first| words::is_in("orders", &first.text));
        Self { has_order, is_asked_for, is_order }
    }

    /// "Delete the file?" and "remind Anna?" offer to, "delete the file" wants it.
    pub fn is_offer(self, tokens: &[Token]) -> bool {
        tokens.first().is_some_and(|first| words::is_order_word(&first.text))
            && self.has_order
            && !self.is_asked_for
    }
}

/// Takes the marks from the end of a text.
pub(super) fn end_marks(tokens: &mut Vec<Token>, is_end: bool) -> End {
    let mut end = End::Plain;
    let dots = tokens.iter().rev().take_while(|token| token.is_mark() && token.text == ".").count();
    while is_end && tokens.last().is_some_and(|last| last.kind == Kind::Mark && last.text != ",") {
        end = match tokens.pop() {
            // "What is Mass.?", "what is int...?", "what is int??": a part of the word.
            Some(mark) if end != End::Plain && (mark.text == "." || mark.text == "?") => {
                tokens.push(mark);
                break;
            }
            Some(mark) if mark.text == "." && end == End::Plain => End::Stopped,
            Some(mark) if mark.text == "?" => End::Asked,
            // "How do I use sort!?"
            Some(mark) if mark.text == "!" && end == End::Asked => End::Both,
            Some(mark) if mark.text == "!" && end == End::Plain => End::Exclaimed,
            _ => end,
        };
    }
    if dots > 2 { End::Open } else { end }
}

/// Whether the full stop may be that of an abbreviation: "define fig.", "what is approx."
pub(super) fn may_be_short(tokens: &[Token]) -> bool {
    let [first, .., before, last] = tokens else { return true };
    let is_list = is_any_of(first, "list name") && is_any_of(before, "the");
    let is_named = tokens.len() < 4 || is_any_of(before, "of a an call called");
    // "Mass.", "Penn."
    let is_state = last.is_capital() && last.text.len() < 5;
    !is_list && (is_state || last.is_plain() && (last.text.len() < 5 || is_named && last.text.len() < 8))
}

/// Whether a text asks with or without a question mark: it begins with a question word and a verb before its subject, and no second verb
/// makes a statement of it ("what is done is done", "who is late has to pay", "why is beyond me").
pub(super) fn asks(tokens: &[Token]) -> bool {
    const FINITE: &str = "is are am was were has does did can could should will would may must might";
    const CLAUSES: &str = "if that because which who when while";
    const SUBJECTS: &str =
        "the a an my your his her our their its i you he she it we they there people this these those";
    const MAKERS: &str = "wrote painted invented discovered founded composed";
    const BEHIND: &str = "of in for with on from at between";
    /// What stands before a plural that is no verb.
    const BEFORE_NOUNS: &str = "the a an of in for between and or to with on from my your his her our their its many most these those noble five three two";
    const NO_SUBJECTS: &str = "more not up beyond about in on because clear still";
    // "Why isn't it working": without "not", it asks as well.
    if tokens.iter().any(|token| token.is("n't")) {
        let without: Vec<Token> = tokens.iter().filter(|token| !token.is("n't")).cloned().collect();
        return asks(&without);
    }
    let [first, second, third, rest @ ..] = tokens else {
        return matches!(tokens, [order, _] if words::is_order_word(&order.text));
    };
    if words::is_in("questions_elsewhere", &first.text) {
        // "Quanto è bella" and "come è grande" wonder at it, "quand est venu le printemps" goes on.
        return words::is_in("being_elsewhere", &second.text)
            && is_any_of(first, "was cuál qual quelle quel wat qué")
            && (is_any_of(third, "die der das la el o a le de het l'") || third.text.starts_with("l'") || third.is_capital())
            && !tokens.iter().any(Token::is_mark)
            // "Wat is geweest is geweest"
            && !rest.iter().chain([third]).any(|token| words::is_in("being_elsewhere", &token.text));
    }
    let is_subject = |token: &Token| {
        is_any_of(token, SUBJECTS)
            || token.is_capital()
            || changes::is_plural(token)
            || token.kind == Kind::Other
    };
    let is_wh = words::is_in("questions", &first.text) && !order::is_verb(first);
    if words::is_order_word(&first.text) {
        return true;
    }
    let is_of_way = is_any_of(first, "why how when where");
    let verb = if order::is_verb(first) { 0 } else { usize::from(!order::is_verb(second)).saturating_add(1) };
    // A second verb makes a statement: "what is done is done", "who is the fastest wins".
    let clause = tokens.iter().skip(verb.saturating_add(1)).take_while(|token| !is_any_of(token, CLAUSES));
    let behind: Vec<&Token> = clause.collect();
    let is_second = |two: &[&Token]| match two {
        [before, next] => {
            is_any_of(next, FINITE)
                || !is_of_way
                    && next.text.ends_with('s')
                    && changes::is_plural(next)
                    && !is_any_of(before, BEFORE_NOUNS)
        }
        _ => false,
    };
    if behind.windows(2).any(is_second) {
        return false;
    }
    let subject = behind.first().copied();
    let has_subject = subject.is_some_and(is_subject);
    if verb == 0 {
        // "Is it safe to", "can I freeze rice", "is Pluto a planet", "is copper heavier than iron", but not "does it every night", "is much better
        // than", "can pickles like a pro": their subject is left out.
        let is_adjective = |token: Option<&Token>| token.is_some_and(Token::is_plain);
        let is_asked = first.is("is")
            && second.is("it")
            && is_adjective(tokens.get(2))
            && rest.first().is_some_and(|to| to.is("to"))
            || is_any_of(first, "can should") && is_any_of(second, "i we")
            || first.is("do")
                && is_any_of(second, "i we")
                && is_any_of(third, "need have")
                && rest.first().is_some_and(|to| to.is("to"));
        let is_named = is_any_of(first, "is are")
            && second.is_capital()
            && !second.text.ends_with("'s")
            && is_any_of(third, "a an")
            && rest.first().is_some_and(Token::is_plain);
        let is_compared =
            third.text.ends_with("er") && rest.first().is_some_and(|than| than.is("than")) && rest.len() > 1;
        const DEGREES: &str = "much far even way still little lot no now";
        let is_of_things = first.is("is")
            && second.is_plain()
            && !second.text.ends_with("ing")
            && !second.text.ends_with("ly")
            && !changes::is_plural(second)
            && !is_any_of(second, DEGREES)
            && is_compared;
        (is_asked || is_named || is_of_things) && !behind.iter().any(|token| token.is("ever"))
    } else if !is_wh {
        false
    } else if verb == 1 {
        let is_bound = |at: usize| behind.get(at).is_some_and(|next| is_any_of(next, BEHIND));
        // "What was the rule became the exception".
        let is_noun = is_any_of(second, "is are")
            || behind.len() < 3
            || is_bound(2)
            || is_bound(3)
            || subject.is_some_and(|who| who.is_capital() || is_any_of(who, "it this that these those"));
        // "Why is anyone's guess", "how was never explained": only a pronoun or a name is surely a subject, and "do" is of no statement.
        let is_surely_subject = subject.is_some_and(|who| {
            who.is_capital() && !who.text.ends_with("'s") || is_any_of(who, "it i you he she we they there")
        });
        let is_done = is_any_of(second, "do does did can should");
        // "How did we laugh", "what do I care", "what is a joke to you hurt me"
        let is_wondering = second.is("did") && behind.len() < 3
            || tokens.iter().any(|token| is_any_of(token, "care me him them us"));
        if is_wondering {
            return false;
        }
        is_of_way && has_subject && behind.len() > 1 && (is_surely_subject || is_done)
            || first.is("what")
                && is_any_of(second, "do does did should can")
                && has_subject
                && behind.len() > 2
            || is_any_of(first, "what who")
                && is_any_of(second, "is are was were")
                && (has_subject && is_noun
                    || (behind.len() == 1 && !is_any_of(third, NO_SUBJECTS) || is_bound(1))
                        // "What is done in the dark"
                        && !contractions::is_participle(&third.text))
            // "Which is the tallest mountain in the world", but not "which is the cheapest option".
            || first.is("which")
                && second.is("is")
                && third.is("the")
                && rest.first().is_some_and(|most| most.text.ends_with("est"))
                && rest.iter().skip(2).any(|token| is_any_of(token, "in of on"))
            // "When was the printing press invented", but not "how was never explained"
            || is_any_of(first, "when where how")
                && is_any_of(second, "is are was were")
                && is_any_of(third, "a an the my")
                && behind.len() > 2
                && rest.last().is_some_and(|last| last.text.ends_with("ed"))
            || is_any_of(first, "why how") && is_done && !is_any_of(third, NO_SUBJECTS) && behind.len() > 1
    } else {
        // "What year did", "how tall is", "how many moons does", but not "how beautiful is the moon", "what fools are these mortals".
        let is_of_measure = words::is_in("measured", &second.text)
            || first.is("which")
            || is_any_of(third, "do does did")
            || first.is("what") && is_any_of(second, "color year time day kind language currency");
        first.is("how") && second.is("to")
            || is_any_of(first, "what which how") && is_of_measure && order::is_verb(third) && has_subject
            || first.is("how")
                && is_any_of(second, "many much")
                && (rest.first().is_some_and(order::is_verb)
                    || changes::is_plural(third) && rest.first().is_some_and(|verb| !is_subject(verb)))
            || first.is("what") && second.is("causes") && rest.is_empty()
            // "Who wrote the note died"
            || first.is("who")
                && is_any_of(second, MAKERS)
                && is_subject(third)
                && !rest.iter().any(|token| contractions::is_participle(&token.text))
    }
}
