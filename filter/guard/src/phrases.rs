//! Sentences that tell a model to set its instructions aside, to play somebody without limits, or to show its prompt. The rules
//! look at who is told to do what, so texts about such sentences pass.

use crate::{
    Matches, Pattern, Place,
    quoted::{ahead, begins_value, first_line, is_literal, is_named, trim_end},
    tokens::{self, CLAUSE, COLON, COMMA, GLUED, LINE, QUOTE, SIGN, STOP, Token, UNQUOTE},
    words::{
        AI, ALL, AND, ARE, BEFORE, END, EVERYTHING, FILLER, FOLLOW, GIVEN, HALT, IDENTITY, IF, IGNORE,
        INSTRUCTION, LIMIT, MENTION, MODAL, NAME, NEGATION, NO, NOW, OR, PLAY, PRIOR, PROMPT, REFUSE, REVEAL,
        RULE, SAID, SYSTEM, TASK, THIRD, TO, UNBOUND, UNSPACED, WITHIN, YOU, YOUR,
    },
};

/// Words with which a rule begins.
pub const BEGINNINGS: u64 =
    IGNORE | FOLLOW | REVEAL | BEFORE | PLAY | UNBOUND | NO | NEGATION | NOW | IDENTITY;
/// Without one of these words, no rule finds anything.
pub const SPOKEN_OF: u64 = INSTRUCTION | EVERYTHING | RULE | SAID | UNBOUND | LIMIT | AI | PRIOR | GIVEN;

/// Most words on each side that a rule may look at, within a sentence.
const REACH: usize = 32;

/// A word within its sentence.
#[derive(Clone, Copy)]
struct View<'t> {
    text: &'t str,
    place: Place,
    token: Token,
    before: &'t [Token],
    after: &'t [Token],
    /// It is an item in a list of what must not be done.
    is_forbidden: bool,
}

impl<'t> View<'t> {
    /// The words before it, since the last one for which `begins` is true.
    fn since(&self, begins: &dyn Fn(&Token) -> bool) -> &'t [Token] {
        if begins(&self.token) {
            return &[];
        }
        self.before.iter().rposition(begins).and_then(|at| self.before.get(at..)).unwrap_or(self.before)
    }

    /// The words before it in its clause. A heading or the name of a value does not negate what follows.
    fn clause(&self) -> &'t [Token] {
        self.since(&|word| word.follows(CLAUSE) || is_named(self.text, *word))
    }

    /// The words that may show that somebody only writes about such a sentence. Another line does not, unless it ends with a
    /// colon or is a row of the same table. Nothing outside of the same value does either.
    fn context(&self) -> &'t [Token] {
        let is_row = |word: &Token| trim_end(ahead(self.text, *word), b" ").ends_with(b"|");
        let is_other = |word: &Token| word.follows(LINE) && word.follows(CLAUSE) && !word.follows(COLON);
        self.since(&|word| is_other(word) && !is_row(word) || is_named(self.text, *word))
    }
}

#[inline(never)]
fn has(tokens: &[Token], kinds: u64) -> bool {
    tokens.iter().any(|token| token.is(kinds))
}

/// The first words, at most `most`.
fn first(tokens: &[Token], most: usize) -> &[Token] {
    tokens.get(..most).unwrap_or(tokens)
}

fn last(tokens: &[Token], most: usize) -> &[Token] {
    tokens.get(tokens.len().saturating_sub(most)..).unwrap_or_default()
}

