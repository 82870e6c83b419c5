//! What a sentence says to a model: set your instructions aside, be somebody without limits, show your prompt. The rules
//! look at who is told to do what, so that texts about such sentences pass.

use crate::{
    Matches, Pattern, Place,
    tokens::{COLON, COMMA, GLUED, LINE, QUOTE, SIGN, STOP, Token, UNQUOTE},
    words::{
        AI, ALL, AND, ARE, BEFORE, EVERYTHING, FILLER, FOLLOW, GIVEN, HALT, IDENTITY, IF, IGNORE,
        INSTRUCTION, LIMIT, MENTION, MODAL, NAME, NEGATION, NO, NOW, PLAY, PRIOR, PROMPT, REFUSE, REVEAL,
        RULE, SAID, SYSTEM, TASK, THIRD, TO, UNBOUND, UNSPACED, WITHIN, YOU, YOUR,
    },
};

/// Words that a rule begins with.
pub const BEGINNINGS: u64 =
    IGNORE | FOLLOW | REVEAL | BEFORE | PLAY | UNBOUND | NO | NEGATION | NOW | IDENTITY;
/// Without one of these no rule finds anything.
pub const SPOKEN_OF: u64 = INSTRUCTION | EVERYTHING | RULE | SAID | UNBOUND | LIMIT | AI;

/// Words of a sentence that a rule may look at, on each side.
const REACH: usize = 32;

/// A word within its sentence.
#[derive(Clone, Copy)]
struct View<'t> {
    token: Token,
    before: &'t [Token],
    after: &'t [Token],
}

#[inline(never)]
fn has(tokens: &[Token], kinds: u64) -> bool {
    tokens.iter().any(|token| token.is(kinds))
}

/// The first `most` of some words.
fn first(tokens: &[Token], most: usize) -> &[Token] {
    tokens.get(..most).unwrap_or(tokens)
}

fn last(tokens: &[Token], most: usize) -> &[Token] {
    tokens.get(tokens.len().saturating_sub(most)..).unwrap_or_default()
}

