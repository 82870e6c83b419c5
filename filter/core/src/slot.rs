//! How windows are laid out in shared data. A slot holds a few scopes and its number follows from the scope, so
//! memory is bounded whatever the number of agents: where there is no room, the scope that was silent longest goes.
//! The layout carries a version; what cannot be read is forgotten, never an error.

use crate::{
    bytes::Cursor,
    prompt::Print,
    step::StepReader,
    verdict::{Signal, Verdict},
    window::{Entry, Fate, LENGTH, Window},
};

/// Layout of the bytes. Raise it with every change: old slots are then forgotten.
const VERSION: u8 = 4;
/// Scopes in one slot.
const WAYS: usize = 4;

/// The scopes of one slot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Slot {
    scopes: Vec<(u64, Window)>,
}

impl Slot {
    /// Name of the slot that holds `scope`.
    pub fn key(scope: u64, buckets: u32) -> String {
        format!("sentinel/window/{}", scope.checked_rem(u64::from(buckets)).unwrap_or(0))
    }

    /// Takes the window of `scope` out; a new one where there is none, or where it was silent for longer than `ttl`.
    pub fn take(&mut self, scope: u64, now: u64, ttl: u64) -> Window {
        self.scopes.retain(|(_, window)| now.saturating_sub(window.touched) <= ttl);
        match self.scopes.iter().position(|(id, _)| *id == scope) {
            Some(at) => self.scopes.swap_remove(at).1,
            None => Window::default(),
        }
    }

    /// Puts a window back.
    pub fn put(&mut self, scope: u64, window: Window) {
        if self.scopes.len() >= WAYS
            && let Some(oldest) =
                (0_usize..).zip(&self.scopes).min_by_key(|(_, (_, window))| window.touched).map(|(at, _)| at)
        {
            self.scopes.swap_remove(oldest);
        }
        self.scopes.push((scope, window));
    }

    pub fn encode(&self) -> Vec<u8> {
        let mut out = vec![VERSION, u8::try_from(self.scopes.len()).unwrap_or(0)];
        for (scope, window) in &self.scopes {
            put(&mut out, &scope.to_le_bytes());
            put(&mut out, &window.touched.to_le_bytes());
            put(&mut out, &window.killed_until.to_le_bytes());
            put(&mut out, &window.answered.to_le_bytes());
            out.push(u8::from(window.is_traced));
            put(&mut out, &window.turns.to_le_bytes());
            put(&mut out, &window.next.to_le_bytes());
            out.push(u8::try_from(window.entries.len()).unwrap_or(0));
            window.entries.iter().for_each(|entry| encode_entry(entry, &mut out));
            window.remote.encode(&mut out);
        }
        out
    }

    /// The scopes in `bytes`; none where they are of another version or damaged.
    pub fn decode(bytes: &[u8]) -> Self {
        decode(&mut Cursor(bytes)).unwrap_or_default()
    }
}

fn put(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(bytes);
}

fn encode_entry(entry: &Entry, out: &mut Vec<u8>) {
    put(out, &entry.number.to_le_bytes());
    put(out, &entry.body.to_le_bytes());
    encode_print(&entry.prompt, out);
    out.push(match entry.fate {
        Fate::Pending => 0,
        Fate::Answered => 1,
        Fate::Failed => 2,
    });
    out.push(match entry.verdict {
        Verdict::Allow => 0,
        Verdict::Hint => 1,
        Verdict::Kill => 2,
    });
    out.push(signal_code(entry.signal));
    encode_print(&entry.answer, out);
    put(out, &entry.tools.to_le_bytes());
}

/// 0 for none, else its place in `Signal::ALL`, from 1.
fn signal_code(signal: Option<Signal>) -> u8 {
    let codes = Signal::ALL.iter().zip(1_u8..);
    codes.clone().find(|(known, _)| Some(**known) == signal).map_or(0, |(_, code)| code)
}

fn signal_of(code: u8) -> Option<Option<Signal>> {
    match code {
        0 => Some(None),
        code => Signal::ALL.get(usize::from(code).checked_sub(1)?).map(|signal| Some(*signal)),
    }
}

