//! The answer of an MCP server on its way to the agent. A list of tools is changed where the agent may not use all; of other answers
//! only their status and their end are of interest, for the turn that ends with them.

use crate::{
    host::{Host, number},
    tool_list::ToolList,
    turn::{End, Turn},
};

/// An answer that is awaited or passing.
#[derive(Debug)]
pub struct PassingAnswer {
    list: Option<Box<ToolList>>,
    turn: Option<Box<Turn>>,
}

impl PassingAnswer {
    /// Nothing where nobody wants to know of it.
    pub fn of(list: Option<Box<ToolList>>, turn: Option<Box<Turn>>) -> Option<Self> {
        (list.is_some() || turn.is_some()).then_some(Self { list, turn })
    }

    pub fn reads(&self) -> bool {
        self.turn.is_some() || self.list.as_ref().is_some_and(|list| list.reads())
    }

    pub fn headers(mut self: Box<Self>, end_of_stream: bool, host: &mut impl Host) -> Option<Box<Self>> {
        if let Some(turn) = &mut self.turn {
            let status = host.response_header(":status").unwrap_or_default();
            turn.status = number(&status).unwrap_or(0);
        }
        self.list = self.list.take().and_then(|list| list.headers(end_of_stream, host));
        self.goes_on(end_of_stream, host)
    }

    pub fn body(mut self: Box<Self>, end_of_stream: bool, host: &mut impl Host) -> Option<Box<Self>> {
        self.list = self.list.take().and_then(|list| list.body(end_of_stream, host));
        self.goes_on(end_of_stream, host)
    }

    #[inline(never)]
    fn goes_on(mut self: Box<Self>, end_of_stream: bool, host: &mut impl Host) -> Option<Box<Self>> {
        if end_of_stream {
            self.end(host);
        }
        (self.list.is_some() || self.turn.is_some()).then_some(self)
    }

    /// It is over, though no part of it said so.
    pub fn whole(mut self, host: &mut impl Host) {
        self.end(host);
    }

    /// It ended before its end.
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