/// Judges the words of a text. `tokens`: the words; `all`: the kinds of all of them together.
pub fn judge(text: &str, tokens: &[Token], all: u64, place: Place, found: &mut Matches) {
    if all & SPOKEN_OF == 0 {
        return;
    }
    let mut marks = RoleMarks::default();
    let (mut sentence, mut line, mut is_forbidden) = (0_usize, 0_usize, false);
    for (at, token) in tokens.iter().enumerate() {
        if token.follows(STOP) {
            sentence = at;
        }
        if token.follows(LINE) {
            let head = || last(tokens.get(line..at).unwrap_or_default(), REACH);
            let is_item =
                || token.follows(SIGN) || text.as_bytes().get(token.offset).is_some_and(u8::is_ascii_digit);
            is_forbidden =
                if token.follows(COLON) { forbids(text, head()) } else { is_forbidden && is_item() };
            line = at;
        }
        if !token.is(BEGINNINGS) {
            continue;
        }
        let start = sentence.max(at.saturating_sub(REACH));
        let before = tokens.get(start..at).unwrap_or_default();
        let after = first(tokens.get(at.saturating_add(1)..).unwrap_or_default(), REACH);
        let end = after.iter().position(|token| token.follows(STOP)).unwrap_or(after.len());
        let view = View { text, place, token: *token, before, after: first(after, end), is_forbidden };
        let mut add = |pattern, is_found: &dyn Fn() -> bool| {
            if !found.has(pattern) && is_found() && !is_mention(view) {
                found.add(pattern, token.offset);
            }
        };
        if token.is(IGNORE | FOLLOW) {
            add(Pattern::IgnoreInstructions, &|| sets_aside(view));
        }
        if token.is(REVEAL) {
            add(Pattern::InstructionInjection, &|| asks_for_prompt(view));
        }
        if token.is(BEFORE) && place == Place::Tool {
            add(Pattern::InstructionInjection, &|| comes_before_task(view));
        }
        if !is_forbidden
            && let Some(mark) = RoleMarks::of(view)
            && let Some(offset) = marks.add(mark, token.offset)
        {
            let pattern = Pattern::RoleOverride;
            if !found.has(pattern) && !is_mention(view) {
                found.add(pattern, offset);
            }
        }
    }
}

/// Whether a line forbids what follows: "The agent must never:", "do not do any of these:", but not "not found:".
fn forbids(text: &str, head: &[Token]) -> bool {
    let not = head.iter().position(|word| word.is(NEGATION));
    let before = not.and_then(|not| head.get(..not)).and_then(<[Token]>::last);
    not.is_some() && before.is_none_or(|word| word.is(MODAL) || says(text, *word, &["do", "does", "did"]))
}

/// Whether the verb is an order to the reader: it has no other subject, and is not negated.
fn is_order(view: View<'_>) -> bool {
    let before = view.clause();
    // A negation before a comma belongs to another verb, unless the verbs are a list: "never skip, ignore or override".
    let is_or = |pair: &[Token]| matches!(pair, [or, next] if or.is(OR) && !next.is(YOU));
    let is_list =
        first(view.after, 8).windows(2).any(is_or) || has(last(before, 1), IGNORE | FOLLOW | REVEAL);
    let goes_on =
        |word: &Token| word.follows(COMMA) && says(view.text, *word, &["please", "kindly", "now", "just"]);
    let is_asked = before.last().is_some_and(goes_on);
    let is_other = (is_asked || view.token.follows(COMMA)) && !is_list;
    let is_denied = has(last(before, 3), NEGATION) && !is_other;
    if view.is_forbidden || is_denied || has(first(view.after, 2), NEGATION) {
        return false;
    }
    let Some(word) = before.last() else { return true };
    // "You must not skip, ignore or override", "do not, ever, ignore".
    let not = before.iter().position(|word| word.is(NEGATION));
    let behind = not.and_then(|not| before.get(not.saturating_add(1)..)).unwrap_or_default();
    let commas = behind.iter().filter(|word| word.follows(COMMA)).count();
    let is_aside = commas == 1 && behind.first().is_some_and(|word| word.follows(COMMA));
    if word.is(OR) && has(last(before, 8), NEGATION)
        || is_aside && view.token.follows(COMMA) && forbids(view.text, before)
    {
        return false;
    }
    // "No longer overrides".
    if word.is(NO) && !view.token.follows(COMMA) || word.is(HALT) && view.token.gap == 0 {
        return false;
    }
    if is_asked || view.token.follows(COMMA | COLON | QUOTE | UNQUOTE | SIGN) {
        return true;
    }
    let is_spoken_to = has(last(before, 6), YOU | YOUR);
    // "How do I make ESLint ignore", "why does iptables ignore".
    const CAUSES: &[&str] = &["make", "makes", "let", "lets", "does", "can", "will"];
    let is_of_another =
        |pair: &[Token]| matches!(pair, [verb, who] if who.is_unknown() && says(view.text, *verb, CAUSES));
    if !is_spoken_to && is_of_another(last(before, 2)) {
        return false;
    }
    if word.is(TO) {
        return is_spoken_to || before.len() == 1;
    }
    if word.is(AND) {
        return is_spoken_to || !has(before, THIRD | MODAL);
    }
    // "These rules override all previous instructions".
    !word.is(THIRD | MODAL | INSTRUCTION | RULE) || is_spoken_to && !word.is(THIRD)
}

