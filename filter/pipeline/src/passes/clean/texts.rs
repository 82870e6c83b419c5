//! The assistant's texts of one answer, each cleaned as it comes.

use std::ops::Range;

use crate::clean_text::{Cleaned, Cleaner, Cuts, clean};
use sentinel_llm_api::{
    answer_event::{AnswerEvent, Block, EventSink, Payload, Piece},
    dialect::DialectRef,
    edit::{self, Edit},
    framing::rewrite::{EventChange, EventRewrite},
    json::{self, Raw},
};

/// Texts of one answer that are cleaned.
const MOST: usize = 64;
/// Most texts in one event or whole answer. Each is compared with the others.
const MOST_PLACES: usize = 4_096;

#[derive(Debug)]
pub struct Texts {
    dialect: DialectRef,
    open: Vec<(Block, Text)>,
    cuts: Cuts,
    is_partial: bool,
}

/// A text of which more may come.
#[derive(Debug, Default)]
struct Text {
    cleaner: Cleaner,
    has_said: bool,
    /// It cannot be read, so the rest stays as it comes.
    is_off: bool,
    /// The event with its last piece, and the place of the piece in it. What is held is sent in an event of the same form.
    pattern: Option<(String, Range<usize>)>,
}

impl Texts {
    pub fn new(dialect: DialectRef) -> Self {
        Self { dialect, open: Vec::new(), cuts: Cuts::default(), is_partial: false }
    }

    pub fn cuts(&self) -> Cuts {
        self.cuts
    }

    /// Whether something stayed as it came, because it is too long or cannot be read.
    pub fn is_partial(&self) -> bool {
        self.is_partial
    }

    /// The texts of an answer or an event, and where they end.
    fn spoken<'a>(&self, payload: Payload<'a>) -> Vec<AnswerEvent<'a>> {
        let mut spoken = Vec::new();
        let mut visit = |event| {
            if matches!(event, AnswerEvent::Text(_) | AnswerEvent::WholeText(_) | AnswerEvent::TextEnd(_)) {
                spoken.push(event);
            }
        };
        // An answer that is not of the dialect has no texts.
        let _ = self.dialect.read_answer(payload, &mut EventSink::new(&mut visit));
        spoken
    }

    fn text(&mut self, block: Block) -> Option<&mut Text> {
        let known = self.open.iter().position(|(known, _)| *known == block);
        let at = known.unwrap_or(self.open.len());
        if known.is_none() {
            if self.open.len() >= MOST {
                self.is_partial = true;
                return None;
            }
            self.open.push((block, Text::default()));
        }
        self.open.get_mut(at).map(|(_, text)| text)
    }

    /// Cleans more of a text. Returns what is left of it.
    fn piece(&mut self, block: Block, said: &str, is_last: bool, at: (&str, Range<usize>)) -> Option<String> {
        let text = self.text(block).filter(|text| !text.is_off)?;
        let mut left = String::with_capacity(said.len());
        text.cleaner.push(said, &mut left);
        if is_last {
            left.push_str(&text.finish());
        }
        text.has_said |= !left.is_empty();
        let needs_pattern = text.cleaner.holds() || !text.has_said;
        text.pattern = needs_pattern.then(|| (at.0.to_owned(), at.1));
        let (cuts, is_partial) = (text.cleaner.cuts(), text.cleaner.is_partial());
        self.cuts.join(cuts);
        self.is_partial |= is_partial;
        Some(left)
    }

    /// A text is over, or the rest of it cannot be read. Returns an event with what is held of it.
    fn end(&mut self, block: Block) -> Option<String> {
        let text = self.text(block)?;
        let left = text.finish();
        let (event, place) = text.pattern.take().filter(|_| !left.is_empty())?;
        let left = json::quoted(&left);
        self.dialect.event_of(&event, block, &left).or_else(|| {
            let (before, after) = (event.get(..place.start)?, event.get(place.end..)?);
            Some([before, &left, after].concat())
        })
    }

    /// These texts are over. Returns the events with what is held of them.
    fn end_all(&mut self, which: Option<Block>) -> Vec<String> {
        let is_meant = |block: Block| which.is_none_or(|which| which == block);
        let blocks: Vec<Block> =
            self.open.iter().map(|(block, _)| *block).filter(|block| is_meant(*block)).collect();
        let events = blocks.into_iter().filter_map(|block| self.end(block)).collect();
        self.open.retain(|(block, _)| !is_meant(*block));
        events
    }

    /// A text that is whole.
    fn copy(&mut self, said: &str) -> String {
        let (mut cleaner, mut left) = (Cleaner::default(), String::with_capacity(said.len()));
        cleaner.push(said, &mut left);
        cleaner.finish(&mut left);
        self.cuts.join(cleaner.cuts());
        self.is_partial |= cleaner.is_partial();
        left
    }
}

