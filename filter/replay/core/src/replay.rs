//! Replays one run: the requests that its agent must have sent, one before each assistant turn, until it is killed. A `Way`
//! decides whether they go through the core alone or through Envoy.

use sentinel_wire::Dialect;

use crate::dialect;
use crate::history::{MessageContent, RecordedMessage, RecordedRun};

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RequestVerdict {
    /// It passed without being looked at.
    Bypassed,
    Allow,
    Hint,
    Kill,
}

/// A verdict and, where it is not `allow`, the filter's words for it: signal, count, tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgedRequest {
    pub verdict: RequestVerdict,
    pub reason: String,
}

/// A way for requests to go.
pub trait Way {
    /// Sends a request of the run; `answer` is what the provider says where the request gets there.
    fn send(&mut self, run: &str, body: String, answer: String) -> JudgedRequest;
}

/// A request of a run and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentRequest {
    /// Messages in its history. The next message of the run is the turn that it asked for.
    pub history: usize,
    pub judged: JudgedRequest,
}

/// What became of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replayed {
    /// In order; nothing comes after a kill.
    pub sent: Vec<SentRequest>,
    /// Where there was a hint or a kill: what became of the request in which the user then says something new.
    pub after_user: Option<JudgedRequest>,
}

impl JudgedRequest {
    /// From the filter's two headers.
    pub fn new(verdict: Option<&str>, reason: Option<&str>) -> Self {
        let verdict = match verdict {
            None => RequestVerdict::Bypassed,
            Some("hint") => RequestVerdict::Hint,
            Some("kill") => RequestVerdict::Kill,
            Some(_) => RequestVerdict::Allow,
        };
        Self { verdict, reason: reason.unwrap_or_default().to_owned() }
    }

    pub fn signal(&self) -> &str {
        self.reason.split(';').next().unwrap_or_default()
    }

    /// A number of the reason: `count=3`.
    pub fn number(&self, name: &str) -> Option<usize> {
        let mut fields = self.reason.split(';').filter_map(|field| field.trim().split_once('='));
        fields.find(|(known, _)| *known == name)?.1.parse().ok()
    }
}

impl Replayed {
    pub fn first(&self, verdict: RequestVerdict) -> Option<&SentRequest> {
        self.sent.iter().find(|sent| sent.judged.verdict == verdict)
    }

    /// The first hint, or the kill where there was none before it.
    pub fn flagged(&self) -> Option<&SentRequest> {
        self.sent.iter().find(|sent| sent.judged.verdict >= RequestVerdict::Hint)
    }
}

/// A text that no run has said.
const NEW_WORD: &str = "Please stop here and tell me in two sentences how far you have come.";

/// `name` is the run's, for the filter; no other run of this way may have it.
pub fn replay(run: &RecordedRun, name: &str, dialect: Dialect, way: &mut dyn Way) -> Replayed {
    let mut replayed = Replayed::default();
    for (at, turn) in run.messages.iter().enumerate().filter(|(_, message)| message.is_assistant()) {
        let history = &run.messages[..at];
        // An agent that begins by itself has sent no request before its first turn.
        if history.iter().all(|message| matches!(message.said, MessageContent::Instruction(_))) {
            continue;
        }
        let body = dialect::request(dialect, history);
        let judged = way.send(name, body, dialect::answer(dialect, turn));
        let ends = judged.verdict == RequestVerdict::Kill;
        replayed.sent.push(SentRequest { history: at, judged });
        if ends {
            break;
        }
    }
    let last = replayed.sent.iter().rev().find(|sent| sent.judged.verdict >= RequestVerdict::Hint);
    if let Some(last) = last {
        let mut history = run.messages[..last.history].to_vec();
        history.push(RecordedMessage::new(MessageContent::User(NEW_WORD.to_owned())));
        let answer = RecordedMessage::new(MessageContent::Assistant {
            text: "This is how far.".to_owned(),
            calls: Vec::new(),
        });
        let body = dialect::request(dialect, &history);
        replayed.after_user = Some(way.send(name, body, dialect::answer(dialect, &answer)));
    }
    replayed
}