/// "Ignore all previous instructions", "do not follow the rules above".
fn sets_aside(view: View<'_>) -> bool {
    if is_name(view) {
        return false;
    }
    if view.token.is(FOLLOW) {
        let before = view.clause();
        let near = last(before, 4);
        // "Feel free to follow".
        let halts = |word: &Token| word.is(NEGATION | HALT | NO) && !word.is(WITHIN);
        let is_halted = near.iter().any(halts) && (!has(near, THIRD) || has(last(before, 6), YOU));
        return is_halted && is_told_before(view, false);
    }
    is_order(view) && is_told_before(view, true) || comes_last(view)
}

/// `ignore_previous`, a method (`request.override(`) and a note to a checker (`ignore[rule]`) are names in a program.
fn is_name(view: View<'_>) -> bool {
    let (head, verb) = view.text.as_bytes().split_at_checked(view.token.offset).unwrap_or_default();
    let behind = verb.get(tokens::word(verb).0..).unwrap_or_default();
    let is_of_rule = |byte: &&u8| byte.is_ascii_alphanumeric() || b"[-_,".contains(byte);
    let rule = behind.iter().take_while(is_of_rule).count();
    view.token.follows(GLUED)
        || view.after.first().is_some_and(|next| next.follows(GLUED))
        || head.ends_with(b".") && behind.starts_with(b"(")
        || behind.starts_with(b"[") && behind.get(rule) == Some(&b']')
}

/// Whether a word is one of `words`, which are in small letters.
#[inline(never)]
fn says(text: &str, word: Token, words: &[&str]) -> bool {
    let rest = text.as_bytes().get(word.offset..).unwrap_or_default();
    let word = rest.get(..tokens::word(rest).0).unwrap_or_default();
    words.iter().any(|known| word.eq_ignore_ascii_case(known.as_bytes()))
}

/// Kinds of words that may stand between the verb and what is set aside, and how many others may.
const BETWEEN: u64 = ALL | PRIOR | YOUR | SYSTEM | EVERYTHING | FILLER | AND | YOU | GIVEN;
const STRANGERS: usize = 2;

