//! Requests that go out over HTTP: events by webhook, and the questions of the command-line client. HTTPS trusts what the system trusts.

use std::sync::Arc;

use ureq::{
    config::{Config, ConfigBuilder},
    tls::{Certificate, RootCerts, TlsConfig},
    typestate::AgentScope,
};

/// Settings to go on from: no redirects, and every status is an answer.
pub fn config(is_https: bool) -> ConfigBuilder<AgentScope> {
    let config = Config::builder().max_redirects(0).http_status_as_error(false);
    if !is_https {
        return config;
    }
    let found = rustls_native_certs::load_native_certs();
    let roots = found.certs.iter().map(|root| Certificate::from_der(root.as_ref()).to_owned()).collect();
    let tls = TlsConfig::builder().root_certs(RootCerts::Specific(Arc::new(roots)));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    config.tls_config(tls.unversioned_rustls_crypto_provider(provider).build())
}
