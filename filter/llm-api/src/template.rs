//! Writes a final message from templates that look like what the provider sends. Each `$name` in a template is replaced
//! with a value of the message.
//!
//! The values are valid in JSON: `$text`, `$model` and `$own_id` (strings in their quotes); `$id`, `$created`, `$stop`;
//! `$input` (tokens without those from the provider's cache), `$all_input`, `$cached`, `$output`, `$total`; `$number`,
//! a counter that starts at 0. For a part: `$at`, its index among the text and the calls. For a call: `$name`,
//! `$arguments` (an object), `$quoted` (the arguments as a string), `$call` (its own part of an id), `$call_at` (its
//! index among the calls).

use std::fmt::Write as _;

use crate::{dialect::FinalMessage, json::quoted};

/// A message that is being written.
pub(crate) struct Template<'a> {
    message: &'a FinalMessage<'a>,
    /// The provider's word for how the turn ended.
    stop: &'a str,
    own_id: String,
    text: String,
    model: String,
    part: Part,
    number: u32,
    written: String,
}

/// The text, or a call.
#[derive(Clone, Copy)]
pub(crate) struct Part {
    at: usize,
    call: Option<usize>,
}

impl Part {
    pub fn is_call(self) -> bool {
        self.call.is_some()
    }
}

// `inline(never)`: every dialect calls these functions, and inlined copies would make the module large.
impl<'a> Template<'a> {
    /// The pair is the provider's word for a turn that ended, and for a turn that waits for calls. `id` is the prefix
    /// of an id that the provider does not keep.
    #[inline(never)]
    pub fn new(message: &'a FinalMessage<'a>, [done, calling]: [&'a str; 2], id: &str) -> Self {
        let own_id = if message.kept_as.is_empty() {
            format!("{id}{:016x}", message.id)
        } else {
            message.kept_as.to_owned()
        };
        Self {
            message,
            stop: if message.calls.is_empty() { done } else { calling },
            own_id: quoted(&own_id),
            text: quoted(message.text),
            model: quoted(message.model),
            part: Part { at: 0, call: None },
            number: 0,
            written: String::new(),
        }
    }

    /// Whether there is a text. Calls may come without one.
    pub fn has_text(&self) -> bool {
        self.message.calls.is_empty() || !self.message.text.is_empty()
    }

    /// The parts of the message.
    #[inline(never)]
    pub fn parts(&self) -> Vec<Part> {
        let calls = (0..self.message.calls.len()).map(Some);
        let all = self.has_text().then_some(None).into_iter().chain(calls);
        all.enumerate().map(|(at, call)| Part { at, call }).collect()
    }

    #[inline(never)]
    pub fn add(&mut self, template: &str) {
        let mut pieces = template.split('$');
        self.written += pieces.next().unwrap_or_default();
        for piece in pieces {
            let end = piece.find(|c: char| !c.is_ascii_lowercase() && c != '_').unwrap_or(piece.len());
            let (name, rest) = piece.split_at_checked(end).unwrap_or_default();
            self.value(name);
            self.written += rest;
        }
    }

    /// Adds the template only if tokens came from the provider's cache.
    pub fn add_cached(&mut self, template: &str) {
        if self.message.usage.cached > 0 {
            self.add(template);
        }
    }

    /// Adds each part, separated by `between`.
    #[inline(never)]
    pub fn add_parts(&mut self, text: &str, call: &str, between: &str) {
        for part in self.parts() {
            if part.at > 0 {
                self.add(between);
            }
            self.add_part(part, text, call);
        }
    }

    #[inline(never)]
    pub fn add_part(&mut self, part: Part, text: &str, call: &str) {
        self.part = part;
        self.add(if part.is_call() { call } else { text });
    }

    /// Adds each call with these pieces, separated by `between`.
    #[inline(never)]
    pub fn add_calls(&mut self, pieces: &[&str], between: &str) {
        for (number, part) in self.parts().into_iter().filter(|part| part.is_call()).enumerate() {
            if number > 0 {
                self.add(between);
            }
            self.part = part;
            self.add_all(pieces);
        }
    }

    #[inline(never)]
    pub fn add_all(&mut self, pieces: &[&str]) {
        pieces.iter().for_each(|piece| self.add(piece));
    }

    /// Returns what was written since the last call.
    pub fn take(&mut self) -> String {
        std::mem::take(&mut self.written)
    }

    fn value(&mut self, name: &str) {
        let FinalMessage { id, created, usage, calls, .. } = self.message;
        let input = usage.input.saturating_add(usage.cached);
        let call_at = self.part.call.unwrap_or_default();
        let call = calls.get(call_at);
        let arguments = call.map_or("{}", |call| &call.arguments);
        let out = &mut self.written;
        let number = match name {
            "text" => return out.push_str(&self.text),
            "model" => return out.push_str(&self.model),
            "own_id" => return out.push_str(&self.own_id),
            "stop" => return out.push_str(self.stop),
            "name" => return out.push_str(&quoted(call.map_or("", |call| &call.name))),
            // Line ends in the arguments separate members. They are removed, because a line of a stream must stay one
            // line.
            "arguments" => return out.extend(arguments.chars().filter(|c| !matches!(c, '\n' | '\r'))),
            "quoted" => return out.push_str(&quoted(arguments)),
            "id" | "call" => {
                // Writing to a string does not fail.
                let _ = write!(out, "{id:016x}");
                if name == "call" {
                    let _ = write!(out, "{call_at:04x}");
                }
                return;
            }
            "created" => *created,
            "input" => usage.input,
            "all_input" => input,
            "cached" => usage.cached,
            "output" => usage.output,
            "total" => input.saturating_add(usage.output),
            "at" => u64::try_from(self.part.at).unwrap_or_default(),
            "call_at" => u64::try_from(call_at).unwrap_or_default(),
            "number" => {
                let number = self.number;
                self.number = number.saturating_add(1);
                u64::from(number)
            }
            // An unknown name is written as it is. Every test of the template would show it.
            _ => return out.extend(["$", name]),
        };
        let _ = write!(out, "{number}");
    }
}