/// Whether what follows the verb is something that the reader was told before.
fn is_told_before(view: View<'_>, is_strong: bool) -> bool {
    let (mut seen, mut strangers) = (0, 0_usize);
    let (mut has_unknown, mut is_after_unknown, mut is_system) = (false, false, false);
    // "If you have paid, please ignore the previous instructions". In JSON, the name of a member stands in front of it.
    let is_condition =
        |(at, word): (usize, &Token)| word.is(IF) && (at == 0 || word.follows(LINE | COLON | QUOTE));
    let is_for_some = view.before.iter().enumerate().any(is_condition) && !has(view.before, AI);
    for (at, word) in first(view.after, 12).iter().enumerate() {
        let rest = view.after.get(at.saturating_add(1)..).unwrap_or_default();
        let was = |kinds: u64| seen & kinds == kinds;
        // A quotation behind a noun is the text of that noun.
        if word.follows(QUOTE) && at > 1 && strangers > 0 {
            return false;
        }
        // "Disregard my previous mail and follow the instructions below": the second order is another one.
        if word.is(FOLLOW) && strangers > 0 || word.is(AND) && has_unknown && is_strong && !was(EVERYTHING) {
            return false;
        }
        let is_about = !was(YOUR) && is_topic(view.text, rest);
        let is_free = !is_about && (was(ALL) || was(YOUR) || !is_for_some && !is_limited(view.text, rest));
        let is_prior = was(PRIOR) || is_prior_behind(rest);
        if word.is(INSTRUCTION) {
            // "The previous prescription instructions" are about something else. "All previous silly instructions and .." may not be.
            let goes_on = || was(ALL) && rest.first().is_some_and(|next| next.is(AND));
            if was(PRIOR) && !was(YOUR) && !was(SYSTEM) && is_after_unknown && !goes_on() {
                return false;
            }
            return (is_prior || was(YOUR) || was(SYSTEM)) && is_free
                || was(ALL) && !is_limited(view.text, rest) && !is_about
                || at == 0 && is_strong && !word.follows(LINE) && ends(rest);
        }
        let is_rule =
            was(YOUR) && (is_prior || was(ALL) || was(SYSTEM) || ends(rest)) || was(ALL) && is_prior;
        if word.is(RULE) && strangers == 0 && is_rule {
            return true;
        }
        // "Dear customer, if you have paid, please disregard any previous requests."
        let is_notice = || has(view.before, IF) && !has(view.before, AI);
        if word.is(SAID) && is_strong && is_prior && is_free && (was(YOUR) || was(ALL) && !is_notice()) {
            return true;
        }
        // "Ignore the system message."
        let is_message =
            || is_system && at > 1 && ends(rest) && says(view.text, *word, &["message", "messages"]);
        if word.is(SAID) && is_strong && strangers == 0 && is_free && is_message() {
            return true;
        }
        is_system = word.is(SYSTEM);
        // "Ignore everything above", "forget all of the above", "ignore the above and ..", and not "any previous --option".
        let goes_on = rest.first().is_some_and(|next| next.is(AND));
        let is_noun = || !says(view.text, *word, ADJECTIVES);
        if word.is(PRIOR)
            && (was(EVERYTHING) && !is_place(view.text, *word, rest)
                || was(ALL) && ends(rest) && (goes_on || rest.is_empty() || is_noun())
                || at <= 1 && strangers == 0 && goes_on && !was(EVERYTHING) && is_noun())
        {
            return is_strong;
        }
        // "What you were told", "the rules you were given".
        let told = first(view.after, at);
        let was_told = || {
            matches!(last(told, 2), [you, were] if you.is(YOU) && says(view.text, *were, &["were"]))
                && told.iter().any(|word| word.is(RULE) || says(view.text, *word, &["what"]))
        };
        if word.is(GIVEN) && (was(EVERYTHING) || was_told()) && !is_limited(view.text, rest) {
            // Users may set their own words aside.
            let who = at.checked_sub(1).and_then(|at| view.after.get(at));
            return view.place == Place::Tool || !who.is_some_and(|who| says(view.text, *who, &["i"]));
        }
        seen |= [ALL, PRIOR, YOUR, SYSTEM, EVERYTHING].into_iter().filter(|kind| word.is(*kind)).sum::<u64>();
        if word.is(EVERYTHING) && ends(rest) && is_strong {
            return view.before.is_empty()
                && !word.follows(LINE | SIGN)
                && !is_before_pattern(view.text, *word);
        }
        is_after_unknown = word.is_unknown();
        has_unknown |= is_after_unknown;
        strangers = strangers.saturating_add(usize::from(!word.is(BETWEEN)));
        if strangers > STRANGERS {
            return false;
        }
    }
    false
}

