//! One configuration of the plugin: reads it, and makes a context for each request.

use std::{rc::Rc, sync::Arc};

use proxy_wasm::{
    hostcalls,
    traits::{Context, HttpContext, RootContext},
    types::{ContextType, LogLevel},
};
use sentinel_core::config::Config;

use crate::{metrics::Metrics, request_context::RequestContext};

#[derive(Default)]
pub struct ConfigContext {
    config: Option<Arc<Config>>,
    metrics: Rc<Metrics>,
}

impl Context for ConfigContext {}

impl RootContext for ConfigContext {
    /// False makes Envoy refuse the configuration.
    fn on_configure(&mut self, _size: usize) -> bool {
        let json = self.get_plugin_configuration().unwrap_or_default();
        match Config::from_json(&json) {
            Ok(config) => {
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

    fn create_http_context(&self, _id: u32) -> Option<Box<dyn HttpContext>> {
        let config = self.config.clone()?;
        Some(Box::new(RequestContext::new(config, Rc::clone(&self.metrics))))
    }

    fn get_type(&self) -> Option<ContextType> {
        Some(ContextType::HttpContext)
    }
}
