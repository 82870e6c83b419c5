//! Stop: an operator has stopped this run, agent, client or tenant.

use sentinel_detect::verdict::{Finding, Signal, Verdict};

use super::{McpSeen, Seen};
use crate::{
    case::{Case, McpCase},
    host::Facts,
    turn::Names,
};

/// Finds requests of a run, agent or tenant that was stopped.
pub fn run(seen: &Seen<'_, '_>, case: &mut Case) {
    case.findings.extend(finding(case.names.as_ref(), seen.host));
}

/// The same for a request to an MCP server.
pub fn of_mcp(seen: &McpSeen<'_>, case: &mut McpCase) {
    case.findings.extend(finding(case.names.as_ref(), seen.host));
}

/// The finding about these names. Returns `None` when no name is known, or none was stopped.
pub fn finding(names: Option<&Names>, host: &dyn Facts) -> Option<Finding> {
    let (names, directives) = (names?, host.directives());
    // Reading the clock costs a call of the host.
    let stop = if directives.has_stops() { directives.stop(names, host.now())? } else { return None };
    Some(Finding { tool: stop.reason.clone(), ..Finding::of(Signal::Stopped, Verdict::Kill) })
}
