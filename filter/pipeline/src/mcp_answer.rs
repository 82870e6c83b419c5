//! The answer of an MCP server on its way to the agent. A list of tools is changed if the agent may not use all of them. An
//! answer ends if an operator stops the agent. Of other answers only the status and the end are of interest, for the turn that
//! ends with them.

use sentinel_config::Config;
use sentinel_llm_api::{
    framing::{Framing, passing::PassingFrames},
    mcp::Request,
};

use crate::{
    case::McpCase,
    decide::{Decision, stopping},
    host::{Host, number},
    record,
    render::{self, McpAnswer},
    tool_list::ToolList,
    turn::{End, Turn},
};

/// An answer that is awaited or passing.
#[derive(Debug)]
pub struct PassingAnswer {
    list: Option<Box<ToolList>>,
    turn: Option<Box<Turn>>,
    asked: Option<Box<McpCaller>>,
    /// An operator has stopped it: nothing more of it passes.
    is_stopped: bool,
}

/// Who waits for the answer, and for what. Only known if turns are reported, because only then can somebody be stopped.
#[derive(Debug)]
pub struct McpCaller {
    pub case: McpCase,
    /// The ids of the requests, as they stand in them.
    pub ids: Vec<String>,
    pub is_batch: bool,
    /// Present for a stream that can be ended.
    pub frames: Option<PassingFrames>,
}

impl McpCaller {
    /// Why the answer must end, if an operator has stopped it.
    fn stop(&self, host: &impl Host) -> Option<Decision> {
        stopping(self.case.names.as_ref(), &self.case.policy, host)
    }

    /// What the agent gets in the answer's place.
    fn answer(&self, config: &Config, decision: &Decision) -> Option<McpAnswer> {
        let requests: Vec<Request<'_>> = self.ids.iter().map(|id| Request { id, call: None }).collect();
        let finding = decision.finding.as_ref()?;
        Some(McpAnswer::of(config, Some(&requests), self.is_batch, finding))
    }

    /// What passes in place of this part, and why, if an operator has stopped the answer.
    fn end(&mut self, config: &Config, part: &[u8], host: &impl Host) -> Option<(Vec<u8>, Decision)> {
        let decision = self.frames.as_ref().and_then(|_| self.stop(host));
        let frames = self.frames.as_mut()?;
        let Some(decision) = decision else {
            frames.pass(part);
            return None;
        };
        let mut ended = part.get(..frames.finish_frame(part)?)?.to_vec();
        ended.extend(self.answer(config, &decision)?.event().into_bytes());
        Some((ended, decision))
    }
}

impl PassingAnswer {
    /// Returns `None` if the answer is of no interest.
    pub fn of(
        list: Option<Box<ToolList>>,
        turn: Option<Box<Turn>>,
        asked: Option<Box<McpCaller>>,
    ) -> Option<Self> {
        let is_wanted = list.is_some() || turn.is_some() || asked.is_some();
        is_wanted.then_some(Self { list, turn, asked, is_stopped: false })
    }

    fn reads(&self) -> bool {
        self.turn.is_some() || self.list.as_ref().is_some_and(|list| list.reads()) || self.can_end()
    }

    fn can_end(&self) -> bool {
        self.asked.as_ref().is_some_and(|asked| asked.frames.is_some())
    }

    pub fn headers(
        mut self: Box<Self>,
        config: &Config,
        end_of_stream: bool,
        host: &mut impl Host,
    ) -> Option<Box<Self>> {
        let status = host.response_header(":status").unwrap_or_default();
        if let Some(turn) = &mut self.turn {
            turn.status = number(&status).unwrap_or(0);
        }
        if self.answers_instead(config, host) {
            return None;
        }
        // A list is held, and soon over. An answer that tells its length cannot end sooner.
        if let Some(asked) = &mut self.asked
            && self.list.is_none()
            && ["content-encoding", "content-length"].iter().all(|name| host.response_header(name).is_none())
        {
            let content_type = host.response_header("content-type").unwrap_or_default();
            asked.frames = Framing::of(&content_type).and_then(PassingFrames::of);
        }
        self.list = self.list.take().and_then(|list| list.headers(end_of_stream, host));
        self.goes_on(end_of_stream, host)
    }

    /// Nothing of the answer has gone to the agent yet. If an operator has stopped the agent, it gets another answer, as if it
    /// had asked now.
    fn answers_instead(&mut self, config: &Config, host: &mut impl Host) -> bool {
        let Some(asked) = &self.asked else { return false };
        let Some(decision) = asked.stop(host) else { return false };
        let Some(answer) = asked.answer(config, &decision) else { return false };
        let status = answer.0;
        if let Some(turn) = &mut self.turn {
            turn.status = status;
        }
        self.stopped(config, &decision, host);
        host.reply(render::mcp(config, answer, &decision));
        true
    }

    pub fn body(
        mut self: Box<Self>,
        config: &Config,
        end_of_stream: bool,
        host: &mut impl Host,
    ) -> Option<Box<Self>> {
        if self.is_stopped {
            host.replace_response_chunk(b"");
            return (!end_of_stream).then_some(self);
        }
        if self.can_end()
            && let Some(asked) = &mut self.asked
        {
            let part = host.response_chunk().unwrap_or_default();
            let ended = asked.end(config, &part, host);
            drop(part);
            if let Some((passed, decision)) = ended {
                host.replace_response_chunk(&passed);
                self.stopped(config, &decision, host);
                return (!end_of_stream).then_some(self);
            }
        }
        self.list = self.list.take().and_then(|list| list.body(end_of_stream, host));
        self.goes_on(end_of_stream, host)
    }

    #[inline(never)]
    fn stopped(&mut self, config: &Config, decision: &Decision, host: &mut impl Host) {
        self.is_stopped = true;
        if let Some(asked) = &self.asked {
            record::stopped(config, asked.case.subject(), decision, host);
        }
        if let Some(turn) = &mut self.turn {
            turn.judged(decision);
            turn.end = End::Error;
        }
        self.end(host);
    }

    #[inline(never)]
    fn goes_on(mut self: Box<Self>, end_of_stream: bool, host: &mut impl Host) -> Option<Box<Self>> {
        if end_of_stream {
            self.end(host);
        }
        (!end_of_stream && self.reads()).then_some(self)
    }

    /// The answer is over, though no part of it said so.
    pub fn whole(mut self, host: &mut impl Host) {
        self.end(host);
    }

    /// The answer was cut off before its end.
    pub fn cut_off(mut self, host: &mut impl Host) {
        if let Some(turn) = &mut self.turn {
            turn.end = End::ClientGone;
        }
        self.end(host);
    }

    #[inline(never)]
    fn end(&mut self, host: &mut impl Host) {
        let Some(mut turn) = self.turn.take() else { return };
        turn.duration = host.now().saturating_sub(turn.at);
        turn.is_under_way = false;
        host.report(*turn);
    }
}
