//! The rivals: the same Envoy without the filter and with it, or with several builds of it. They share the bootstrap,
//! the number of workers, the provider and the service.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sentinel_harness::bootstrap::Bootstrap;
use sentinel_harness::envoy::Envoy;
use sentinel_harness::metrics::Metrics;
use sentinel_harness::parts;
use serde_json::Value;

use crate::usage;

/// The shipped configuration, plus agents whose prompts only the window judges, and agents that are never stopped.
const CONFIG: &str = r#"{"mode": "enforce", "cluster": "embedding_service", "timeout": "50ms", "similarity_threshold": 0.95,
    "agents": [{"prefix": "local-", "settings": {"semantic": {"enabled": false}}},
        {"prefix": "hostile-", "settings": {"semantic": {"enabled": false}, "mode": "observe"}}]}"#;

pub struct Rival {
    pub name: String,
    /// Size of the module in bytes. `None` without the filter.
    pub module: Option<u64>,
    envoy: Envoy,
    /// Its process.
    id: u32,
}

impl Rival {
    pub fn without(folder: &Path, provider: u16, service: &Path) -> Self {
        Self::start("without", folder, provider, service, None, CONFIG)
    }

    /// `module`: the filter, built for wasm32-wasip1.
    pub fn with(name: &str, folder: &Path, provider: u16, service: &Path, module: PathBuf) -> Self {
        Self::start(name, folder, provider, service, Some(module), CONFIG)
    }

    /// The filter with these fields above the configuration.
    pub fn configured(name: &str, folder: &Path, provider: u16, service: &Path, more: &Value) -> Self {
        let mut config: Value = serde_json::from_str(CONFIG).expect("the configuration is JSON");
        for (field, value) in more.as_object().into_iter().flatten() {
            config[field] = value.clone();
        }
        Self::start(name, folder, provider, service, Some(parts::filter()), &config.to_string())
    }

    fn start(
        name: &str,
        folder: &Path,
        provider: u16,
        service: &Path,
        module: Option<PathBuf>,
        config: &str,
    ) -> Self {
        let mut bootstrap = Bootstrap::shipped("demo.yaml");
        bootstrap.replace("address: 127.0.0.1, port_value: 9901", "address: 127.0.0.1, port_value: 0");
        bootstrap.replace("address: 127.0.0.1, port_value: 10000", "address: 127.0.0.1, port_value: 0");
        bootstrap.provider(provider);
        bootstrap.service(service);
        // The kernel may give one worker all connections, and distribute them differently in both Envoys.
        bootstrap.replace(
            "      per_connection_buffer_limit_bytes: 4194304\n",
            "      per_connection_buffer_limit_bytes: 4194304\n      connection_balance_config: {exact_balance: {}}\n",
        );
        match &module {
            Some(module) => {
                bootstrap.module(module);
                bootstrap.config(config);
            }
            None => cut_filter(&mut bootstrap),
        }
        let folder = folder.join(name);
        fs::create_dir_all(&folder).expect("a folder for Envoy");
        let mut envoy = Envoy::start(&folder, &bootstrap);
        let id = envoy.process().id();
        let module = module.map(|path| fs::metadata(path).expect("the module is there").len());
        Self { name: name.to_owned(), module, envoy, id }
    }

    pub fn address(&self) -> SocketAddr {
        self.envoy.address()
    }

    pub fn id(&self) -> u32 {
        self.id
    }

    /// Processor time of this Envoy since it started.
    pub fn busy(&self) -> Duration {
        usage::busy(self.id)
    }

    pub fn metrics(&self) -> Metrics {
        self.envoy.metrics()
    }
}

/// Takes the filter out of the bootstrap; all else stays.
fn cut_filter(bootstrap: &mut Bootstrap) {
    let text = bootstrap.text();
    let begin = text.find("                  - name: sentinel\n").expect("the bootstrap has the filter");
    // Upgrades have a router of their own before it.
    let length = text[begin..]
        .find("                  - name: envoy.filters.http.router\n")
        .expect("the bootstrap has a router");
    let filter = text[begin..begin + length].to_owned();
    bootstrap.replace(&filter, "");
}
