//! A provider that the user names by its URL, instead of the mock: what `make up PROVIDER=...` puts into the demo bootstrap.
//! What must not live here: the mock (`provider/`).

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use hyper::Uri;

use crate::bootstrap::Bootstrap;

/// Where Debian and others have the authorities that sign certificates.
const ROOTS: &str = "/etc/ssl/certs/ca-certificates.crt";

/// Scheme, host and path of `PROVIDER`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RealProvider {
    tls: bool,
    host: String,
    port: u16,
    path: String,
}

impl RealProvider {
    /// From `https://api.openai.com`, `http://localhost:11434/v1` and the like.
    ///
    /// # Errors
    ///
    /// A sentence that says what is wrong with it and what to write.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = |what: &str| {
            format!("PROVIDER is {text:?}: {what}. Write it like PROVIDER=https://api.openai.com")
        };
        let uri: Uri = text.trim().parse().map_err(|error| wrong(&format!("it is no URL ({error})")))?;
        let tls = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err(wrong("it begins with neither https:// nor http://")),
        };
        let authority = uri.authority().ok_or_else(|| wrong("it has no host"))?;
        if authority.as_str().contains('@') {
            return Err(wrong("a key does not belong into it; it stays with your agent"));
        }
        if uri.query().is_some() {
            return Err(wrong("it has a query"));
        }
        let host = authority.host().trim_matches(['[', ']']).to_owned();
        if host.is_empty() {
            return Err(wrong("it has no host"));
        }
        let port = authority.port_u16().unwrap_or(if tls { 443 } else { 80 });
        Ok(Self { tls, host, port, path: uri.path().trim_end_matches('/').to_owned() })
    }

    /// As it is said to people.
    pub fn url(&self) -> String {
        format!("{}://{}{}", if self.tls { "https" } else { "http" }, self.authority(), self.path)
    }

    /// What the agent's SDK is given as its base URL: the same path, at Envoy.
    pub fn base_url(&self, listener: SocketAddr) -> String {
        format!("http://{listener}{}", self.path)
    }

    /// The environment variable by which the SDK of this provider learns its base URL, and its value.
    pub fn sdk_setting(&self, listener: SocketAddr) -> String {
        let base = self.base_url(listener);
        match self.host.as_str() {
            host if host.ends_with("anthropic.com") => format!("ANTHROPIC_BASE_URL={base}"),
            "generativelanguage.googleapis.com" => format!("GOOGLE_GEMINI_BASE_URL={base}"),
            // OpenAI's SDKs, and all that are like them, want the path up to the version.
            _ if self.path.is_empty() => format!("OPENAI_BASE_URL={base}/v1"),
            _ => format!("OPENAI_BASE_URL={base}"),
        }
    }

    /// Leads the demo bootstrap to it. Paths, queries, keys and bodies pass as they are. `roots`: the authorities to trust.
    pub fn lead(&self, bootstrap: &mut Bootstrap, roots: &Path) {
        bootstrap.replace(
            "cluster: provider\n",
            &format!(
                "cluster: provider\n                            host_rewrite_literal: {:?}\n",
                self.authority()
            ),
        );
        bootstrap.cluster("provider", &self.cluster(roots));
    }

    /// The authority as HTTP clients write it: without the port that belongs to the scheme.
    fn authority(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        if self.port == if self.tls { 443 } else { 80 } { host } else { format!("{host}:{}", self.port) }
    }

    fn cluster(&self, roots: &Path) -> String {
        let Self { tls, host, port, .. } = self;
        let mut cluster = format!(
            r#"    - name: provider
      type: LOGICAL_DNS
      dns_lookup_family: V4_PREFERRED
      connect_timeout: 5s
      per_connection_buffer_limit_bytes: 4194304
      load_assignment:
        cluster_name: provider
        endpoints:
          - lb_endpoints:
              - endpoint: {{address: {{socket_address: {{address: {host:?}, port_value: {port}}}}}}}
"#
        );
        if *tls {
            let kind = if host.parse::<std::net::IpAddr>().is_ok() { "IP_ADDRESS" } else { "DNS" };
            cluster.push_str(&format!(
                r#"      typed_extension_protocol_options:
        envoy.extensions.upstreams.http.v3.HttpProtocolOptions:
          "@type": type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions
          auto_config: {{http2_protocol_options: {{connection_keepalive: {{interval: 30s, timeout: 10s}}}}}}
      transport_socket:
        name: envoy.transport_sockets.tls
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext
          sni: {host:?}
          common_tls_context: {{validation_context: {{
            trusted_ca: {{filename: {roots:?}}},
            match_typed_subject_alt_names: [{{san_type: {kind}, matcher: {{exact: {host:?}}}}}]}}}}
"#,
            ));
        }
        cluster
    }
}

/// The file of authorities: what `SSL_CERT_FILE` names, or the system's own.
pub fn roots() -> PathBuf {
    std::env::var_os("SSL_CERT_FILE")
        .filter(|given| !given.is_empty())
        .map_or_else(|| PathBuf::from(ROOTS), PathBuf::from)
}

/// What `make up` says when the stack is up: five lines, each something to do.
pub fn next_steps(
    listener: SocketAddr,
    admin: SocketAddr,
    log: &Path,
    provider: Option<&RealProvider>,
) -> [String; 5] {
    let base = provider.map_or_else(|| format!("http://{listener}"), |real| real.base_url(listener));
    let setting = provider.map_or_else(
        || {
            format!(
                "OPENAI_BASE_URL={base}/v1   # or ANTHROPIC_BASE_URL={base}, GOOGLE_GEMINI_BASE_URL={base}"
            )
        },
        |real| real.sdk_setting(listener),
    );
    let see = match provider {
        None => format!(
            "see a loop stopped:    for i in 1 2 3 4 5; do curl -s -o /dev/null -D - {base}/v1/chat/completions \
             -H 'content-type: application/json' -H 'x-agent-id: me' -H 'x-run-id: 1' -d '{{\"model\": \"m\", \
             \"messages\": [{{\"role\": \"user\", \"content\": \"How do I reset my password?\"}}]}}' | grep -i verdict; done"
        ),
        Some(_) => {
            "read the verdict:      each answer has the header x-sentinel-verdict: allow, hint or kill"
                .to_owned()
        }
    };
    [
        format!("point your agent here: export {setting}"),
        "name its runs:         send the headers x-agent-id and x-run-id with each request".to_owned(),
        see,
        format!(
            "count the verdicts:    curl -s http://{admin}/stats/prometheus | grep ^sentinel_verdicts_total"
        ),
        format!("read Envoy's log:      tail -f {}   (Ctrl-C here ends the stack)", log.display()),
    ]
}