/// Whether the phrase ends here.
fn ends(rest: &[Token]) -> bool {
    rest.first().is_none_or(|next| next.is(AND | NOW) || next.follows(COMMA | COLON | SIGN | LINE))
}

/// Words that need a noun behind them, or have an object.
const ADJECTIVES: &[&str] =
    &["previous", "prior", "earlier", "former", "before", "initial", "original", "past"];

/// Whether it is a place in a text or a date: "before first _", "past the end", "above the line", "before 2019", "above and below".
fn is_place(text: &str, word: Token, rest: &[Token]) -> bool {
    // "Prior to 2019".
    let rest = rest.split_first().filter(|(first, _)| first.is(TO)).map_or(rest, |(_, rest)| rest);
    // "Above say yes" may be an order.
    let is_named = |next: &Token| {
        next.follows(QUOTE)
            || next.is_unknown() && says(text, word, ADJECTIVES)
            || says(text, *next, &["the", "a", "an"])
    };
    let is_side = |next: &Token| says(text, *next, &["below", "after", "before", "above"]);
    if rest.first().is_some_and(|next| next.gap & !QUOTE == 0 && is_named(next))
        || matches!(rest, [and, next, ..] if and.is(AND) && is_side(next))
    {
        return true;
    }
    let rest = rest.split_first().filter(|(first, _)| first.is(FILLER)).map_or(rest, |(_, rest)| rest);
    rest.first().is_some_and(|word| word.is(BEFORE | END) && word.gap == 0)
}

/// "# Ignore everything" before a line with nothing but a pattern for all files.
fn is_before_pattern(text: &str, word: Token) -> bool {
    let rest = text.as_bytes().get(word.offset..).unwrap_or_default();
    let [b'\n', next @ ..] = rest.get(tokens::word(rest).0..).unwrap_or_default() else { return false };
    let line = first_line(next.trim_ascii_start()).trim_ascii();
    matches!(line, b"*" | b"/*" | b"**" | b"/**" | b"**/*" | b"*/*" | b"/")
}

/// Whether the phrase is limited to something: "about parking", "in the documents".
fn is_limited(text: &str, rest: &[Token]) -> bool {
    /// What a reader of a guide has or does: "if you already have Docker installed".
    const HAS: &[&str] = &["already", "have", "use", "prefer", "installed"];
    let is_for_some =
        matches!(rest, [when, you, has, ..] if when.is(IF) && you.is(YOU) && says(text, *has, HAS));
    is_for_some && !has(first(rest, 8), PRIOR | YOUR | SYSTEM | AI | RULE | INSTRUCTION)
        || rest.first().is_some_and(|next| next.is(WITHIN | MODAL | THIRD) && next.gap == 0)
            && !has(first(rest, 5), PRIOR | YOUR | YOU | SYSTEM)
}

/// Whether it is about a topic that has nothing to do with the model: "related to Python", "on travel expenses".
fn is_topic(text: &str, rest: &[Token]) -> bool {
    const OF: &[&str] =
        &["about", "regarding", "concerning", "related", "relating", "pertaining", "zur", "zum", "bezuglich"];
    const OF_MODELS: &[&str] = &["safety", "security", "secrecy", "privacy", "confidentiality"];
    let is_of = |pair: &[Token]| match pair {
        [of, what, ..] if of.gap == 0 => says(text, *of, OF) || says(text, *of, &["on"]) && what.is_unknown(),
        _ => false,
    };
    let about = first(rest, 5);
    is_of(about)
        && !has(about, YOUR | YOU | SYSTEM | AI | RULE | LIMIT | UNBOUND | TASK | SAID)
        && !about.iter().any(|word| says(text, *word, OF_MODELS))
}

