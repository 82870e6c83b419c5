//! Calls of Envoy that belong to no single request: gRPC, the clock, random numbers, shared data, the log.

use std::{
    hash::{BuildHasher, RandomState},
    time::UNIX_EPOCH,
};

use proxy_wasm::{
    hostcalls,
    types::{BufferType, LogLevel, MetricType, Status},
};
use sentinel_host::{call::GrpcCall, per_worker::PerWorker};
use sentinel_pipeline::{
    host::{Level, Process, Stored},
    metric::{FamilyKind, Metric},
    service_outcome::ServiceOutcome,
};

use crate::abi;

/// Sends a call and returns Envoy's number for it.
pub fn send(call: &GrpcCall<'_>) -> Result<u32, ServiceOutcome> {
    let metadata = call.metadata.iter().map(|(name, value)| (*name, value.as_slice())).collect();
    let sent = hostcalls::dispatch_grpc_call(
        call.cluster,
        call.service,
        call.method,
        metadata,
        Some(&call.message),
        call.timeout,
    );
    sent.map_err(|status| match status {
        Status::ParseFailure => ServiceOutcome::UnknownCluster,
        _ => ServiceOutcome::Error,
    })
}

/// The reply to the call that is being handled.
pub fn reply(status: u32, size: usize) -> Result<Vec<u8>, ServiceOutcome> {
    if status != 0 {
        return Err(ServiceOutcome::from_status(status, &abi::status_message()));
    }
    Ok(hostcalls::get_buffer(BufferType::GrpcReceiveBuffer, 0, size).ok().flatten().unwrap_or_default())
}

pub fn log(level: Level, line: &str) {
    let level = match level {
        Level::Info => LogLevel::Info,
        Level::Warn => LogLevel::Warn,
    };
    let _ = hostcalls::log(level, line);
}

/// This process of Envoy.
pub struct Envoys;

impl Process for Envoys {
    fn now(&self) -> u64 {
        let since = hostcalls::get_current_time().unwrap_or(UNIX_EPOCH).duration_since(UNIX_EPOCH);
        u64::try_from(since.unwrap_or_default().as_millis()).unwrap_or(u64::MAX)
    }

    /// These come from the host's random numbers.
    fn random(&self) -> u64 {
        RandomState::new().hash_one(0_u8)
    }

    fn load(&self, key: &str) -> Stored {
        let (bytes, version) = hostcalls::get_shared_data(key).unwrap_or_default();
        Stored { bytes, version }
    }

    fn store(&self, key: &str, bytes: &[u8], version: Option<u32>) -> bool {
        hostcalls::set_shared_data(key, Some(bytes), version).is_ok()
    }
}

pub fn define(kind: FamilyKind, name: &str) -> Option<u32> {
    let kind = match kind {
        FamilyKind::Counter => MetricType::Counter,
        FamilyKind::Histogram => MetricType::Histogram,
    };
    hostcalls::define_metric(kind, name).ok()
}

pub fn count(shared: &PerWorker, metric: Metric, by: u64) {
    // Envoy returns an error for an increment of 0.
    if let (Ok(by @ 1..), Some(id)) = (i64::try_from(by), shared.series.counter(metric)) {
        let _ = hostcalls::increment_metric(id, by);
    }
}
