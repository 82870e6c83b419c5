//! Histories that the provider keeps: the request names one and carries only what is new. Calls are remembered from the
//! answers that passed, results from the requests; together they give the same steps as a history in the body. Several
//! threads of one agent are kept apart.

use sentinel_llm_api::{
    conversation::{Kept, Part, Role},
    history::History,
    json::Unreadable,
};
use sentinel_text::digest;
use serde::{Deserialize, Serialize};

use crate::history::digest_of_word;
use crate::step::{Asked, FinishedCall, StepLog, Steps, StrayResult};

/// Turns that are remembered: enough for five rounds of the longest cycle.
const TURNS: usize = 25;
/// A wider fan-out is not remembered.
const CALLS: usize = 8;
/// Bytes of a tool's name that are remembered, for people to read.
const NAME: usize = 24;
/// Threads of one scope that are remembered.
const THREADS: usize = 3;
/// User texts of one thread that are remembered.
const WORDS: usize = 8;

/// Which kept history a request belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThreadRef {
    /// Digest of the thread's id, where every request carries the same.
    pub thread: Option<u64>,
    /// Digest of the id of the answer that the request follows.
    pub follows: Option<u64>,
}

impl ThreadRef {
    fn of(kept: &Kept<'_>) -> Self {
        let id = |id: Option<&str>| id.map(|id| digest(id.as_bytes()));
        Self { thread: id(kept.thread.as_deref()), follows: id(kept.follows.as_deref()) }
    }

    /// The key under which the history is remembered.
    fn key(self) -> Option<u64> {
        self.thread.or(self.follows)
    }
}

/// What is new in a request whose history the provider keeps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptTail {
    pub thread: ThreadRef,
    pub results: Vec<StrayResult>,
    /// Digests of the user texts that stand alone in their messages, in their normal form, with how often each wants
    /// something done.
    pub words: Vec<(u64, Asked)>,
}

impl KeptTail {
    /// The results whose calls the provider keeps.
    pub(crate) fn of(history: &History<'_>, kept: &Kept<'_>) -> Result<Self, Unreadable> {
        let mut tail = Self { thread: ThreadRef::of(kept), ..Self::default() };
        for at in 0..history.len() {
            let (mut has_results, mut text) = (false, String::new());
            let role = history.role(at);
            if !matches!(role, Role::User | Role::Tool) {
                continue;
            }
            history.parts(at, &mut |part| match part {
                Part::Result(result) => {
                    has_results = true;
                    tail.results.extend(StrayResult::of(&result));
                }
                Part::Text(part) => text.push_str(&part),
                Part::Media(raw) => text.push_str(raw.get()),
                Part::Call(_) => {}
            })?;
            // A text beside results does not count as a text of the user.
            if role == Role::User && !has_results && tail.words.len() < WORDS {
                tail.words.push((digest_of_word(&text), Asked::by(&text)));
            }
        }
        Ok(tail)
    }
}

/// The histories of one scope that providers keep, the last used at the end.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
pub struct KeptHistories(Vec<KeptHistory>);

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
struct KeptHistory {
    /// Digest of the thread's id, or of the id of its last answer.
    key: u64,
    log: StepLog<'static>,
    /// What users have said, the last at the end.
    said: Vec<u64>,
}

impl KeptHistories {
    /// Adds what the request brings. Returns the steps so far, and the calls that got their results with this request.
    pub fn follow(&mut self, tail: &KeptTail) -> (Steps<'_>, Vec<FinishedCall>) {
        let Some(key) = tail.thread.key() else { return Default::default() };
        let is_of = |known: &KeptHistory| tail.results.iter().any(|result| known.log.has_call_of(result));
        // If the id of an answer could not be read, its history is found by its calls.
        let at = self.0.iter().position(|known| known.key == key).or_else(|| self.0.iter().position(is_of));
        let Some(known) = at.and_then(|at| self.0.get_mut(at)) else { return Default::default() };
        known.key = key;
        let KeptHistory { log, said, .. } = known;
        let done = tail.results.iter().filter_map(|result| log.stray_result(result)).collect();
        for (word, asked) in &tail.words {
            if said.contains(word) {
                continue;
            }
            if said.len() >= WORDS {
                said.remove(0);
            }
            said.push(*word);
            log.word(false, *asked);
        }
        (log.steps(), done)
    }

    /// Adds the calls of an answer to a request of this thread. `answer`: the answer's id.
    pub fn append(&mut self, thread: ThreadRef, answer: Option<u64>, calls: StepLog<'_>) {
        let Some(key) = thread.thread.or(answer) else { return };
        let known = thread.key().and_then(|key| self.0.iter().position(|known| known.key == key));
        if known.is_none() && !calls.has_calls() {
            return;
        }
        let mut history = known.map(|at| self.0.remove(at)).unwrap_or_default();
        history.key = key;
        history.log.append(calls);
        if self.0.len() >= THREADS {
            self.0.remove(0);
        }
        self.0.push(history);
    }
}