impl Text {
    /// Returns what is held at the end.
    fn finish(&mut self) -> String {
        let mut left = String::new();
        self.cleaner.finish(&mut left);
        self.has_said = true;
        left
    }
}

/// The edit that replaces a string with `left`. Returns `None` when the string does not change.
fn edited(json: &str, text: Raw<'_>, said: &str, left: &str) -> Option<Edit> {
    if said == left { None } else { edit::replace(json, text, json::quoted(left)).ok() }
}

fn applied(json: &str, edits: &[Edit]) -> Option<String> {
    if edits.is_empty() { None } else { String::from_utf8(edit::apply(json, edits)?).ok() }
}

/// Whether more of this text comes, and whether its end comes.
fn comes(rest: &[AnswerEvent<'_>], wanted: Block) -> (bool, bool) {
    let more = |event: &AnswerEvent<'_>| matches!(event, AnswerEvent::Text(piece) if piece.block == wanted);
    let end = |event: &AnswerEvent<'_>| match event {
        AnswerEvent::TextEnd(block) => block.is_none_or(|block| block == wanted),
        _ => false,
    };
    (rest.iter().any(more), rest.iter().any(end))
}

impl EventRewrite for Texts {
    /// A text in one piece is cleaned in one step.
    fn whole(&mut self, json: &str) -> Option<String> {
        let spoken = self.spoken(Payload::Whole(json));
        if spoken.len() > MOST_PLACES {
            self.is_partial = true;
            return None;
        }
        let mut edits = Vec::new();
        for (at, place) in spoken.iter().enumerate() {
            let AnswerEvent::Text(Piece { block, text, .. }) = place else { continue };
            let Some(said) = json::string(*text) else {
                self.is_partial = true;
                continue;
            };
            let rest = spoken.get(at.saturating_add(1)..).unwrap_or_default();
            let (has_more, _) = comes(rest, *block);
            let left = if has_more || self.open.iter().any(|(known, _)| known == block) {
                self.piece(*block, &said, !has_more, ("", 0..0)).unwrap_or_else(|| said.to_string())
            } else {
                let Cleaned { text, cuts, is_partial } = clean(&said);
                self.cuts.join(cuts);
                self.is_partial |= is_partial;
                text
            };
            edits.extend(edited(json, *text, &said, &left));
        }
        applied(json, &edits)
    }

    fn event(&mut self, kind: &str, json: &str) -> EventChange {
        let spoken = self.spoken(Payload::Event { kind, json });
        let (mut changed, mut edits) = (EventChange::default(), Vec::new());
        if spoken.len() > MOST_PLACES {
            self.is_partial = true;
            return changed;
        }
        for (at, place) in spoken.iter().enumerate() {
            match place {
                AnswerEvent::TextEnd(block) => changed.before.extend(self.end_all(*block)),
                AnswerEvent::WholeText(text) => {
                    let Some(said) = json::string(*text) else { continue };
                    let left = self.copy(&said);
                    edits.extend(edited(json, *text, &said, &left));
                }
                AnswerEvent::Text(Piece { block, text, is_all, .. }) => {
                    let (Some(said), Some(place)) = (json::string(*text), json::span(json, *text)) else {
                        // The piece holds half a character. What is held is sent before it, and the rest stays as it comes.
                        changed.before.extend(self.end(*block));
                        if let Some(text) = self.text(*block) {
                            text.is_off = true;
                        }
                        self.is_partial = true;
                        continue;
                    };
                    let rest = spoken.get(at.saturating_add(1)..).unwrap_or_default();
                    let is_last = matches!(comes(rest, *block), (false, true));
                    let Some(left) = self.piece(*block, &said, is_last, (json, place)) else { continue };
                    changed.is_pattern = true;
                    changed.is_dropped = *is_all && left.is_empty() && !said.is_empty();
                    edits.extend(edited(json, *text, &said, &left));
                }
                _ => {}
            }
        }
        changed.json = applied(json, &edits);
        changed
    }

    fn rest(&mut self) -> Vec<String> {
        self.end_all(None)
    }
}
