//! The one place where a verdict becomes bytes: edits of the original request, or a reply in the provider's place.

use sentinel_config::{Config, KillMode, Policy};
use sentinel_detect::verdict::{Finding, Signal};
use sentinel_llm_api::{
    dialect::{DialectRef, FinalMessage, LocalReply, Position},
    edit::{self, Edit},
    framing::Framing,
    mcp::{Request, invalid, reply},
    usage::Usage,
};
use sentinel_text::digest_pair;

use crate::{case::Case, decide::Decision, identity::Scope, messages, record};

/// The body with the edits of the case and the hint. Returns `None` when there are no edits, or they do not fit together.
pub fn edited(case: &Case, hint: Option<&Edit>) -> Option<Vec<u8>> {
    let edits: Vec<Edit> = case.edits.iter().chain(hint).cloned().collect();
    let body = std::str::from_utf8(&case.body).ok().filter(|_| !edits.is_empty())?;
    edit::apply(body, &edit::settled(&edits))
}

/// The edit that puts the hint in. Returns `None` when the body has no place for it.
pub fn hint(case: &Case, decision: &Decision) -> Option<Edit> {
    let text = messages::hint(case, decision);
    let is_about_prompts = decision
        .finding
        .as_ref()
        .is_none_or(|finding| matches!(finding.signal, Signal::Score | Signal::Semantic));
    if is_about_prompts {
        return case.hint_places.beside(case.policy.hint.position).map(|slot| slot.edit(&text));
    }
    // The hint goes behind the last result. If that has no place for it, or is cut, it goes behind all messages.
    let in_result = case.hint_places.in_result.as_ref().map(|slot| slot.edit(&text));
    in_result
        .filter(|hint| edit::stays(&case.edits, hint))
        .or_else(|| case.hint_places.beside(Position::End).map(|slot| slot.edit(&text)))
}

/// What a reply in the provider's place needs to know of the request.
#[derive(Clone, Copy, Debug)]
pub struct ReplyContext<'a> {
    pub dialect: DialectRef,
    pub policy: &'a Policy,
    pub scope: &'a Scope,
    pub model: &'a str,
    /// How the client expects the answer.
    pub framing: Framing,
    pub include_usage: bool,
    /// Milliseconds since 1970.
    pub arrived: u64,
}

/// The reply to the agent in the answer's place.
#[inline(never)]
pub fn kill(asked: ReplyContext<'_>, decision: &Decision) -> LocalReply {
    let ReplyContext { dialect, scope, model, framing, include_usage, arrived, .. } = asked;
    let policy = &asked.policy.kill;
    if decision.refuses() {
        return dialect.refusal(policy.status, &messages::refusal(decision));
    }
    let text = messages::kill(asked.policy, decision);
    match policy.mode {
        KillMode::Error => dialect.error(policy.status, &text),
        KillMode::FinalMessage => dialect.final_message(&FinalMessage {
            text: &text,
            calls: &[],
            model,
            framing,
            id: digest_pair(scope.id(), arrived),
            kept_as: "",
            usage: Usage::default(),
            created: arrived.checked_div(1_000).unwrap_or(0),
            include_usage,
        }),
    }
}

/// The answer to a request to an MCP server, in the server's place: status and body.
#[derive(Debug)]
pub struct McpAnswer(pub u16, String);

impl McpAnswer {
    /// `requests`: those that are answered, each on its own. `None` if they cannot be read.
    pub fn of(config: &Config, requests: Option<&[Request<'_>]>, is_batch: bool, finding: &Finding) -> Self {
        let message = messages::not_executed(config, finding);
        match requests {
            // Nobody waits for an answer, so the reply is empty.
            Some([]) => Self(202, String::new()),
            Some(requests) => Self(200, reply(requests, is_batch, &message, config.mcp.answer)),
            None => Self(400, invalid(&message)),
        }
    }

    /// The same as the last event of a stream.
    pub fn event(&self) -> String {
        format!("event: message\ndata: {}\n\n", self.1)
    }
}

/// The reply to the agent in the answer's place.
pub fn mcp(config: &Config, answer: McpAnswer, decision: &Decision) -> LocalReply {
    let McpAnswer(status, body) = answer;
    let mut reply = LocalReply::new(status, Framing::Json, body);
    if config.response_headers {
        reply.headers.extend(record::verdict_headers(config, decision));
    }
    reply
}
