//! One configuration of the plugin: reads it, makes a context for each request, and sends their spans off.

use std::{rc::Rc, sync::Arc, time::Duration};

use proxy_wasm::{
    hostcalls,
    traits::{Context, HttpContext, RootContext},
    types::{ContextType, LogLevel},
};
use sentinel_pipeline::{config::Config, fail_open};

use crate::{
    envoy::Contexts,
    metrics::Metrics,
    request_context::RequestContext,
    shared_secret::SharedSecret,
    spans::{self, Spans},
};

/// How long spans wait to be sent together.
const TICK: Duration = Duration::from_secs(1);
/// How long the collector may take.
const EXPORT_TIMEOUT: Duration = Duration::from_secs(10);

#[derive(Default)]
pub struct ConfigContext {
    /// What Envoy calls it.
    id: u32,
    config: Option<Arc<Config>>,
    metrics: Rc<Metrics>,
    spans: Rc<Spans>,
    secret: Rc<SharedSecret>,
    /// The collector did not take the last spans.
    is_cut_off: bool,
}

impl ConfigContext {
    pub fn new(id: u32) -> Self {
        Self { id, ..Self::default() }
    }

    /// Says once, not every second, that spans are lost.
    fn sent(&mut self, is_taken: bool) {
        if !is_taken && !self.is_cut_off {
            let line = "agent sentinel: the cluster of `traces.cluster` does not take spans; they are lost until it does";
            let _ = hostcalls::log(LogLevel::Warn, line);
        }
        self.is_cut_off = !is_taken;
    }
}

impl Context for ConfigContext {
    fn on_grpc_call_response(&mut self, _call: u32, status: u32, _size: usize) {
        self.sent(status == 0);
    }
}

/// Stores what has to be there before two workers look for it at once. What is there stays: this runs in each worker, and
/// again after a reload.
fn prepare_slots() {
    for (key, bytes) in fail_open::slots() {
        if !matches!(hostcalls::get_shared_data(&key), Ok((Some(_), _))) {
            let _ = hostcalls::set_shared_data(&key, Some(&bytes), None);
        }
    }
}

impl RootContext for ConfigContext {
    /// False makes Envoy refuse the configuration.
    fn on_configure(&mut self, _size: usize) -> bool {
        let json = self.get_plugin_configuration().unwrap_or_default();
        match Config::from_json(&json) {
            Ok(config) => {
                if config.collector.is_some() {
                    self.set_tick_period(TICK);
                }
                SharedSecret::draw();
                prepare_slots();
                self.config = Some(Arc::new(config));
                true
            }
            Err(error) => {
                // A log that fails leaves nothing else to tell.
                let _ = hostcalls::log(LogLevel::Critical, &format!("agent sentinel: {error}"));
                false
            }
        }
    }

    fn create_http_context(&self, id: u32) -> Option<Box<dyn HttpContext>> {
        let config = self.config.clone()?;
        let (metrics, spans, secret) =
            (Rc::clone(&self.metrics), Rc::clone(&self.spans), Rc::clone(&self.secret));
        let contexts = Contexts { request: id, root: self.id };
        Some(Box::new(RequestContext::new(config, contexts, metrics, spans, secret)))
    }

    fn on_tick(&mut self) {
        let Some(collector) = self.config.as_ref().and_then(|config| config.collector.clone()) else {
            return;
        };
        let Some(message) = self.spans.take() else { return };
        let call = self.dispatch_grpc_call(
            &collector,
            spans::SERVICE,
            spans::EXPORT,
            Vec::new(),
            Some(&message),
            EXPORT_TIMEOUT,
        );
        if call.is_err() {
            self.sent(false);
        }
    }

    fn get_type(&self) -> Option<ContextType> {
        Some(ContextType::HttpContext)
    }
}
