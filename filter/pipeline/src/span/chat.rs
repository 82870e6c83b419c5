//! The call of the model as a span, and the span of the run once the agent has what it was asked for.

use sentinel_config::Config;
use sentinel_detect::verdict::{Signal, Verdict};
use sentinel_llm_api::answer::Answer;

use super::{Cause, Span};
use crate::{host::Facts, identity::Scope, note::Note, shared_data::change_window};

/// What the span of a call needs to know of its request.
#[derive(Clone, Copy, Debug)]
pub struct Chat {
    pub(super) invocation: u32,
    pub(super) id: u64,
    /// Milliseconds since 1970.
    pub(super) began: u64,
    pub(super) cause: Option<Cause>,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The agent has what it asked for.
    Text,
    /// The agent has calls to do, or it is not known what it has.
    Calls,
    /// Agent Sentinel or an operator has stopped it.
    Killed(Option<Signal>),
    /// With this status.
    Error(u16),
    ClientGone,
}

impl Ended {
    /// How a call with this status and this answer ended.
    pub fn of(status: u16, has_succeeded: bool, answer: Option<&Answer>) -> Self {
        match answer {
            _ if !has_succeeded => Self::Error(status),
            Some(answer) if answer.calls.is_empty() => Self::Text,
            _ => Self::Calls,
        }
    }

    /// What `error.type` says.
    fn error(self) -> Option<String> {
        match self {
            Self::Text | Self::Calls => None,
            Self::Killed(Some(Signal::Stopped)) => Some("sentinel_stop".to_owned()),
            Self::Killed(_) => Some("sentinel_kill".to_owned()),
            Self::Error(status) => Some(status.to_string()),
            Self::ClientGone => Some("client_gone".to_owned()),
        }
    }

    /// How the run has ended, in the words of control. Returns `None` when it goes on, or its SDK may send the request again.
    fn status(self) -> Option<&'static str> {
        match self {
            Self::Calls | Self::Error(0 | 408 | 409 | 429 | 500..) => None,
            Self::Text => Some("done"),
            Self::Killed(Some(Signal::Stopped)) => Some("stopped"),
            Self::Killed(_) => Some("killed"),
            Self::Error(_) | Self::ClientGone => Some("failed"),
        }
    }
}

impl Chat {
    /// The span of the call, by this dialect and of this model.
    pub fn span(
        &self,
        scope: &Scope,
        dialect: &str,
        model: &str,
        answer: Option<&Answer>,
        ended: Ended,
        now: u64,
    ) -> Span {
        let (operation, provider) = conventions(dialect);
        let run = Span::of_run(scope, self.invocation, self.began, now.max(self.began));
        let mut span = run.below(self.id, format!("{operation} {model}"));
        (span.is_call, span.cause) = (true, self.cause);
        span.attributes.extend([
            ("gen_ai.operation.name", operation.into()),
            ("gen_ai.provider.name", provider.into()),
            ("gen_ai.request.model", model.into()),
        ]);
        if let Some(answer) = answer {
            if !answer.model.is_empty() {
                span.attributes.push(("gen_ai.response.model", answer.model.clone().into()));
            }
            let usage = &answer.usage;
            span.attributes.extend([
                ("gen_ai.usage.input_tokens", usage.input.saturating_add(usage.cached).into()),
                ("gen_ai.usage.cache_read.input_tokens", usage.cached.into()),
                ("gen_ai.usage.output_tokens", usage.output.into()),
            ]);
        }
        span.failed(ended)
    }
}

impl Span {
    fn failed(mut self, ended: Ended) -> Self {
        let error = ended.error();
        self.is_failure = error.is_some();
        self.attributes.extend(error.map(|error| ("error.type", error.into())));
        self
    }
}

/// The span of the run, if what the agent was asked for has ended, and this was not told before.
pub fn end(
    host: &dyn Facts,
    config: &Config,
    scope: &Scope,
    notes: &mut Vec<Note>,
    ended: Ended,
) -> Option<Span> {
    let status = ended.status()?;
    let now = host.now();
    let (began, invocation) = change_window(host, config, scope, now, notes, |window| {
        (std::mem::take(&mut window.invoked), window.invocations)
    });
    let mut span = (began > 0).then(|| Span::of_run(scope, invocation, began, now.max(began)))?;
    span.attributes
        .extend([("gen_ai.operation.name", "invoke_agent".into()), ("sentinel.status", status.into())]);
    let span = span.failed(ended);
    Some(match ended {
        Ended::Killed(signal) => span.with_verdict(Verdict::Kill, signal),
        _ => span,
    })
}

/// `gen_ai.operation.name` and `gen_ai.provider.name` of a dialect. Other providers speak OpenAI's dialects too, so this names the format.
fn conventions(dialect: &str) -> (&'static str, &'static str) {
    match dialect {
        "anthropic" => ("chat", "anthropic"),
        "bedrock" => ("chat", "aws.bedrock"),
        "gemini" | "gemini_interactions" => ("generate_content", "gcp.gemini"),
        "vertex_anthropic" => ("chat", "gcp.vertex_ai"),
        _ => ("chat", "openai"),
    }
}