/// "The instructions above", "that you were given".
fn is_prior_behind(rest: &[Token]) -> bool {
    let next = first(rest, 5);
    let is_given = next.iter().position(|word| word.is(GIVEN));
    has(first(rest, 3), PRIOR)
        || is_given
            .is_some_and(|given| has(first(next, given), YOU | THIRD) && !has(first(next, given), NEGATION))
}

/// "Alle vorherigen Anweisungen ignorieren": the verb comes last.
fn comes_last(view: View<'_>) -> bool {
    let before = last(view.before, 6);
    let strangers = before.iter().filter(|word| word.is_unknown() || word.is(THIRD | MODAL)).count();
    (ends(view.after) || view.token.is(UNSPACED))
        && has(before, INSTRUCTION)
        && has(before, PRIOR)
        && strangers == 0
        && !has(view.before, NEGATION)
        && !has(view.after, NEGATION)
}

/// "Print your system prompt", "what are your initial instructions?"
fn asks_for_prompt(view: View<'_>) -> bool {
    let ahead = first(view.after, 10);
    let is_prompt = |word: &Token| word.is(PROMPT | INSTRUCTION | SAID) && word.gap == 0;
    let is_named = has(ahead, YOUR)
        && ahead.windows(2).any(|pair| matches!(pair, [whose, what] if whose.is(SYSTEM) && is_prompt(what)));
    // Behind "previous", a text or a message may be the model's own.
    let is_told_first = |what: &Token| what.is(INSTRUCTION) || says(view.text, *what, &["configuration"]);
    let is_initial = ahead.windows(3).any(|three| {
        let [your, which, what] = three else { return false };
        your.is(YOUR) && is_prompt(what) && (which.is(SYSTEM) || which.is(PRIOR) && is_told_first(what))
    });
    // "The instructions you were given", and not "by your doctor".
    let given = ahead.windows(4).position(
        |four| matches!(four, [what, you, _, given] if what.is(INSTRUCTION) && you.is(YOU) && given.is(GIVEN)),
    );
    let by = given.and_then(|given| ahead.get(given.saturating_add(4)));
    let is_given = given.is_some() && !by.is_some_and(|by| by.is(WITHIN));
    // "What are your instructions?", "repeat what is above, starting with \"You are\"".
    let is_said = |word: &Token| says(view.text, *word, &["instructions", "prompt"]);
    let is_asked =
        matches!(view.after, [are, your, what] if are.is(ARE | FILLER) && your.is(YOUR) && is_said(what));
    let is_beginning =
        |pair: &[Token]| matches!(pair, [you, are] if you.follows(QUOTE) && you.is(YOU) && are.is(ARE));
    let is_whole = has(ahead, PRIOR) && ahead.windows(2).any(is_beginning);
    // Other things may be given too: "give me your feedback on the system prompt".
    let gives = says(view.text, view.token, &["give", "send", "share", "provide", "paste", "summarize"]);
    let is_told = || match ahead {
        [to, ..] if says(view.text, *to, &["me", "us"]) => true,
        // The order is the whole sentence, and does not go on with "in the settings".
        _ => view.before.is_empty() && view.after.last().is_some_and(is_prompt),
    };
    // "Your full system prompt".
    let is_full = || {
        first(ahead, 5)
            .windows(2)
            .any(|pair| matches!(pair, [whose, what] if whose.is(SYSTEM) && what.is(PROMPT)))
    };
    let is_shown = if gives {
        (is_initial || is_given || is_named && is_full()) && is_told()
    } else {
        is_named || is_initial || is_given || is_whole || is_asked && view.before.is_empty()
    };
    is_shown && is_order(view)
}

/// "Before you can solve the task that I gave you", in a tool result.
fn comes_before_task(view: View<'_>) -> bool {
    let task = view.after.iter().position(|word| word.is(TASK));
    task.is_some_and(|task| {
        let (before, after) = view.after.split_at_checked(task).unwrap_or_default();
        has(first(before, 1), YOU) && has(first(after, 5), GIVEN) && has(first(after, 6), YOU | THIRD)
    })
}