/// Judges the words of a text, `tokens`; `all`: what they are, all together.
pub fn judge(text: &str, tokens: &[Token], all: u64, place: Place, found: &mut Matches) {
    if all & SPOKEN_OF == 0 {
        return;
    }
    let mut marks = RoleMarks::default();
    let mut sentence = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        if token.follows(STOP) {
            sentence = at;
        }
        if !token.is(BEGINNINGS) {
            continue;
        }
        let start = sentence.max(at.saturating_sub(REACH));
        let before = tokens.get(start..at).unwrap_or_default();
        let after = first(tokens.get(at.saturating_add(1)..).unwrap_or_default(), REACH);
        let end = after.iter().position(|token| token.follows(STOP)).unwrap_or(after.len());
        let view = View { token: *token, before, after: first(after, end) };
        let mut add = |pattern, is_found: &dyn Fn() -> bool| {
            if !found.has(pattern) && is_found() && !is_mention(text, view) {
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
        if let Some(mark) = RoleMarks::of(view)
            && let Some(offset) = marks.add(mark, token.offset)
        {
            let pattern = Pattern::RoleOverride;
            if !found.has(pattern) && !is_mention(text, view) {
                found.add(pattern, offset);
            }
        }
    }
}

/// Whether the verb is an order to the reader: nobody else does it, and it is not denied.
fn is_order(view: View<'_>) -> bool {
    let near = last(view.before, 3);
    if has(near, NEGATION) || has(first(view.after, 2), NEGATION) {
        return false;
    }
    let Some(word) = view.before.last() else { return true };
    // "No longer overrides".
    if word.is(NO) || word.is(HALT) && view.token.gap == 0 {
        return false;
    }
    if view.token.follows(COMMA | COLON | QUOTE | UNQUOTE | SIGN) {
        return true;
    }
    let is_spoken_to = has(last(view.before, 6), YOU | YOUR);
    if word.is(TO) {
        return is_spoken_to || view.before.len() == 1;
    }
    if word.is(AND) {
        return is_spoken_to || !has(view.before, THIRD | MODAL);
    }
    // "These rules override all previous instructions".
    !word.is(THIRD | MODAL | INSTRUCTION | RULE) || is_spoken_to && !word.is(THIRD)
}

/// "Ignore all previous instructions", "do not follow the rules above".
fn sets_aside(view: View<'_>) -> bool {
    // `ignore_previous` is a name.
    if view.token.follows(GLUED) || view.after.first().is_some_and(|next| next.follows(GLUED)) {
        return false;
    }
    if view.token.is(FOLLOW) {
        let near = last(view.before, 4);
        // "Feel free to follow".
        let halts = |word: &Token| word.is(NEGATION | HALT | NO) && !word.is(WITHIN);
        let is_halted = near.iter().any(halts) && (!has(near, THIRD) || has(last(view.before, 6), YOU));
        return is_halted && is_told_before(view, false);
    }
    is_order(view) && is_told_before(view, true) || comes_last(view)
}

/// Words that may stand between the verb and what is set aside, and how many others.
const BETWEEN: u64 = ALL | PRIOR | YOUR | SYSTEM | EVERYTHING | FILLER | AND | YOU | GIVEN;
const STRANGERS: usize = 2;

/// Whether what follows the verb is what the reader was told before.
fn is_told_before(view: View<'_>, is_strong: bool) -> bool {
    let (mut seen, mut strangers) = (0, 0_usize);
    let (mut has_unknown, mut is_after_unknown) = (false, false);
    // "If you have paid, please ignore the previous instructions".
    let is_for_some = view.before.first().is_some_and(|word| word.is(IF)) && !has(view.before, AI);
    for (at, word) in first(view.after, 12).iter().enumerate() {
        let rest = view.after.get(at.saturating_add(1)..).unwrap_or_default();
        let was = |kinds: u64| seen & kinds == kinds;
        // What is quoted behind a noun is its text.
        if word.follows(QUOTE) && at > 1 {
            return false;
        }
        // "Disregard my previous mail and follow the instructions below": that is another order.
        if word.is(FOLLOW) && strangers > 0 || word.is(AND) && has_unknown && is_strong && !was(EVERYTHING) {
            return false;
        }
        let is_free = was(ALL) || was(YOUR) || !is_for_some && !is_limited(rest);
        let is_prior = was(PRIOR) || is_prior_behind(rest);
        if word.is(INSTRUCTION) {
            // "The previous prescription instructions" are of something else; "all previous silly instructions and .." may not be.
            let goes_on = || was(ALL) && rest.first().is_some_and(|next| next.is(AND));
            if was(PRIOR) && !was(YOUR) && !was(SYSTEM) && is_after_unknown && !goes_on() {
                return false;
            }
            return (is_prior || was(YOUR) || was(SYSTEM)) && is_free
                || was(ALL) && !is_limited(rest)
                || at == 0 && is_strong && ends(rest);
        }
        let is_rule =
            was(YOUR) && (is_prior || was(ALL) || was(SYSTEM) || ends(rest)) || was(ALL) && is_prior;
        if word.is(RULE) && strangers == 0 && is_rule {
            return true;
        }
        if word.is(SAID) && is_strong && is_prior && (was(YOUR) || was(ALL)) && is_free {
            return true;
        }
        // "Ignore everything above", "forget all of the above", "ignore the above and ..".
        if word.is(PRIOR)
            && (was(EVERYTHING)
                || was(ALL) && ends(rest)
                || at <= 1 && rest.first().is_some_and(|next| next.is(AND)))
        {
            return is_strong;
        }
        if was(EVERYTHING) && word.is(GIVEN) && !is_limited(rest) {
            return true;
        }
        seen |= [ALL, PRIOR, YOUR, SYSTEM, EVERYTHING].into_iter().filter(|kind| word.is(*kind)).sum::<u64>();
        if word.is(EVERYTHING) && ends(rest) && is_strong {
            return view.before.is_empty();
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

/// Whether nothing of a phrase follows.
fn ends(rest: &[Token]) -> bool {
    rest.first().is_none_or(|next| next.is(AND | NOW) || next.follows(COMMA | COLON | SIGN | LINE))
}

/// "About parking", "in the documents": it is about these only.
fn is_limited(rest: &[Token]) -> bool {
    rest.first().is_some_and(|next| next.is(WITHIN | MODAL | THIRD) && next.gap == 0)
        && !has(first(rest, 5), PRIOR | YOUR | YOU | SYSTEM)
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
    let is_initial = ahead.windows(3).any(|three| {
        matches!(three, [your, which, what] if your.is(YOUR) && which.is(PRIOR | SYSTEM) && is_prompt(what))
    });
    // "The instructions you were given", and not "by your doctor".
    let given = ahead.windows(4).position(
        |four| matches!(four, [what, you, _, given] if what.is(INSTRUCTION) && you.is(YOU) && given.is(GIVEN)),
    );
    let by = given.and_then(|given| ahead.get(given.saturating_add(4)));
    let is_given = given.is_some() && !by.is_some_and(|by| by.is(WITHIN));
    (is_named || is_initial || is_given) && is_order(view)
}

/// "Before you can solve the task that I gave you", in a tool result.
fn comes_before_task(view: View<'_>) -> bool {
    let task = view.after.iter().position(|word| word.is(TASK));
    task.is_some_and(|task| {
        let (before, after) = view.after.split_at_checked(task).unwrap_or_default();
        has(first(before, 1), YOU) && has(first(after, 5), GIVEN) && has(first(after, 6), YOU | THIRD)
    })
}

/// Whether somebody only writes about such a sentence: quotes it, or tells of attacks.
fn is_mention(text: &str, view: View<'_>) -> bool {
    let near = last(view.before, 12);
    // What begins a quotation that has not ended.
    let marked = |word: &&Token| word.follows(QUOTE | UNQUOTE);
    let is_quoted =
        match Some(&view.token).filter(marked) {
            Some(verb) => {
                verb.follows(QUOTE)
                    && !view.before.is_empty()
                    && !verb.follows(COLON | LINE)
                    && !begins_value(text, verb.offset)
            }
            None => near.iter().rev().find(marked).is_some_and(|word| {
                word.follows(QUOTE) && near.len() > 3 && !begins_value(text, word.offset)
            }),
        };
    let about = near.iter().rposition(|word| word.is(MENTION));
    let is_told = about.is_some_and(|about| !has(near.get(about..).unwrap_or_default(), YOU));
    is_quoted || is_told
}

/// Whether the quotation mark before a word begins a value of JSON, HTML, CSV or a configuration, and no quotation: `"note":"`, `alt="`,
/// `2,"`, `note = "`. In a sentence a space stands behind the comma, and no quotation mark before the colon.
fn begins_value(text: &str, word: usize) -> bool {
    let before = text.get(..word).unwrap_or_default().trim_end_matches(['"', '\'']).trim_end_matches('\\');
    let is_glued = before.ends_with([',', ';', '=']);
    let key = before.trim_end_matches(' ');
    let is_of_key = key.strip_suffix(':').is_some_and(|key| key.ends_with(['"', '\'']));
    is_glued || is_of_key || key.ends_with('=')
}

/// RoleMarks of a text that gives the model a role without limits. Each is harmless alone.
#[derive(Default)]
struct RoleMarks([Option<usize>; 7]);

const PLAYS: usize = 0;
const FREE: usize = 1;
const NO_LIMITS: usize = 2;
const NEVER_REFUSES: usize = 3;
const IN_CHARACTER: usize = 4;
const ANYTHING: usize = 5;
const BECOMES: usize = 6;

/// Bytes in which two marks, and three, stand together.
const NEAR: usize = 250;
const SPAN: usize = 1_500;

impl RoleMarks {
    fn of(view: View<'_>) -> Option<usize> {
        let View { token, before, after } = view;
        let previous = before.last();
        // "An uncensored version" is of something else.
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
            return Some(NO_LIMITS);
        }
        let is_to_you = previous.is_none_or(|word| word.is(YOU | AND))
            || token.follows(COMMA | LINE)
            || previous.is_some_and(|word| word.is(TO | MODAL)) && has(last(before, 6), YOU | YOUR);
        let is_somebody = after.first().is_some_and(|next| next.is(FILLER | YOU | TO));
        if token.is(PLAY) && is_to_you && is_somebody {
            return Some(PLAYS);
        }
        if token.is(IDENTITY) && has(last(before, 2), WITHIN | NEGATION) && after.len() < REACH {
            return Some(IN_CHARACTER);
        }
        let is_anything = token.is(NOW) && previous.is_some_and(|word| word.is(EVERYTHING));
        let is_now = token.is(NOW) && previous.is_some_and(|word| word.is(ARE)) && has(last(before, 2), YOU);
        if is_now
            && after.first().is_some_and(|word| word.is(FILLER | AI | UNBOUND))
            && has(first(after, 4), AI | UNBOUND)
        {
            return Some(BECOMES);
        }
        is_anything.then_some(ANYTHING)
    }

    /// Adds a mark. Returns where the first stands of those that together are no longer harmless: somebody is played, or named,
    /// who has no limits.
    fn add(&mut self, mark: usize, offset: usize) -> Option<usize> {
        *self.0.get_mut(mark)? = Some(offset);
        let place = |mark: usize, span: usize| {
            let place = self.0.get(mark).copied().flatten();
            place.filter(|place| offset.saturating_sub(*place) <= span)
        };
        let is_near = |mark: usize| place(mark, NEAR).is_some();
        let is_role = is_near(PLAYS) && (is_near(FREE) || is_near(NO_LIMITS)) || mark == BECOMES;
        let places = || (0..self.0.len()).filter_map(|mark| place(mark, SPAN));
        let is_somebody = [PLAYS, FREE, ANYTHING].into_iter().any(|mark| place(mark, SPAN).is_some());
        (is_role || is_somebody && places().count() >= 3).then(|| places().min().unwrap_or(offset))
    }
}
