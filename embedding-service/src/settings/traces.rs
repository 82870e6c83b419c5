//! The settings of traces: the standard variables of OpenTelemetry.

use super::{SettingError, raw::RawSettings};
use crate::trace::CollectorOptions;

/// `None` where no collector is named.
pub(super) fn collector(raw: &RawSettings) -> Result<Option<CollectorOptions>, SettingError> {
    let Some(endpoint) = raw.otlp_endpoint.clone() else { return Ok(None) };
    if raw.otlp_protocol != "grpc" {
        let wanted = "give grpc, and in OTEL_EXPORTER_OTLP_ENDPOINT the collector's port for it";
        return Err(SettingError { name: "OTEL_EXPORTER_OTLP_PROTOCOL", wanted });
    }
    let service_name = raw.otel_service_name.clone().unwrap_or_else(|| "embedding-service".to_owned());
    Ok(Some(CollectorOptions { endpoint, service_name }))
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
        assert_eq!(collector_of(&["--otlp-protocol", "http/protobuf"]), Ok(None));
        let there = ["--otlp-endpoint", "http://10.0.0.1:4317"];
        let collector = collector_of(&there).unwrap().unwrap();
        assert_eq!(collector.endpoint, "http://10.0.0.1:4317");
        assert_eq!(collector.service_name, "embedding-service");
        let http = collector_of(&[there.as_slice(), &["--otlp-protocol", "http/protobuf"]].concat());
        assert_eq!(http.unwrap_err().name, "OTEL_EXPORTER_OTLP_PROTOCOL");
    }
}
