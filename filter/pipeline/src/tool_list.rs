//! An MCP server's list of tools on its way to the agent: without those that the agent may not use.

use std::sync::Arc;

use sentinel_config::Policy;
use sentinel_llm_api::{framing::rewrite::Rewriter, mcp::restricted_list};

use crate::{
    bypass::Bypass,
    fail_open,
    host::Host,
    metric::{DeniedTool, Enforced, MCP, Metric},
};

/// A response that may hold a list of tools.
#[derive(Debug)]
pub struct ToolList {
    policy: Arc<Policy>,
    /// Bytes that may be held.
    most: usize,
    /// The answer can be changed.
    rewriter: Option<Rewriter>,
}

impl ToolList {
    pub fn new(policy: Arc<Policy>, most: usize) -> Self {
        Self { policy, most, rewriter: None }
    }

    pub fn reads(&self) -> bool {
        self.rewriter.is_some()
    }

    pub fn headers(mut self: Box<Self>, end_of_stream: bool, host: &mut impl Host) -> Option<Box<Self>> {
        if end_of_stream {
            return None;
        }
        let is_plain = host.response_header("content-encoding").is_none();
        let content_type = host.response_header("content-type").unwrap_or_default();
        self.rewriter = if is_plain { Rewriter::new(&content_type, self.most) } else { None };
        if self.rewriter.is_none() {
            fail_open::bypassed(Bypass::Response, host);
            return None;
        }
        // It may become shorter.
        host.remove_response_header("content-length");
        Some(self)
    }

    pub fn body(mut self: Box<Self>, end_of_stream: bool, host: &mut impl Host) -> Option<Box<Self>> {
        let Self { policy, rewriter, .. } = &mut *self;
        let part = host.response_chunk().unwrap_or_default();
        let mut denied = 0_usize;
        let mut change = |json: &str| {
            let (left, tools) = restricted_list(json, &|name, _| policy.tools.may(name))?;
            denied = denied.saturating_add(tools.len());
            Some(left)
        };
        let passed = rewriter.as_mut().and_then(|rewriter| rewriter.push(&part, end_of_stream, &mut change));
        drop(part);
        if let Some(passed) = passed {
            host.replace_response_chunk(&passed);
        }
        if denied > 0 {
            let metric = Metric::ToolsDenied(DeniedTool::Offered, MCP, Enforced(true));
            host.count(metric, u64::try_from(denied).unwrap_or(0));
        }
        (!end_of_stream).then_some(self)
    }
}
