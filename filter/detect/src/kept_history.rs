//! A history that the provider keeps: the request names it and carries only what is new. Calls are remembered from the
//! responses that passed, results from the requests; together they give the same steps as a history in the body.

use crate::step::{FinishedCall, Step, StepLog, StrayResult};

/// Turns that are remembered: enough for five rounds of the longest cycle.
const TURNS: usize = 25;
/// A wider fan-out is not remembered.
const CALLS: usize = 8;
/// Bytes of a tool's name that are remembered, for people to read.
const NAME: usize = 24;

/// What is new in a request whose history the provider keeps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptTail {
    pub results: Vec<StrayResult>,
    /// There is a user's word as well: only what follows it counts.
    pub has_user_word: bool,
}

impl StepLog {
    /// Takes on what the request brings, and says which steps there are now, and which calls got their results.
    pub fn follow(&mut self, tail: &KeptTail) -> (Vec<Step>, Vec<FinishedCall>) {
        let done = tail.results.iter().filter_map(|result| self.stray_result(result)).collect();
        if tail.has_user_word {
            self.user();
        }
        (self.steps(), done)
    }

    /// Takes on the calls of a response.
    pub fn append(&mut self, response: Self) {
        for mut turn in response.turns.into_iter().filter(|turn| turn.calls.len() <= CALLS) {
            for call in &mut turn.calls {
                let Some(tool) = response.tools.get(call.tool) else { continue };
                let name = tool.shown.get(..tool.shown.floor_char_boundary(NAME)).unwrap_or_default();
                call.tool = self.tool(name, tool.digest);
                if let Some(kept) = self.tools.get_mut(call.tool) {
                    kept.deed = tool.deed;
                }
            }
            self.turns.push_back(turn);
        }
        while self.turns.len() > TURNS {
            self.turns.pop_front();
        }
        self.forget_unused_tools();
    }

    /// Tools that no remembered turn calls must not fill the memory.
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
    use super::*;

    fn response(id: &str) -> StepLog {
        let mut reader = StepLog::default();
        reader.turn();
        reader.call(id, "search_the_whole_wide_world_for", "{}");
        reader
    }

    fn result(id: &str) -> KeptTail {
        let raw = serde_json::value::RawValue::from_string("\"no results\"".into()).unwrap();
        KeptTail { results: vec![StrayResult::of(id, Some(&raw))], has_user_word: false }
    }

    #[test]
    fn calls_and_results_meet_across_requests_and_writes() {
        let mut history = StepLog::default();
        let mut steps = Vec::new();
        for n in 0..40 {
            history.append(response(&n.to_string()));
            assert!(history.tools.len() == 1 && history.turns.len() <= TURNS);
            let (now, done) = history.follow(&result(&n.to_string()));
            assert_eq!(
                (done.len(), done[0].tool.as_str(), done[0].is_failure),
                (1, "search_the_whole_wide_wo", true)
            );
            steps = now;
        }
        assert_eq!(steps.len(), TURNS);
        assert!(steps.windows(2).all(|pair| pair[0] == pair[1]));
        assert_eq!(steps[0].tool, "search_the_whole_wide_wo");
        assert_eq!(
            history.follow(&KeptTail { has_user_word: true, ..KeptTail::default() }),
            (vec![], vec![])
        );
    }

    #[test]
    fn a_result_that_comes_again_says_nothing_new() {
        let mut history = StepLog::default();
        history.append(response("1"));
        let (once, _) = history.follow(&result("1"));
        assert_eq!(history.follow(&result("1")), (once.clone(), vec![]));
        assert_eq!(history.follow(&result("unknown")), (once, vec![]));
    }
}