fn encode_print(print: &Print, out: &mut Vec<u8>) {
    put(out, &print.simhash.to_le_bytes());
    put(out, &print.exact.to_le_bytes());
    put(out, &print.rest.to_le_bytes());
    put(out, &print.words.to_le_bytes());
}

fn decode(cursor: &mut Cursor<'_>) -> Option<Slot> {
    if cursor.u8()? != VERSION {
        return None;
    }
    let scopes = usize::from(cursor.u8()?).min(WAYS);
    let scopes = (0..scopes).map(|_| decode_window(cursor)).collect::<Option<_>>()?;
    Some(Slot { scopes })
}

fn decode_window(cursor: &mut Cursor<'_>) -> Option<(u64, Window)> {
    let scope = cursor.u64()?;
    let (touched, killed_until) = (cursor.u64()?, cursor.u64()?);
    let (answered, is_traced) = (cursor.u64()?, cursor.u8()? != 0);
    let (turns, next) = (cursor.u32()?, cursor.u32()?);
    let entries = usize::from(cursor.u8()?).min(LENGTH);
    let entries = (0..entries).map(|_| decode_entry(cursor)).collect::<Option<_>>()?;
    let remote = StepReader::decode(cursor)?;
    Some((scope, Window { touched, killed_until, answered, is_traced, turns, next, entries, remote }))
}

fn decode_entry(cursor: &mut Cursor<'_>) -> Option<Entry> {
    Some(Entry {
        number: cursor.u32()?,
        body: cursor.u64()?,
        prompt: decode_print(cursor)?,
        fate: match cursor.u8()? {
            0 => Fate::Pending,
            1 => Fate::Answered,
            2 => Fate::Failed,
            _ => return None,
        },
        verdict: match cursor.u8()? {
            0 => Verdict::Allow,
            1 => Verdict::Hint,
            2 => Verdict::Kill,
            _ => return None,
        },
        signal: signal_of(cursor.u8()?)?,
        answer: decode_print(cursor)?,
        tools: cursor.u64()?,
    })
}

fn decode_print(cursor: &mut Cursor<'_>) -> Option<Print> {
    Some(Print { simhash: cursor.u64()?, exact: cursor.u64()?, rest: cursor.u64()?, words: cursor.u16()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full() -> Slot {
        let mut slot = Slot::default();
        for scope in 0..4 {
            let mut window = Window { touched: scope + 1, killed_until: 9, answered: 4, ..Window::default() };
            (window.turns, window.is_traced) = (3, true);
            for body in 0..25 {
                window.push(Entry {
                    number: 0,
                    body,
                    prompt: Print::of("a prompt of some words"),
                    fate: Fate::Answered,
                    verdict: Verdict::Hint,
                    signal: Some(Signal::Semantic),
                    answer: Print::of("an answer"),
                    tools: 5,
                });
            }
            slot.put(scope, window);
        }
        slot
    }

    #[test]
    fn what_is_written_reads_back() {
        let slot = full();
        assert_eq!(Slot::decode(&slot.encode()), slot);
        assert!(slot.encode().len() < 8_192);
    }

    #[test]
    fn damaged_or_old_bytes_are_forgotten() {
        let bytes = full().encode();
        for len in 0..bytes.len() {
            assert_eq!(Slot::decode(&bytes[..len]), Slot::default(), "{len}");
        }
        let mut old = bytes;
        old[0] = VERSION + 1;
        assert_eq!(Slot::decode(&old), Slot::default());
    }

    #[test]
    fn the_scope_that_was_silent_longest_makes_room() {
        let mut slot = full();
        slot.put(77, Window { touched: 50, ..Window::default() });
        assert!(slot.take(0, 60, 100).entries.is_empty());
        assert_eq!(slot.take(1, 60, 100).entries.len(), LENGTH);
    }

    #[test]
    fn a_silent_scope_is_forgotten() {
        assert!(full().take(3, 1_000, 100).entries.is_empty());
    }
}
