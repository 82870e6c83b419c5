//! The phases of one request: which event matters in which phase, and which phase follows.
//!
//! ```text
//! Idle ─headers─► Reading ─body─► (Asking ─reply─►) Passing ─response─► Done
//! ```
//! Every fault on the way leads to `Passing` or `Done` with the request unchanged.

use sentinel_config::Config;
use std::{mem, sync::Arc};

use crate::{
    bypass::Bypass,
    control::ReserveReply,
    host::{Host, ServiceReply},
    inspect::{self, Next, Waiting},
    metric::RequestStatus,
    request_head::{self, Opened, RequestHead, RequestLabels},
    response::Passing,
    service_outcome::ServiceOutcome,
    unread::{Unread, unread},
};

/// One request.
#[derive(Debug)]
pub struct Request {
    config: Arc<Config>,
    phase: Phase,
    /// Present until the request is counted.
    counted: Option<RequestLabels>,
}

#[derive(Debug)]
enum Phase {
    Idle,
    /// The body is being held until it is whole.
    Reading(Box<RequestHead>),
    /// The embedding service has been asked, and the request is held.
    Asking(Waiting),
    /// The request has gone on; the response is read as it passes.
    Passing(Passing),
    Done,
}

impl Phase {
    fn passing(response: Option<Passing>) -> Self {
        response.map_or(Self::Done, Self::Passing)
    }
}

impl From<Next> for Phase {
    fn from(next: Next) -> Self {
        match next {
            Next::Await(waiting) => Self::Asking(waiting),
            Next::Pass(response) => Self::Passing(response),
            Next::Answered | Next::Served | Next::End => Self::Done,
        }
    }
}

impl Request {
    pub fn new(config: Arc<Config>) -> Self {
        Self { config, phase: Phase::Idle, counted: None }
    }

    pub fn on_request_headers(&mut self, host: &mut impl Host, end_of_stream: bool) {
        let opened = request_head::open(&self.config, host, end_of_stream);
        let Some(Opened { counted, head, unfit }) = opened else {
            self.phase = Phase::Done;
            return;
        };
        self.counted = Some(counted);
        self.phase = match unfit {
            None => Phase::Reading(Box::new(head)),
            Some(cause) => {
                let next = unread(&self.config, &head, cause, Unread::Part(0), host);
                self.follow(next, host)
            }
        };
    }

    /// `held`: bytes of the body that the host holds so far.
    pub fn on_request_body(&mut self, host: &mut impl Host, held: usize, end_of_stream: bool) {
        let head = match &mut self.phase {
            Phase::Reading(head) => head,
            Phase::Asking(waiting) => return waiting.passes(held),
            Phase::Passing(Passing::Model(response)) => return response.request_passes(held),
            _ => return,
        };
        if held > self.config.max_body {
            let next = unread(&self.config, head, Bypass::TooLarge, Unread::Part(held), host);
            self.phase = self.follow(next, host);
        } else if end_of_stream {
            self.inspect(host);
        } else {
            host.hold();
        }
    }

    /// The body is over, though no body event said so.
    pub fn on_request_trailers(&mut self, host: &mut impl Host) {
        self.inspect(host);
    }

    fn inspect(&mut self, host: &mut impl Host) {
        self.phase = match mem::replace(&mut self.phase, Phase::Done) {
            Phase::Reading(head) => {
                let next = inspect::whole(&self.config, *head, host);
                self.follow(next, host)
            }
            other => other,
        };
    }

    /// The answer to `Host::ask`.
    pub fn on_service_reply(&mut self, host: &mut impl Host, reply: Result<ServiceReply, ServiceOutcome>) {
        self.phase = match mem::replace(&mut self.phase, Phase::Done) {
            Phase::Asking(Waiting::Model(case)) => {
                let next = inspect::answered(&self.config, case, reply, host);
                self.follow(next, host)
            }
            other => other,
        };
    }

    /// The answer to `Host::reserve`.
    pub fn on_reservation(&mut self, host: &mut impl Host, reply: Result<ReserveReply, ServiceOutcome>) {
        self.phase = match mem::replace(&mut self.phase, Phase::Done) {
            Phase::Asking(waiting) => {
                let next = inspect::granted(&self.config, waiting, reply, host);
                self.follow(next, host)
            }
            other => other,
        };
    }

    fn follow(&mut self, next: Next, host: &mut impl Host) -> Phase {
        match next {
            Next::Answered => self.count(RequestStatus::Stopped, host),
            // Counted like the provider's own answer.
            Next::Served => self.count(RequestStatus::Class(2), host),
            Next::Await(_) | Next::Pass(_) | Next::End => {}
        }
        next.into()
    }

    /// Each request is counted once, as soon as it is known how it ended.
    fn count(&mut self, status: RequestStatus, host: &mut impl Host) {
        if let Some(counted) = self.counted.take() {
            counted.count(status, host);
        }
    }

    pub fn on_response_headers(&mut self, host: &mut impl Host, end_of_stream: bool) {
        if self.counted.is_some() {
            let status = host.response_header(":status").unwrap_or_default();
            self.count(RequestStatus::of_answer(&status), host);
        }
        let phase = match mem::replace(&mut self.phase, Phase::Done) {
            Phase::Asking(waiting) if waiting.has_gone_on() => {
                let next = inspect::overtaken(&self.config, waiting, host);
                self.follow(next, host)
            }
            other => other,
        };
        self.phase = match phase {
            Phase::Passing(response) => Phase::passing(response.headers(&self.config, end_of_stream, host)),
            other => other,
        };
    }

    pub fn on_response_body(&mut self, host: &mut impl Host, end_of_stream: bool) {
        self.phase = match mem::replace(&mut self.phase, Phase::Done) {
            Phase::Passing(response) => Phase::passing(response.body(&self.config, end_of_stream, host)),
            other => other,
        };
    }

    pub fn on_response_trailers(&mut self, host: &mut impl Host) {
        if let Phase::Passing(response) = mem::replace(&mut self.phase, Phase::Done) {
            response.whole(&self.config, host);
        }
    }

    /// Nothing more will come. The client may have gone before the end.
    pub fn on_closed(&mut self, host: &mut impl Host) {
        self.count(RequestStatus::Unanswered, host);
        match mem::replace(&mut self.phase, Phase::Done) {
            Phase::Asking(waiting) => {
                host.cancel();
                inspect::abandoned(waiting, host);
            }
            Phase::Passing(response) => response.cut_off(&self.config, host),
            Phase::Idle | Phase::Reading(_) | Phase::Done => {}
        }
    }

    /// Whether the response is needed. If not, the host need not call for it.
    pub fn awaits_response(&self) -> bool {
        self.counted.is_some() || matches!(&self.phase, Phase::Passing(_) | Phase::Asking(_))
    }
}
