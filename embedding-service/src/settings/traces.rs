//! The settings of traces: the standard variables of OpenTelemetry.

use tonic::codegen::http::Uri;

use super::{
    parse::{SettingError, invalid, non_empty},
    raw::RawSettings,
};
use crate::trace::CollectorOptions;

/// `None` where no collector is named.
pub(super) fn collector(raw: &RawSettings) -> Result<Option<CollectorOptions>, SettingError> {
    let Some(endpoint) = non_empty(&raw.otlp_endpoint) else { return Ok(None) };
    let uri = endpoint.parse::<Uri>().ok();
    if uri.is_none_or(|uri| uri.scheme_str() != Some("http") || uri.port().is_none()) {
        let wanted = "give http://host:port of a collector that takes OTLP/gRPC, usually port 4317. One beside this \
                      service can go on over TLS";
        return Err(invalid("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint, wanted));
    }
    if raw.otlp_protocol.trim() != "grpc" {
        let wanted = "give grpc, and in OTEL_EXPORTER_OTLP_ENDPOINT the collector's port for it";
        return Err(invalid("OTEL_EXPORTER_OTLP_PROTOCOL", &raw.otlp_protocol, wanted));
    }
    let service_name = non_empty(&raw.otel_service_name).unwrap_or("embedding-service").to_owned();
    Ok(Some(CollectorOptions { endpoint: endpoint.to_owned(), service_name }))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    fn collector_of(arguments: &[&str]) -> Result<Option<CollectorOptions>, SettingError> {
        collector(&RawSettings::try_parse_from(["embedding-service"].iter().chain(arguments)).unwrap())
    }

    #[test]
    fn a_collector_is_named_by_the_standard_variables() {
        assert_eq!(collector_of(&[]), Ok(None));
        let there = ["--otlp-endpoint", "http://10.0.0.1:4317"];
        let collector = collector_of(&there).unwrap().unwrap();
        assert_eq!(collector.endpoint, "http://10.0.0.1:4317");
        assert_eq!(collector.service_name, "embedding-service");
        let http = collector_of(&[there.as_slice(), &["--otlp-protocol", "http/protobuf"]].concat());
        assert_eq!(http.unwrap_err().name, "OTEL_EXPORTER_OTLP_PROTOCOL");
    }
}
