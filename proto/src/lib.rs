//! The messages of `sentinel/v1/embedding.proto` and, with the feature `grpc`, its client and server stubs.
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

/// The encoded `FileDescriptorSet`, for gRPC reflection.
#[cfg(feature = "grpc")]
pub const DESCRIPTORS: &[u8] = include_bytes!("generated/descriptors.bin");
