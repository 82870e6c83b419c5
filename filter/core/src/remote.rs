//! A history that the provider keeps: the request names it and carries only what is new. Calls are remembered from the
//! responses that passed, results from the requests; together they give the same steps as a history in the body.

use crate::{
    bytes::Cursor,
    prompt::Bag,
    step::{Call, Deed, Done, Kind, Step, StepReader, StrayResult, Turn, shown},
};

/// Turns that are remembered: enough for five rounds of the longest cycle.
const TURNS: usize = 25;
/// A wider fan-out is not remembered.
const CALLS: usize = 8;
/// Bytes of a tool's name that are remembered, for people to read.
const NAME: usize = 24;

/// What is new in a request whose history the provider keeps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RemoteTail {
    pub results: Vec<StrayResult>,
    /// There is a user's word as well: only what follows it counts.
    pub has_user_word: bool,
}

impl StepReader {
    /// Takes on what the request brings, and says which steps there are now, and which calls got their results.
    pub fn follow(&mut self, tail: &RemoteTail) -> (Vec<Step>, Vec<Done>) {
        let done = tail.results.iter().filter_map(|result| self.stray_result(result)).collect();
        if tail.has_user_word {
            self.user();
        }
        (self.clone().finish(), done)
    }

    /// Takes on the calls of a response.
    pub fn append(&mut self, response: Self) {
        self.turns.extend(response.turns.into_iter().filter(|turn| turn.calls.len() <= CALLS));
        while self.turns.len() > TURNS {
            self.turns.pop_front();
        }
    }

    pub fn encode(&self, out: &mut Vec<u8>) {
        out.push(u8::try_from(self.turns.len()).unwrap_or(0));
        for turn in &self.turns {
            out.push(u8::try_from(turn.calls.len()).unwrap_or(0));
            turn.calls.iter().for_each(|call| encode_call(call, out));
        }
    }

    pub fn decode(cursor: &mut Cursor<'_>) -> Option<Self> {
        let turns = usize::from(cursor.u8()?).min(TURNS);
        let turns = (0..turns).map(|_| decode_turn(cursor)).collect::<Option<_>>()?;
        Some(Self { turns })
    }
}

fn encode_call(call: &Call, out: &mut Vec<u8>) {
    for number in [call.id, call.name, call.approach] {
        out.extend_from_slice(&number.to_le_bytes());
    }
    out.extend_from_slice(&call.words.0.to_le_bytes());
    out.push(match call.deed {
        Deed::Ask => 0,
        Deed::Send => 1,
        Deed::Act => 2,
    });
    let (outcome, kind) = match call.result {
        None => (0, 0),
        Some((outcome, Kind::Receipt)) => (outcome, 1),
        Some((outcome, Kind::Failure)) => (outcome, 2),
        Some((outcome, Kind::Substance)) => (outcome, 3),
    };
    out.push(kind);
    out.extend_from_slice(&outcome.to_le_bytes());
    let name = call.shown.get(..call.shown.floor_char_boundary(NAME)).unwrap_or_default();
    out.push(u8::try_from(name.len()).unwrap_or(0));
    out.extend_from_slice(name.as_bytes());
}

fn decode_turn(cursor: &mut Cursor<'_>) -> Option<Turn> {
    let calls = usize::from(cursor.u8()?).min(CALLS);
    let calls = (0..calls).map(|_| decode_call(cursor)).collect::<Option<_>>()?;
    Some(Turn { calls })
}

fn decode_call(cursor: &mut Cursor<'_>) -> Option<Call> {
    let (id, name, approach) = (cursor.u64()?, cursor.u64()?, cursor.u64()?);
    let (low, high) = (cursor.u64()?, cursor.u64()?);
    let words = Bag(u128::from(high).wrapping_shl(64) | u128::from(low));
    let deed = match cursor.u8()? {
        0 => Deed::Ask,
        1 => Deed::Send,
        2 => Deed::Act,
        _ => return None,
    };
    let kind = match cursor.u8()? {
        0 => None,
        1 => Some(Kind::Receipt),
        2 => Some(Kind::Failure),
        3 => Some(Kind::Substance),
        _ => return None,
    };
    let outcome = cursor.u64()?;
    let shown_len = usize::from(cursor.u8()?);
    let shown = shown(std::str::from_utf8(cursor.slice(shown_len)?).ok()?);
    Some(Call { id, name, approach, words, deed, result: kind.map(|kind| (outcome, kind)), shown })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn response(id: &str) -> StepReader {
        let mut reader = StepReader::default();
        reader.turn();
        reader.call(id, "search_the_whole_wide_world_for", "{}");
        reader
    }

    fn result(id: &str) -> RemoteTail {
        let raw = serde_json::value::RawValue::from_string("\"no results\"".into()).unwrap();
        RemoteTail { results: vec![StrayResult::of(id, Some(&raw))], has_user_word: false }
    }

    #[test]
    fn calls_and_results_meet_across_requests_and_writes() {
        let mut history = StepReader::default();
        let mut steps = Vec::new();
        for n in 0..40 {
            history.append(response(&n.to_string()));
            let mut bytes = Vec::new();
            history.encode(&mut bytes);
            assert!(bytes.len() < 2_048);
            history = StepReader::decode(&mut Cursor(&bytes)).unwrap();
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
            history.follow(&RemoteTail { has_user_word: true, ..RemoteTail::default() }),
            (vec![], vec![])
        );
    }

    #[test]
    fn a_result_that_comes_again_says_nothing_new() {
        let mut history = StepReader::default();
        history.append(response("1"));
        let (once, _) = history.follow(&result("1"));
        assert_eq!(history.follow(&result("1")), (once.clone(), vec![]));
        assert_eq!(history.follow(&result("unknown")), (once, vec![]));
    }
}