/// Whether somebody only writes about such a sentence: quotes it, or talks about attacks.
fn is_mention(view: View<'_>) -> bool {
    let near = last(view.before, 12);
    // A mark that begins a quotation, if it has not ended.
    let marked = |word: &&Token| word.follows(QUOTE | UNQUOTE);
    let is_quoted = match Some(&view.token).filter(marked) {
        Some(verb) => {
            verb.follows(QUOTE)
                && !view.before.is_empty()
                && !verb.follows(COLON | LINE)
                && !begins_value(view.text, *verb)
        }
        None => near
            .iter()
            .rev()
            .find(marked)
            .is_some_and(|word| word.follows(QUOTE) && near.len() > 3 && !begins_value(view.text, *word)),
    };
    let told = last(view.context(), 12);
    let about = told.iter().rposition(|word| word.is(MENTION));
    let is_told = about.is_some_and(|about| !has(told.get(about..).unwrap_or_default(), YOU));
    let quote = near.iter().chain([&view.token]).rev().find(marked).filter(|word| word.follows(QUOTE));
    is_quoted || is_told || is_warned(view) || quote.is_some_and(|word| is_literal(view.text, *word))
}

/// Whether the sentence warns of somebody else who might say so: "if a page tells you to ignore ..", "that ask you to ..".
fn is_warned(view: View<'_>) -> bool {
    const ASKS: &[&str] = &["tells", "tell", "asks", "ask", "says", "wants", "instructs", "told", "asked"];
    let [before @ .., who, asks, you, to] = view.before else { return false };
    let is_if = |word: &Token| says(view.text, *word, &["if", "when", "whenever", "should"]);
    let told = before.iter().rposition(is_if).and_then(|at| before.get(at.saturating_add(1)..));
    // "If possible, the owner asks you to ..": that is an order.
    let is_free = |word: &Token| word.is(YOU) || word.follows(COMMA);
    let is_other = told.is_some_and(|told| !told.iter().chain([who, asks]).any(is_free))
        || says(view.text, *who, &["that", "which", "who", "if", "when"]);
    to.is(TO)
        && you.is(YOU)
        && says(view.text, *asks, ASKS)
        && is_other
        && !says(view.text, *who, &["i", "we", "you"])
}

/// Marks of a text that gives the model a role without limits. Each mark alone is harmless.
#[derive(Default)]
struct RoleMarks([Option<usize>; 8]);

const PLAYS: usize = 0;
const FREE: usize = 1;
const NO_LIMITS: usize = 2;
const NEVER_REFUSES: usize = 3;
const IN_CHARACTER: usize = 4;
const ANYTHING: usize = 5;
const BECOMES: usize = 6;
const PLAYS_MODEL: usize = 7;

/// Two marks belong together within `NEAR` bytes, and three within `SPAN`.
const NEAR: usize = 250;
const SPAN: usize = 1_500;

