//! The messages of the files in `sentinel/v1/` and, with the feature `grpc`, their client and server stubs.
//! Generated code only: no logic lives here. `tests/generated.rs` writes `generated/`.

#[allow(clippy::all, clippy::restriction)]
pub mod v1 {
    include!("generated/messages.rs");
    #[cfg(feature = "grpc")]
    include!("generated/services.rs");
}

/// Service and method as they stand in a gRPC path.
pub const SERVICE: &str = "sentinel.v1.EmbeddingService";
pub const CHECK_LOOP: &str = "CheckLoop";
pub const STORE_ANSWER: &str = "StoreAnswer";
pub const CONTROL_SERVICE: &str = "sentinel.v1.ControlService";
pub const REPORT: &str = "Report";
pub const RESERVE: &str = "Reserve";

/// The encoded `FileDescriptorSet` of `embedding.proto`, for gRPC reflection.
#[cfg(feature = "grpc")]
pub const DESCRIPTORS: &[u8] = include_bytes!("generated/embedding.bin");
/// The same of `control.proto`.
#[cfg(feature = "grpc")]
pub const CONTROL_DESCRIPTORS: &[u8] = include_bytes!("generated/control.bin");
