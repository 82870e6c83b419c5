//! Answers of every dialect that have a text, whole and in pieces, and how a client reads them.

use std::sync::LazyLock;

use sentinel_llm_api::{answer_reader::AnswerReader, registry::by_label};
use sentinel_wire::Dialect as Wire;

pub struct Dialect {
    pub wire: Wire,
    pub path: &'static str,
    pub request: String,
    /// The content type of a stream.
    pub content_type: &'static str,
}

pub static DIALECTS: LazyLock<Vec<Dialect>> = LazyLock::new(|| {
    let dialect = |wire: Wire| Dialect {
        wire,
        path: wire.path(true),
        request: wire.ask("What is it worth?", true).to_string(),
        content_type: wire.stream_type(),
    };
    Wire::ALL.into_iter().map(dialect).collect()
});

impl Dialect {
    pub fn label(&self) -> &'static str {
        self.wire.label()
    }

    pub fn whole(&self, text: &str) -> String {
        self.wire.sample(text)
    }

    pub fn frames(&self, pieces: &[&str]) -> Vec<Vec<u8>> {
        self.wire.sample_frames(pieces)
    }

    /// What a client reads: the text, and the arguments of the call.
    pub fn read(&self, content_type: &str, answer: &[u8]) -> (String, String) {
        let mut reader = AnswerReader::new(by_label(self.label()).unwrap(), content_type.as_bytes()).unwrap();
        reader.push(answer);
        let mut answer = reader.into_answer().unwrap();
        (answer.text, answer.calls.pop().map(|call| call.arguments).unwrap_or_default())
    }
}
