//! Changes server-sent events while they pass. The lines of an event wait for its data; all other lines pass at once.

use super::rewrite::Change;

#[derive(Debug, Default)]
pub(super) struct Events {
    /// The beginning of a line that matters.
    line: Vec<u8>,
    /// The lines of an event before its data.
    fields: Vec<u8>,
    /// A line that does not matter is passing.
    is_mid_line: bool,
    /// The data of an event have passed, and the empty line behind it has not.
    is_open: bool,
    /// The empty line of a dropped event is to be dropped.
    drops_end: bool,
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

    pub fn push(&mut self, part: &[u8], change: &mut dyn Change, passed: &mut Vec<u8>) {
        for line in part.split_inclusive(|byte| *byte == b'\n') {
            let is_whole = line.ends_with(b"\n");
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
            self.is_mid_line = true;
            passed.append(&mut self.line);
        }
    }

    /// Nothing more changes. The last line of a whole answer may lack its end.
    pub fn end(mut self, is_whole: bool, change: &mut dyn Change, passed: &mut Vec<u8>) {
        let line = std::mem::take(&mut self.line);
        if is_whole && self.data(&line, change, passed) {
            self.put(&change.rest(), passed);
            return;
        }
        self.put(&change.rest(), passed);
        passed.append(&mut self.fields);
        passed.extend(line);
    }

    fn take(&mut self, line: &[u8], change: &mut dyn Change, passed: &mut Vec<u8>) {
        if matches!(line, b"\n" | b"\r\n") {
            self.is_open = false;
            if !std::mem::take(&mut self.drops_end) {
                passed.append(&mut self.fields);
                passed.extend_from_slice(line);
            }
        } else if self.data(line, change, passed) {
        } else if self.fields.is_empty() && !is_field(line) {
            passed.extend_from_slice(line);
        } else {
            self.fields.extend_from_slice(line);
        }
    }

    /// Whether it is a line of data that passes unchanged, or what replaces it.
    fn data(&mut self, line: &[u8], change: &mut dyn Change, passed: &mut Vec<u8>) -> bool {
        let Some(data) = line.strip_prefix(DATA).and_then(|data| std::str::from_utf8(data).ok()) else {
            return false;
        };
        let begun = data.trim_start();
        let json = begun.trim_end();
        let start = data.get(..data.len().saturating_sub(begun.len())).unwrap_or_default();
        let end = begun.get(json.len()..).unwrap_or_default();
        let changed = change.event("", json);
        self.put(&changed.before, passed);
        if changed.is_pattern {
            let lines = self.fields.split_inclusive(|byte| *byte == b'\n');
            self.pattern = lines.filter(|line| line.starts_with(EVENT)).collect::<Vec<_>>().concat();
            self.has_returns = end.starts_with('\r');
        }
        if changed.is_dropped {
            self.fields.clear();
            self.drops_end = true;
            return true;
        }
        passed.append(&mut self.fields);
        match changed.json {
            None => passed.extend_from_slice(line),
            Some(changed) => {
                passed.extend(
                    [DATA, start.as_bytes(), in_one_line(changed).as_bytes(), end.as_bytes()].concat(),
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

/// Whether a line that begins like this may belong to an event with data, or end one.
fn is_field(line: &[u8]) -> bool {
    let fields: [&[u8]; 4] = [DATA, EVENT, b"id:", b"retry:"];
    line == b"\r" || fields.iter().any(|field| line.starts_with(field) || field.starts_with(line))
}
