//! The Envoy filter: Envoy's callbacks go to the pipeline, whose host port is implemented by calls of the proxy-wasm ABI.
//! Nothing is decided here. The only crate that knows proxy-wasm.

mod abi;
mod calls;
mod config_context;
mod envoy;
mod request_context;

use config_context::ConfigContext;
use proxy_wasm::{traits::RootContext, types::LogLevel};

proxy_wasm::main! {{
    proxy_wasm::set_log_level(LogLevel::Info);
    proxy_wasm::set_root_context(|id| -> Box<dyn RootContext> { Box::new(ConfigContext::new(id)) });
}}