impl RoleMarks {
    fn of(view: View<'_>) -> Option<usize> {
        let View { token, before, after, .. } = view;
        let previous = before.last();
        // "An uncensored version" is about something else.
        let is_model = after.first().is_none_or(|next| !next.is_unknown() || next.gap != 0);
        if token.is(UNBOUND) && is_model && (token.is_loud || !token.is(NAME)) {
            return Some(FREE);
        }
        if token.is(NO | NEGATION) && has(first(after, 3), REFUSE) {
            return Some(NEVER_REFUSES);
        }
        let unknown =
            first(after, 4).iter().take_while(|word| !word.is(LIMIT)).filter(|word| word.is_unknown());
        if token.is(NO) && has(first(after, 4), LIMIT) && unknown.count() < 2 {
            // "You are an AI without rules".
            let are = before.iter().rposition(|word| word.is(ARE));
            let what = are.and_then(|are| before.get(are.saturating_add(1)..)).unwrap_or_default();
            let is_plain = |word: &Token| word.is(FILLER | AI) || says(view.text, *word, &["with"]);
            let is_you = are.is_some_and(|are| has(last(first(before, are.saturating_add(1)), 2), YOU));
            let is_model = is_you && has(what, AI) && what.iter().all(is_plain);
            return Some(if is_model { BECOMES } else { NO_LIMITS });
        }
        let is_to_you = previous.is_none_or(|word| word.is(YOU | AND))
            || token.follows(COMMA | LINE)
            || previous.is_some_and(|word| word.is(TO | MODAL)) && has(last(before, 6), YOU | YOUR);
        // "Act on" something is no role.
        let is_somebody = after
            .first()
            .is_some_and(|next| next.is(FILLER | YOU | TO) && !says(view.text, *next, &["on", "or", "and"]));
        if token.is(PLAY) && is_to_you && is_somebody && !is_warned(view) {
            // "Act as a travel guide": then "without limits" may be about a budget.
            let is_model = has(first(after, 12), AI | UNBOUND | YOU)
                || has(first(after, 1), TO)
                || has(before, AI | NOW)
                || after.get(1).is_some_and(|name| name.is_loud)
                || says(view.text, token, &["roleplay", "pretend", "impersonate"]);
            return Some(if is_model { PLAYS_MODEL } else { PLAYS });
        }
        if token.is(IDENTITY) && has(last(before, 2), WITHIN | NEGATION) && after.len() < REACH {
            return Some(IN_CHARACTER);
        }
        // "DAN (do anything now) is a jailbreak" only talks about it.
        let is_anything = token.is(NOW)
            && previous.is_some_and(|word| word.is(EVERYTHING))
            && !has(first(after, 6), MENTION);
        let is_now = token.is(NOW) && previous.is_some_and(|word| word.is(ARE)) && has(last(before, 2), YOU);
        if is_now
            && after.first().is_some_and(|word| word.is(FILLER | AI | UNBOUND))
            && has(first(after, 4), AI | UNBOUND)
        {
            // Some clients have no system message, so the user's text says what the model is.
            let is_other = |word: &Token| says(view.text, *word, &["different", "another", "new", "evil"]);
            let is_plain = !has(first(after, 4), UNBOUND) && !first(after, 2).iter().any(is_other);
            return Some(if view.place == Place::User && is_plain { PLAYS_MODEL } else { BECOMES });
        }
        is_anything.then_some(ANYTHING)
    }

    /// Adds a mark. Returns the place of the first of the marks that are no longer harmless together: somebody is played or named
    /// who has no limits.
    fn add(&mut self, mark: usize, offset: usize) -> Option<usize> {
        *self.0.get_mut(mark)? = Some(offset);
        let place = |mark: usize, span: usize| {
            let place = self.0.get(mark).copied().flatten();
            place.filter(|place| offset.saturating_sub(*place) <= span)
        };
        let is_near = |mark: usize| place(mark, NEAR).is_some();
        let is_role = (is_near(PLAYS) || is_near(PLAYS_MODEL)) && is_near(FREE)
            || is_near(PLAYS_MODEL) && is_near(NO_LIMITS)
            || is_near(FREE) && is_near(ANYTHING)
            || mark == BECOMES;
        // If both marks for playing somebody are there, only one counts.
        let is_model = place(PLAYS_MODEL, SPAN).is_some();
        let marks = || (0..self.0.len()).filter(|mark| *mark != PLAYS || !is_model);
        let places = || marks().filter_map(|mark| place(mark, SPAN));
        let is_somebody =
            [PLAYS, FREE, ANYTHING, PLAYS_MODEL].into_iter().any(|mark| place(mark, SPAN).is_some());
        (is_role || is_somebody && places().count() >= 3).then(|| places().min().unwrap_or(offset))
    }
}
