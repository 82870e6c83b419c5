//! One configuration of the plugin: reads it, makes a context for each request, and calls the worker from time to time.

use std::{collections::HashMap, rc::Rc, time::Duration};

use proxy_wasm::{
    hostcalls,
    traits::{Context, HttpContext, RootContext},
    types::{ContextType, LogLevel},
};
use sentinel_config::Config;
use sentinel_host::{call, per_worker::PerWorker, shared};
use sentinel_pipeline::{
    host::{Background, BackgroundMessage, Level, Process},
    metric::Metric,
    service_outcome::ServiceOutcome,
    worker::{MessageKind, Worker},
};

use crate::{
    calls::{self, Envoys},
    request_context::RequestContext,
};

pub struct ConfigContext {
    /// Its id in Envoy.
    id: u32,
    shared: Option<Rc<PerWorker>>,
    /// Calls of the worker that have no reply yet.
    sent: HashMap<u32, MessageKind>,
}

impl ConfigContext {
    pub fn new(id: u32) -> Self {
        Self { id, shared: None, sent: HashMap::new() }
    }

    fn worker(&mut self, event: impl FnOnce(&mut Worker, &mut Outbox<'_>)) {
        let Some(shared) = &self.shared else { return };
        let mut outbox = Outbox { shared, sent: &mut self.sent };
        shared.with(&mut outbox, event);
    }
}

/// Envoy outside of any request.
struct Outbox<'a> {
    shared: &'a PerWorker,
    sent: &'a mut HashMap<u32, MessageKind>,
}

impl Background for Outbox<'_> {
    fn send(&mut self, message: BackgroundMessage) -> Result<(), ServiceOutcome> {
        let (kind, call) = call::background(&self.shared.config, message);
        self.sent.insert(calls::send(&call)?, kind);
        Ok(())
    }

    fn process(&self) -> &dyn Process {
        &Envoys
    }

    fn count(&mut self, metric: Metric, by: u64) {
        calls::count(self.shared, metric, by);
    }

    fn log(&mut self, level: Level, line: &str) {
        calls::log(level, line);
    }
}

impl Context for ConfigContext {
    fn on_grpc_call_response(&mut self, call: u32, status: u32, size: usize) {
        // Nobody waits for the reply to a stored answer.
        let Some(kind) = self.sent.remove(&call) else { return };
        let reply = calls::reply(status, size);
        let reply = call::background_reply(kind, reply.as_deref().map_err(|outcome| *outcome));
        self.worker(|worker, outbox| worker.on_reply(reply, outbox));
    }
}

impl RootContext for ConfigContext {
    /// False makes Envoy refuse the configuration.
    fn on_configure(&mut self, _size: usize) -> bool {
        let json = self.get_plugin_configuration().unwrap_or_default();
        match Config::from_json(&json) {
            Ok(config) => {
                shared::prepare(&Envoys);
                let worker = PerWorker::new(config, &json, calls::define);
                if let Some(tick) = worker.tick() {
                    self.set_tick_period(Duration::from_millis(tick));
                }
                if let Some(warning) = worker.warning() {
                    calls::log(Level::Warn, warning);
                }
                self.shared = Some(Rc::new(worker));
                true
            }
            Err(error) => {
                // If the log fails, there is no other place to report it.
                let _ = hostcalls::log(LogLevel::Critical, &format!("agent sentinel: {error}"));
                false
            }
        }
    }

    fn create_http_context(&self, id: u32) -> Option<Box<dyn HttpContext>> {
        Some(Box::new(RequestContext::new(id, self.id, Rc::clone(self.shared.as_ref()?))))
    }

    fn on_tick(&mut self) {
        self.worker(|worker, outbox| worker.on_tick(outbox));
    }

    fn get_type(&self) -> Option<ContextType> {
        Some(ContextType::HttpContext)
    }
}