impl StepLog<'static> {
    /// Adds the calls of an answer.
    fn append(&mut self, answer: StepLog<'_>) {
        for turn in answer.turns.into_iter().filter(|turn| (1..=CALLS).contains(&turn.calls.len())) {
            self.turn();
            for call in &turn.calls {
                let Some(tool) = answer.tools.get(call.tool) else { continue };
                let mut call = call.known();
                let name = tool.shown.get(..tool.shown.floor_char_boundary(NAME)).unwrap_or_default();
                call.tool = self.tool(tool.digest, || (name.to_owned(), tool.rule));
                if let Some(turn) = self.turns.back_mut() {
                    turn.calls.push(call);
                }
            }
        }
        while self.turns.len() > TURNS {
            self.turns.pop_front();
        }
        self.forget_unused_tools();
    }

    /// Removes tools that no remembered turn calls, so that they do not fill the memory.
    fn forget_unused_tools(&mut self) {
        let mut tools = Vec::new();
        for call in self.turns.iter_mut().flat_map(|turn| &mut turn.calls) {
            let Some(tool) = self.tools.get(call.tool) else { continue };
            call.tool = tools.iter().position(|kept| kept == tool).unwrap_or_else(|| {
                tools.push(tool.clone());
                tools.len().saturating_sub(1)
            });
        }
        self.tools = tools;
    }
}

#[cfg(test)]
mod tests {
    use sentinel_llm_api::{
        conversation::{CallRef, ToolResult},
        json::Raw,
    };

    use super::*;
    use crate::step::ToolRules;

    fn answer(id: &str) -> StepLog<'static> {
        let mut log = StepLog::default();
        log.turn();
        log.call(id, "search_the_whole_wide_world_for", r#"{"q":"x"}"#, &ToolRules::default());
        log
    }

    fn result(id: &str, thread: ThreadRef) -> KeptTail {
        let raw = Raw::read("\"no results\"").unwrap();
        let of = CallRef::Id(id.into());
        let result = StrayResult::of(&ToolResult { of, content: Some(raw), is_error: false }).unwrap();
        KeptTail { thread, results: vec![result], words: Vec::new() }
    }

    fn follows(answer: u64) -> ThreadRef {
        ThreadRef { follows: Some(answer), ..ThreadRef::default() }
    }

    #[test]
    fn calls_and_results_meet_along_a_chain_of_answers() {
        let mut histories = KeptHistories::default();
        let mut thread = ThreadRef::default();
        for n in 0..40 {
            histories.append(thread, Some(n), answer(&n.to_string()));
            thread = follows(n);
            // Another call of the same agent between does not disturb it.
            histories.append(ThreadRef::default(), Some(1_000), answer("planner"));
            let (_, done) = histories.follow(&result(&n.to_string(), thread));
            assert_eq!((done.len(), done[0].tool.as_str()), (1, "search_the_whole_wide_wo"));
        }
        let (steps, _) = histories.follow(&KeptTail { thread, ..KeptTail::default() });
        assert_eq!(steps.all.len(), TURNS);
        assert!(steps.all.windows(2).all(|pair| pair[0].is_like(&pair[1]) && pair[0].tool == pair[1].tool));
        let (spoken, _) =
            histories.follow(&KeptTail { thread, words: vec![(1, Asked::NotSaid)], ..KeptTail::default() });
        assert!(spoken.current().is_empty());
    }

    #[test]
    fn a_thread_with_an_id_keeps_it() {
        let thread = ThreadRef { thread: Some(7), follows: None };
        let mut histories = KeptHistories::default();
        for n in 0..3 {
            histories.append(thread, Some(n), answer(&n.to_string()));
            histories.follow(&result(&n.to_string(), thread));
        }
        let (steps, done) = histories.follow(&result("2", thread));
        assert_eq!((steps.all.len(), done), (3, vec![]), "a result that comes again says nothing new");
    }

    #[test]
    fn a_thread_whose_answers_have_other_ids_is_known_by_its_calls() {
        let mut histories = KeptHistories::default();
        for n in 0..3 {
            let thread = if n == 0 { ThreadRef::default() } else { follows(n) };
            histories.append(thread, Some(99), answer(&n.to_string()));
            let (steps, _) = histories.follow(&result(&n.to_string(), follows(n + 1)));
            assert_eq!(steps.all.len(), usize::try_from(n).unwrap() + 1);
        }
    }

    #[test]
    fn another_thread_has_a_history_of_its_own() {
        let mut histories = KeptHistories::default();
        histories.append(ThreadRef::default(), Some(1), answer("a"));
        histories.append(ThreadRef::default(), Some(2), answer("b"));
        assert_eq!(histories.follow(&result("a", follows(1))).0.all.len(), 1);
        assert_eq!(histories.follow(&result("c", follows(9))).0.all.len(), 0);
    }
}
