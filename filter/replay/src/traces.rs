//! Reads a file of runs: JSON lines `{id, source, label, messages}`. A line that cannot be replayed ends the program with its
//! number and its fault, because an evaluation of half a file would look like one of the whole file.

use std::fs;
use std::io::Read;
use std::path::Path;

use flate2::read::MultiGzDecoder;
use sentinel_replay_core::history::RecordedRun;
use sentinel_replay_core::line;

/// What a file begins with that gzip has packed.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// What a file holds.
#[derive(Debug, Default)]
pub struct Traces {
    pub runs: Vec<RecordedRun>,
    /// Parts of messages that are no text (images and the like): only the chat dialect carries them.
    pub other_parts: usize,
}

pub fn read(path: &Path) -> Result<Traces, String> {
    let unreadable = |error: std::io::Error| {
        format!("{}: {error}. Give the path of a file of runs, one JSON object a line.", path.display())
    };
    let mut bytes = fs::read(path).map_err(unreadable)?;
    if bytes.starts_with(&GZIP) {
        let mut plain = Vec::new();
        MultiGzDecoder::new(bytes.as_slice()).read_to_end(&mut plain).map_err(unreadable)?;
        bytes = plain;
    }
    let mut traces = Traces::default();
    for (number, text) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
        let at = |problem: String| format!("{}, line {number}: {problem}", path.display());
        let text = std::str::from_utf8(text).map_err(|error| at(format!("not UTF-8 ({error}).")))?.trim();
        if text.is_empty() {
            continue;
        }
        let (run, other_parts) = line::run(text).map_err(at)?;
        traces.runs.push(run);
        traces.other_parts += other_parts;
    }
    if traces.runs.is_empty() {
        return Err(format!("{} holds no run: give a file with one JSON object a line.", path.display()));
    }
    Ok(traces)
}

#[cfg(test)]
mod tests {
    use sentinel_replay_core::history::{MessageContent, RecordedCall};

    use super::*;

    fn file(text: &str) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().expect("a file");
        fs::write(file.path(), text).expect("it is written");
        file
    }

    const RUN: &str = r#"{"id":"a","source":"s","label":"healthy","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"}]}"#;

    #[test]
    fn a_run_is_read_with_everything_that_it_says() {
        let line = r#"{"id":7,"source":"s","label":"odd","more":1,"messages":[
            {"role":"developer","content":"be brief"},
            {"role":"user","content":[{"type":"text","text":"look"},{"type":"image_url","image_url":{"url":"x"}},{"type":"text","text":"here"}]},
            {"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}}]},
            {"role":"tool","tool_call_id":"1","content":"done"},
            {"role":"assistant","content":"so","function_call":{"name":"g","arguments":{"a":1}}},
            {"role":"function","name":"g","content":"more"}]}"#;
        let file = file(&line.replace('\n', ""));
        let traces = read(file.path()).expect("a run");
        let said: Vec<MessageContent> =
            traces.runs[0].messages.iter().map(|message| message.said.clone()).collect();
        let call = |id: &str, name: &str, arguments: &str| RecordedCall {
            id: id.into(),
            name: name.into(),
            arguments: arguments.into(),
        };
        let result = |call: &str, name: &str, text: &str| MessageContent::Result {
            call: call.into(),
            name: name.into(),
            text: text.into(),
        };
        assert_eq!(
            said,
            [
                MessageContent::Instruction("be brief".into()),
                MessageContent::User("look\nhere".into()),
                MessageContent::Assistant { text: String::new(), calls: vec![call("1", "f", "{}")] },
                result("1", "f", "done"),
                MessageContent::Assistant {
                    text: "so".into(),
                    calls: vec![call("function-1", "g", r#"{"a":1}"#)]
                },
                result("function-1", "g", "more"),
            ]
        );
        assert_eq!((traces.other_parts, traces.runs[0].id.as_str()), (1, "7"));
    }

    #[test]
    fn a_packed_file_is_read() {
        use std::io::Write;
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packer.write_all(RUN.as_bytes()).expect("it is packed");
        let file = tempfile::NamedTempFile::new().expect("a file");
        fs::write(file.path(), packer.finish().expect("it is packed")).expect("it is written");
        assert_eq!(read(file.path()).expect("a run").runs.len(), 1);
        fs::write(file.path(), GZIP).expect("it is written");
        assert!(read(file.path()).is_err());
    }

    #[test]
    fn a_broken_line_is_named() {
        for (broken, says) in [
            ("{", "not JSON"),
            ("[]", "not a run"),
            (r#"{"id":"a","source":"s","messages":[]}"#, "label"),
            (r#"{"id":[],"source":"s","label":"l","messages":[]}"#, "`id`"),
            (r#"{"id":"a","source":"s","label":"l","messages":[]}"#, "nothing to replay"),
            (
                r#"{"id":"a","source":"s","label":"l","messages":[{"role":"user","content":"x"},{"role":"cat"}]}"#,
                "messages[1]",
            ),
            (r#"{"id":"a","source":"s","label":"l","messages":[{"role":"user","content":5}]}"#, "`content`"),
        ] {
            let file = file(&format!("{RUN}\n\n{broken}\n"));
            let said = read(file.path()).expect_err(broken);
            assert!(said.contains("line 3: ") && said.contains(says), "{broken}: {said}");
        }
    }

    #[test]
    fn a_file_without_runs_is_refused() {
        assert!(read(file("\n \n").path()).expect_err("no run").contains("holds no run"));
        assert!(read(Path::new("/nowhere/at/all")).expect_err("no file").contains("/nowhere/at/all"));
    }
}
