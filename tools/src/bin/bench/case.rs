//! What is measured: requests of one kind that take one way through the filter.

use crate::conversation::{self, Ending};

const CHAT: &str = "/v1/chat/completions";

/// Requests of one kind.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its name in tables, such as "local path".
    pub way: &'static str,
    /// Body, in kB.
    pub kb: usize,
    pub ending: Ending,
    pub path: &'static str,
    /// Prefix of the agent's id, which selects the settings in `rival.rs`. If it is empty, no agent is named.
    pub agent: &'static str,
    /// Each request has an agent of its own, so the service is asked.
    pub asks_service: bool,
    /// The expected `x-sentinel-verdict`. `None` if the filter does not inspect the request.
    pub verdict: Option<&'static str>,
    /// The bypass that the filter must count.
    pub bypass: Option<&'static str>,
    /// Number of simultaneous keep-alive connections.
    pub connections: usize,
}

impl Case {
    pub fn body(&self) -> String {
        conversation::body(self.kb * 1024, self.ending)
    }

    pub fn name(&self) -> String {
        let connections =
            if self.connections > 1 { format!(", {} connections", self.connections) } else { String::new() };
        format!("{}, {} kB{connections}", self.way, self.kb)
    }

    /// Several connections at once.
    fn at_once(self, connections: usize) -> Self {
        Self { connections, ..self }
    }
}

pub const LOCAL: &str = "local path";
pub const SERVICE: &str = "service path";
pub const LONG: &str = "service path, long prompt";

/// A new prompt of a known agent, which the window alone judges.
fn local(kb: usize) -> Case {
    Case {
        way: LOCAL,
        kb,
        ending: Ending::Prompt { more: 0 },
        path: CHAT,
        agent: "local-",
        asks_service: false,
        verdict: Some("allow"),
        bypass: None,
        connections: 1,
    }
}

/// The first prompt of an agent, for which the service is asked.
fn service(kb: usize) -> Case {
    Case { way: SERVICE, agent: "asking-", asks_service: true, ..local(kb) }
}

/// Warms up the Envoys.
pub fn warm_up() -> Case {
    local(16).at_once(8)
}

/// Measures the use of the machine.
pub fn resources() -> [Case; 2] {
    [local(16).at_once(8), service(16).at_once(8)]
}

/// All cases, in the order of measuring.
pub fn all() -> Vec<Case> {
    let mut cases = vec![local(1), local(16), local(256), service(1), service(16), service(256)];
    cases.push(Case { way: LONG, ending: Ending::Prompt { more: 16_384 }, ..service(256) });
    for kb in [16, 256] {
        cases.extend(steps(kb));
    }
    cases.extend([1, 16, 256].map(|kb| local(kb).at_once(8)));
    cases.push(service(16).at_once(8));
    cases
}

/// The local path in steps. Each step does what the one before does and more; the last is `local` itself.
fn steps(kb: usize) -> [Case; 3] {
    [
        Case { way: STEPS[0], path: "/v1/embeddings", verdict: None, ..local(kb) },
        Case { way: STEPS[1], agent: "", bypass: Some("no_identity"), ..local(kb) },
        Case { way: STEPS[2], ending: Ending::ToolResult, ..local(kb) },
    ]
}

/// Bodies of the three target sizes, in kB.
pub const SIZES: [usize; 3] = [1, 16, 256];

/// Cases for processor time: a path that is not inspected, and a run that goes on with a tool result.
pub fn processor(kb: usize) -> [Case; 2] {
    let [passed, _, step] = steps(kb);
    [Case { ending: Ending::ToolResult, ..passed }, step]
}

/// Requests with given bodies, each from an agent of its own.
pub fn hostile(path: &'static str) -> Case {
    Case { way: "hostile body", path, agent: "hostile-", asks_service: true, verdict: None, ..local(1_024) }
}

pub const STEPS: [&str; 3] =
    ["path not inspected", "no identity: read, not remembered", "tool step: no new prompt"];
