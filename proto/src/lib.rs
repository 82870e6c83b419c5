//! The messages of `sentinel/v1/embedding.proto` and, with the feature `grpc`, its client and server stubs.
//! Generated code only: no logic lives here.

#[allow(clippy::all, clippy::restriction)]
pub mod v1 {
    include!(concat!(env!("OUT_DIR"), "/sentinel.v1.rs"));
}

/// Service and method as they stand in a gRPC path.
pub const SERVICE: &str = "sentinel.v1.EmbeddingService";
pub const CHECK_LOOP: &str = "CheckLoop";

/// The encoded `FileDescriptorSet`, for gRPC reflection.
#[cfg(feature = "grpc")]
pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));
