//! Changes server-sent events while they pass. The lines of an event wait for its data; all other lines pass at once.

use std::borrow::Cow;

use super::{
    MARK,
    rewrite::{EventRewrite, JsonEnd},
};

#[derive(Debug, Default)]
pub(super) struct Events {
    /// The beginning of a line that matters.
    line: Vec<u8>,
    /// The lines of an event before its data, or before the end of its JSON.
    fields: Vec<u8>,
    /// The JSON of an event that goes on in its next line of data.
    begun: String,
    end: JsonEnd,
    /// A line that does not matter is passing.
    is_mid_line: bool,
    /// The data of an event have passed, and the empty line behind it has not.
    is_open: bool,
    /// The empty line of a dropped event is to be dropped.
    drops_end: bool,
    /// The last line ended with a carriage return, to which a line feed may belong.
    is_after_return: bool,
    /// The line with the event name for inserted events, and the line ending.
    pattern: Vec<u8>,
    has_returns: bool,
}

const DATA: &[u8] = b"data:";
const EVENT: &[u8] = b"event:";

impl Events {
    pub fn held(&self) -> usize {
        self.line.len().saturating_add(self.fields.len())
    }

    pub fn push(&mut self, part: &[u8], change: &mut dyn EventRewrite, passed: &mut Vec<u8>) {
        let Some(last) = part.last() else { return };
        let mut part = part;
        let is_after_return = std::mem::replace(&mut self.is_after_return, *last == b'\r');
        if let Some(rest) = part.strip_prefix(b"\n").filter(|_| is_after_return) {
            part = rest;
            if !self.drops_end {
                let place = if self.fields.is_empty() { &mut *passed } else { &mut self.fields };
                place.push(b'\n');
            }
        }
        while let Some(line) = first_line(&mut part) {
            let is_whole = line.ends_with(b"\n") || line.ends_with(b"\r");
            if self.is_mid_line {
                passed.extend_from_slice(line);
                self.is_mid_line = !is_whole;
                continue;
            }
            self.line.extend_from_slice(line);
            if is_whole {
                let line = std::mem::take(&mut self.line);
                self.take(&line, change, passed);
            }
        }
        if self.fields.is_empty() && !self.line.is_empty() && !is_field(&self.line) {
            self.drops_end = false;
            self.is_mid_line = true;
            passed.append(&mut self.line);
        }
    }

    /// Nothing more changes. The last line of a whole answer may lack its end.
    pub fn end(mut self, is_whole: bool, change: &mut dyn EventRewrite, passed: &mut Vec<u8>) {
        let line = std::mem::take(&mut self.line);
        let is_done = is_whole && self.data(&line, change, passed);
        self.put(&change.rest(), passed);
        passed.append(&mut self.fields);
        if !is_done {
            passed.extend(line);
        }
    }

    fn take(&mut self, line: &[u8], change: &mut dyn EventRewrite, passed: &mut Vec<u8>) {
        if matches!(line, b"\n" | b"\r" | b"\r\n") {
            self.is_open = false;
            self.begun.clear();
            self.end = JsonEnd::default();
            if !self.drops_end {
                passed.append(&mut self.fields);
                passed.extend_from_slice(line);
            }
            return;
        }
        self.drops_end = false;
        if self.data(line, change, passed) {
        } else if self.fields.is_empty() && !is_field(line) {
            passed.extend_from_slice(line);
        } else {
            self.fields.extend_from_slice(line);
        }
    }

    /// Whether it is a line of data, which passes, waits for the rest of its JSON, or is replaced.
    fn data(&mut self, line: &[u8], change: &mut dyn EventRewrite, passed: &mut Vec<u8>) -> bool {
        let (mark, field) = without_mark(line);
        let Some(data) = field.strip_prefix(DATA) else { return false };
        // As clients read bytes that are no UTF-8.
        let data = String::from_utf8_lossy(data);
        let text = data.trim_start();
        let json = text.trim_end();
        let start = data.get(..data.len().saturating_sub(text.len())).unwrap_or_default();
        let end = text.get(json.len()..).unwrap_or_default();
        // Clients join the lines of data of an event.
        if self.end.find(json.as_bytes()).is_none() && self.end.is_within() {
            self.begun.extend([json, "\n"]);
            self.fields.extend_from_slice(line);
            return true;
        }
        self.end = JsonEnd::default();
        let begun = std::mem::take(&mut self.begun);
        let whole = if begun.is_empty() { Cow::Borrowed(json) } else { Cow::Owned(begun + json) };
        let changed = change.event("", &whole);
        self.put(&changed.before, passed);
        if changed.is_pattern {
            self.pattern = kept(&self.fields, EVENT, true);
            self.has_returns = end.starts_with('\r');
        }
        if changed.is_dropped {
            self.fields.clear();
            self.drops_end = true;
            return true;
        }
        match changed.json {
            None => {
                passed.append(&mut self.fields);
                passed.extend_from_slice(line);
            }
            Some(changed) => {
                passed.extend(kept(&std::mem::take(&mut self.fields), DATA, false));
                passed.extend(
                    [mark, DATA, start.as_bytes(), in_one_line(changed).as_bytes(), end.as_bytes()].concat(),
                );
            }
        }
        self.is_open = true;
        true
    }

    /// Inserts events.
    fn put(&mut self, events: &[String], passed: &mut Vec<u8>) {
        let end: &[u8] = if self.has_returns { b"\r\n" } else { b"\n" };
        for json in events {
            if std::mem::take(&mut self.is_open) {
                let is_mid_line = passed.last().is_some_and(|byte| *byte != b'\n');
                passed.extend_from_slice(if is_mid_line { end } else { b"" });
                passed.extend_from_slice(end);
            }
            passed.extend(
                [self.pattern.as_slice(), DATA, b" ", in_one_line(json.clone()).as_bytes(), end, end]
                    .concat(),
            );
        }
    }
}

/// Replaces line breaks in JSON, which are white space there, because they would end a line of data.
fn in_one_line(json: String) -> String {
    if json.contains(['\r', '\n']) { json.replace(['\r', '\n'], " ") } else { json }
}

/// Takes the first line with its end: any of the three that there are.
#[inline(never)]
fn first_line<'a>(part: &mut &'a [u8]) -> Option<&'a [u8]> {
    let end = part.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(part.len());
    let is_pair = part.get(end..).is_some_and(|end| end.starts_with(b"\r\n"));
    let length = end.saturating_add(if is_pair { 2 } else { 1 }).min(part.len());
    let (line, rest) = part.split_at_checked(length)?;
    *part = rest;
    (!line.is_empty()).then_some(line)
}

/// The lines that begin so, or all others.
#[inline(never)]
fn kept(mut lines: &[u8], begin: &[u8], begins: bool) -> Vec<u8> {
    let mut kept = Vec::new();
    while let Some(line) = first_line(&mut lines) {
        if without_mark(line).1.starts_with(begin) == begins {
            kept.extend_from_slice(line);
        }
    }
    kept
}

/// The byte order mark that may stand before the first line, and the line.
#[inline(never)]
fn without_mark(line: &[u8]) -> (&[u8], &[u8]) {
    line.split_at_checked(MARK.len()).filter(|(mark, _)| *mark == MARK).unwrap_or((b"", line))
}

/// Whether a line that begins like this may belong to an event with data, or end one.
fn is_field(line: &[u8]) -> bool {
    let fields: [&[u8]; 4] = [DATA, EVENT, b"id:", b"retry:"];
    let (_, line) = without_mark(line);
    MARK.starts_with(line) || fields.iter().any(|field| line.starts_with(field) || field.starts_with(line))
}
