//! One text, cleaned as it comes. Nothing is read twice, and no more is held than a tag, an element that may not end, and the
//! white space before the first word.

use super::{
    Cuts, Step,
    code::Code,
    paragraphs::may_stand_before_a_fence,
    skipped::{Block, Skip, Skipped},
    tags::{Candidate, Ending, Found, Kind, LONGEST, Name, Tag},
};

/// An element longer than this is not taken out (bytes): it would have to be kept until its end comes.
const LONGEST_ELEMENT: usize = 262_144;

#[derive(Debug, Default)]
pub struct Cleaner {
    mode: Mode,
    code: Code,
    /// What may be the beginning of a tag or a mark.
    held: String,
    /// What is taken out, but goes back where its end does not come.
    taken: String,
    /// White space before the first word.
    before: String,
    /// There was a first word.
    has_spoken: bool,
    is_mid_line: bool,
    /// The line holds something that may not stand before a fence.
    is_past_fences: bool,
    cuts: Cuts,
    is_partial: bool,
}

#[derive(Clone, Copy, Debug, Default)]
enum Mode {
    #[default]
    Text,
    Candidate(Candidate),
    /// Behind the tag of a call: it goes with what is in it, if that is a call.
    Deciding(&'static Name),
    Inside(&'static Name, Ending),
    Skipping(Block, Skip),
    /// The rest is as it comes.
    Off,
}

impl Cleaner {
    /// Adds to `left` what is left of the text up to here.
    pub fn push(&mut self, text: &str, left: &mut String) {
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let plain = self.plain(rest);
            let (stretch, after) = rest.split_at_checked(plain.max(c.len_utf8())).unwrap_or((rest, ""));
            if plain == 0 {
                self.take(c, left);
            } else if matches!(self.mode, Mode::Inside(..)) {
                self.taken.push_str(stretch);
            } else {
                left.push_str(stretch);
            }
            rest = after;
        }
    }

    /// No more will come.
    pub fn finish(&mut self, left: &mut String) {
        let held = std::mem::take(&mut self.held);
        let taken = std::mem::take(&mut self.taken);
        match std::mem::replace(&mut self.mode, Mode::Off) {
            Mode::Skipping(_, Skip::Start) if held.trim().is_empty() => {}
            Mode::Skipping(_, Skip::Object { .. } | Skip::Line) => {}
            _ => [taken, held].iter().for_each(|text| self.say(text, left)),
        }
        left.push_str(&std::mem::take(&mut self.before));
    }

    /// Whether a text that ended here would leave something that has not been given yet.
    pub fn holds(&self) -> bool {
        [&self.held, &self.taken, &self.before].iter().any(|text| !text.is_empty())
    }

    /// What was taken out so far.
    pub fn cuts(&self) -> Cuts {
        self.cuts
    }

    /// Whether an element was too long, and the rest is as it came.
    pub fn is_partial(&self) -> bool {
        self.is_partial
    }

    /// How many bytes come next that nothing can begin in.
    fn plain(&self, rest: &str) -> usize {
        match self.mode {
            Mode::Off => rest.len(),
            Mode::Inside(_, ending) if !ending.has_begun() => {
                let room = LONGEST_ELEMENT.saturating_sub(self.taken.len());
                let end = rest.bytes().position(|byte| byte == b'<').unwrap_or(rest.len());
                if end <= room { end } else { 0 }
            }
            Mode::Text if self.has_spoken && self.is_mid_line && self.is_past_fences => {
                self.code.plain(rest.as_bytes())
            }
            _ => 0,
        }
    }

    fn take(&mut self, c: char, left: &mut String) {
        match self.mode {
            Mode::Text => self.text(c, left),
            Mode::Candidate(candidate) => self.candidate(candidate, c, left),
            Mode::Deciding(name) => self.decide(name, c, left),
            Mode::Inside(name, ending) => self.inside(name, ending, c, left),
            Mode::Skipping(block, skip) => match skip.take(block, &mut self.held, c) {
                Skipped::On(next) => {
                    // An output that is an object ends with it.
                    let has_ended = matches!((skip, next), (Skip::Object { .. }, Skip::Line));
                    self.mode = Mode::Skipping(if has_ended { Block::Call } else { block }, next);
                }
                Skipped::End => self.mode = Mode::Text,
                Skipped::Behind => {
                    self.mode = Mode::Text;
                    let held = std::mem::take(&mut self.held);
                    self.say(&held, left);
                    self.take(c, left);
                }
            },
            Mode::Off => left.push(c),
        }
    }

    fn text(&mut self, c: char, left: &mut String) {
        let is_code = self.code.take(c, !self.is_past_fences);
        let begins = match c {
            _ if is_code => None,
            '<' => Some(Candidate::TAG),
            '[' if !self.is_mid_line => Some(Candidate::Mark),
            _ => None,
        };
        match begins {
            Some(candidate) => {
                self.mode = Mode::Candidate(candidate);
                self.held.push(c);
            }
            None => self.say_one(c, left),
        }
    }

    fn candidate(&mut self, candidate: Candidate, c: char, left: &mut String) {
        self.held.push(c);
        match candidate.take(&self.held, c) {
            Found::Maybe(candidate) => self.mode = Mode::Candidate(candidate),
            Found::No => {
                self.held.pop();
                self.mode = Mode::Text;
                let held = std::mem::take(&mut self.held);
                self.say(&held, left);
                self.text(c, left);
            }
            Found::Tag(tag) => self.tag(tag),
            Found::Block(block) => {
                self.held.clear();
                self.cuts.add(block.step());
                self.mode = Mode::Skipping(block, Skip::Line);
            }
        }
    }

    fn tag(&mut self, tag: Tag) {
        let text = std::mem::take(&mut self.held);
        self.mode = match tag.name.kind {
            _ if tag.closes || tag.is_empty => Mode::Text,
            Kind::Final => Mode::Text,
            Kind::Call => Mode::Deciding(tag.name),
            Kind::Argument => Mode::Inside(tag.name, Ending::default()),
            Kind::Thinking => {
                // Thoughts that do not end are no thoughts: they go back with their tag.
                self.taken = text;
                self.mode = Mode::Inside(tag.name, Ending::default());
                return;
            }
        };
        self.cuts.add(tag.name.kind.step());
    }

    /// A call is JSON, more tags, or a name on a line of its own with tags below.
    fn decide(&mut self, name: &'static Name, c: char, left: &mut String) {
        let said = self.taken.trim();
        let is_name = said.is_empty() || !self.taken.ends_with(char::is_whitespace);
        let is_call = match c {
            '{' => true,
            '[' | '<' => said.is_empty() || self.taken.ends_with('\n'),
            _ => false,
        };
        let is_open = match c {
            _ if self.taken.len() >= LONGEST => false,
            ' ' | '\t' | '\r' | '\n' => true,
            _ => is_name && (c.is_ascii_alphanumeric() || "_-.".contains(c)),
        };
        if is_call {
            self.mode = Mode::Inside(name, Ending::default());
            self.take(c, left);
        } else if is_open {
            self.taken.push(c);
        } else {
            self.mode = Mode::Text;
            let taken = std::mem::take(&mut self.taken);
            self.say(&taken, left);
            self.text(c, left);
        }
    }

    fn inside(&mut self, name: &'static Name, mut ending: Ending, c: char, left: &mut String) {
        self.taken.push(c);
        if ending.take(name, c) {
            self.taken.clear();
            self.cuts.add(name.kind.step());
            self.mode = Mode::Text;
        } else if self.taken.len() > LONGEST_ELEMENT {
            self.is_partial = true;
            self.mode = Mode::Off;
            let taken = std::mem::take(&mut self.taken);
            self.say(&taken, left);
        } else {
            self.mode = Mode::Inside(name, ending);
        }
    }

    fn say(&mut self, text: &str, left: &mut String) {
        text.chars().for_each(|c| self.say_one(c, left));
    }

    fn say_one(&mut self, c: char, left: &mut String) {
        self.is_mid_line = c != '\n' && (self.is_mid_line || !c.is_whitespace());
        self.is_past_fences = c != '\n' && (self.is_past_fences || !may_stand_before_a_fence(c));
        if self.has_spoken {
            left.push(c);
        } else if c == '\n' {
            self.cuts.add(Step::BlankLines);
            self.before.clear();
        } else {
            self.before.push(c);
            if !c.is_whitespace() || self.before.len() > LONGEST {
                self.has_spoken = true;
                left.push_str(&std::mem::take(&mut self.before));
            }
        }
    }
}
