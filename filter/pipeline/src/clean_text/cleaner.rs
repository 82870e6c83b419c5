//! Cleans one text as it comes. Only its beginning and its end change, because what stands between words may belong to the
//! answer. Whatever may have to be removed is set aside first. Before the first word, it is removed when a word comes, and
//! restored if none comes, so that no text is emptied. Behind words, it is removed when the text ends, and restored if another
//! word comes.
//!
//! No character is read twice. Held are at most a tag, what is set aside, an element that may not end, and the white space before
//! the first word.

use super::{
    Cuts, Removal,
    code::{Code, may_stand_before_a_fence},
    skipped::{Block, Skip, Skipped},
    tags::{Candidate, Ending, LONGEST, Name, Tag, TagKind, TagProgress},
};

/// An element longer than this is not taken out (bytes): it would have to be held until its end comes.
const LONGEST_ELEMENT: usize = 262_144;

#[derive(Debug, Default)]
pub struct Cleaner {
    mode: Mode,
    code: Code,
    /// What may be the beginning of a tag or a mark.
    held: String,
    /// The tag of a call that is being read.
    opening: String,
    /// The content of an element. It is restored if the end of the element does not come.
    taken: String,
    /// Whole elements and blocks that are set aside, with the white space between them.
    aside: String,
    aside_cuts: Cuts,
    /// When the last piece was set aside, there was nothing else.
    is_alone: bool,
    /// `<final>` stood at the beginning, so its end is removed too.
    has_opened: bool,
    /// The last character that was no white space.
    last: char,
    /// White space before the first word.
    before: String,
    /// There was a first word.
    has_spoken: bool,
    is_mid_line: bool,
    /// The line holds something that must not stand before a fence.
    is_past_fences: bool,
    cuts: Cuts,
    is_partial: bool,
}

#[derive(Clone, Copy, Debug, Default)]
enum Mode {
    #[default]
    Text,
    Candidate(Candidate),
    /// Behind the tag of a call. The tag is removed with its content if that is a call.
    Deciding(&'static Name),
    Inside(&'static Name, Ending),
    Skipping(Block, Skip),
    /// The rest stays as it comes.
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
                self.last = stretch.chars().rev().find(|c| !c.is_whitespace()).unwrap_or(self.last);
            }
            rest = after;
        }
    }

    /// No more will come.
    pub fn finish(&mut self, left: &mut String) {
        let rest = [&mut self.opening, &mut self.taken, &mut self.held].map(std::mem::take);
        // What a block has held is set aside already.
        if !matches!(std::mem::replace(&mut self.mode, Mode::Off), Mode::Skipping(..)) {
            rest.iter().for_each(|text| self.say(text, left));
        }
        let aside = std::mem::take(&mut self.aside);
        if self.has_spoken {
            self.cuts.join(std::mem::take(&mut self.aside_cuts));
        } else {
            left.push_str(&aside);
        }
        left.push_str(&std::mem::take(&mut self.before));
    }

    /// Whether something is held that a text which ended here would still give.
    pub fn holds(&self) -> bool {
        [&self.held, &self.opening, &self.taken, &self.aside, &self.before]
            .iter()
            .any(|text| !text.is_empty())
    }

    /// What was taken out so far.
    pub fn cuts(&self) -> Cuts {
        self.cuts
    }

    /// Whether an element was too long, and the rest is as it came.
    pub fn is_partial(&self) -> bool {
        self.is_partial
    }

    /// How many of the next bytes need no look, because nothing can begin in them.
    fn plain(&self, rest: &str) -> usize {
        match self.mode {
            Mode::Off => rest.len(),
            Mode::Inside(_, ending) if !ending.has_begun() => {
                let room = LONGEST_ELEMENT.saturating_sub(self.taken.len());
                let end = rest.bytes().position(|byte| byte == b'<').unwrap_or(rest.len());
                if end <= room { end } else { 0 }
            }
            Mode::Text
                if self.has_spoken && self.is_mid_line && self.is_past_fences && self.aside.is_empty() =>
            {
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
            Mode::Skipping(block, skip) => match self.skip(block, skip, c) {
                Skipped::On(next) => {
                    // An output that is an object ends with the object.
                    let has_ended = matches!((skip, next), (Skip::Object { .. }, Skip::Line));
                    self.mode = Mode::Skipping(if has_ended { Block::Call } else { block }, next);
                }
                // The block is too long to be held until its end.
                Skipped::End if self.is_partial => {
                    self.mode = Mode::Off;
                    self.has_spoken = true;
                    left.push_str(&std::mem::take(&mut self.aside));
                }
                Skipped::End => self.mode = Mode::Text,
                Skipped::Behind => {
                    self.mode = Mode::Text;
                    let held = std::mem::take(&mut self.held);
                    let behind = held.len().saturating_add(c.len_utf8());
                    self.aside.truncate(self.aside.len().saturating_sub(behind));
                    self.say(&held, left);
                    self.take(c, left);
                }
            },
            Mode::Off => left.push(c),
        }
    }

    fn skip(&mut self, block: Block, skip: Skip, c: char) -> Skipped {
        self.aside.push(c);
        if self.aside.len() > LONGEST_ELEMENT {
            self.is_partial = true;
            return Skipped::End;
        }
        skip.take(block, &mut self.held, c)
    }

    fn text(&mut self, c: char, left: &mut String) {
        let is_code = self.code.take(c, !self.is_past_fences);
        let begins = match c {
            _ if is_code => None,
            // With four characters of white space before it, it is indented code.
            '<' if (!self.is_mid_line || self.has_opened) && self.before.len() < 4 => Some(Candidate::TAG),
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
            TagProgress::Maybe(candidate) => self.mode = Mode::Candidate(candidate),
            TagProgress::No => {
                self.held.pop();
                self.mode = Mode::Text;
                let held = std::mem::take(&mut self.held);
                self.say(&held, left);
                self.text(c, left);
            }
            TagProgress::Tag(tag) => self.tag(tag, left),
            // An answer may end with an example of a system message.
            TagProgress::Block(Block::SystemMessage) if self.has_spoken => {
                self.mode = Mode::Text;
                let held = std::mem::take(&mut self.held);
                self.say(&held, left);
            }
            TagProgress::Block(block) => {
                let held = std::mem::take(&mut self.held);
                self.set_aside(&held, block.step());
                self.mode = Mode::Skipping(block, if c == '\n' { Skip::Start } else { Skip::Line });
            }
        }
    }

    fn tag(&mut self, tag: Tag, left: &mut String) {
        let text = std::mem::take(&mut self.held);
        let Tag { name, closes, is_empty } = tag;
        let opens = !closes && !is_empty;
        self.mode = Mode::Text;
        match name.kind {
            // Thoughts come first. If the element does not end, it is restored with its tag.
            TagKind::Thinking if opens && !self.has_spoken => {
                self.taken = text;
                self.mode = Mode::Inside(name, Ending::default());
            }
            TagKind::Thinking if is_empty && !self.has_spoken => self.set_aside(&text, name.kind.step()),
            TagKind::Final if opens && !self.has_spoken => {
                self.has_opened = true;
                self.set_aside(&text, name.kind.step());
            }
            TagKind::Final if opens && self.has_opened && self.has_spoken && self.reopens() => {}
            TagKind::Final if closes && self.has_opened => self.set_aside(&text, name.kind.step()),
            // A call comes last, on lines of its own. Behind a colon it is an example.
            TagKind::Call | TagKind::Argument
                if opens && self.has_spoken && !self.is_mid_line && self.last != ':' =>
            {
                self.opening = text;
                self.mode = match name.kind {
                    TagKind::Call => Mode::Deciding(name),
                    _ => Mode::Inside(name, Ending::default()),
                };
            }
            _ => self.say(&text, left),
        }
    }

    /// One answer follows directly behind another. Of what stands between them, only the white space stays.
    fn reopens(&mut self) -> bool {
        let closed = self.aside.trim_end();
        let white = self.aside.get(closed.len()..).unwrap_or_default().to_owned();
        let Some(before) = closed.strip_suffix("</final>").map(str::len) else { return false };
        self.aside.truncate(before);
        self.aside.push_str(&white);
        self.cuts.add(Removal::Final);
        true
    }

    fn set_aside(&mut self, text: &str, removal: Removal) {
        self.is_alone = self.aside.is_empty();
        self.aside.push_str(&std::mem::take(&mut self.before));
        self.aside.push_str(text);
        self.aside_cuts.add(removal);
    }

    /// A call is JSON, or more tags, or a name on a line of its own with tags below.
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
            self.give_back(left);
            self.text(c, left);
        }
    }

    fn inside(&mut self, name: &'static Name, mut ending: Ending, c: char, left: &mut String) {
        self.taken.push(c);
        if ending.take(name, c) {
            self.mode = Mode::Text;
            // Other XML has elements with these names too, but without parameters.
            if name.kind == TagKind::Argument && !self.taken.contains("<parameter") {
                return self.give_back(left);
            }
            let element = std::mem::take(&mut self.opening) + &std::mem::take(&mut self.taken);
            self.set_aside(&element, name.kind.step());
        } else if self.taken.len().saturating_add(self.aside.len()) > LONGEST_ELEMENT {
            self.is_partial = true;
            self.mode = Mode::Off;
            self.give_back(left);
        } else {
            self.mode = Mode::Inside(name, ending);
        }
    }

    /// What looked like an element of a call stays in the text after all.
    fn give_back(&mut self, left: &mut String) {
        let texts = [&mut self.opening, &mut self.taken].map(std::mem::take);
        texts.iter().for_each(|text| self.say(text, left));
    }

    fn say(&mut self, text: &str, left: &mut String) {
        text.chars().for_each(|c| self.say_one(c, left));
    }

    fn say_one(&mut self, c: char, left: &mut String) {
        self.is_mid_line = c != '\n' && (self.is_mid_line || !c.is_whitespace());
        self.is_past_fences = c != '\n' && (self.is_past_fences || !may_stand_before_a_fence(c));
        if !c.is_whitespace() {
            self.last = c;
        }
        match (self.has_spoken, self.aside.is_empty()) {
            (true, true) => left.push(c),
            // If more words follow, what was set aside is not at the end, so it stays.
            (true, false) => {
                self.aside.push(c);
                if !c.is_whitespace() {
                    left.push_str(&std::mem::take(&mut self.aside));
                    self.aside_cuts = Cuts::default();
                }
            }
            (false, is_first) if c == '\n' => {
                if is_first {
                    self.cuts.add(Removal::BlankLines);
                    self.before.clear();
                } else {
                    self.aside.push_str(&std::mem::take(&mut self.before));
                    self.aside.push(c);
                }
            }
            (false, _) => {
                self.before.push(c);
                if !c.is_whitespace() || self.before.len() > LONGEST {
                    self.has_spoken = true;
                    if self.begins_a_sentence() {
                        left.push_str(&self.aside);
                        self.aside_cuts = Cuts::default();
                        self.has_opened = false;
                    }
                    // A word comes, so what stood before the answer is removed.
                    if self.aside.ends_with('\n') {
                        self.aside_cuts.add(Removal::BlankLines);
                    }
                    self.aside.clear();
                    self.cuts.join(std::mem::take(&mut self.aside_cuts));
                    left.push_str(&std::mem::take(&mut self.before));
                }
            }
        }
    }

    /// Whether the text behind a tag or an element at the beginning goes on with a sentence about it.
    fn begins_a_sentence(&self) -> bool {
        let word = self.before.trim_start();
        let goes_on =
            word.starts_with(',') || word.len() < self.before.len() && word.starts_with(char::is_lowercase);
        goes_on && self.is_alone && self.aside.ends_with('>') && !self.aside.contains('\n')
    }
}
