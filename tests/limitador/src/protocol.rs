//! The messages of `envoy.service.ratelimit.v3`, as far as they are used.

use prost::Message;

#[derive(Clone, PartialEq, Message)]
pub struct RateLimitRequest {
    #[prost(string, tag = "1")]
    pub domain: String,
    #[prost(message, repeated, tag = "2")]
    pub descriptors: Vec<Descriptor>,
    #[prost(uint32, tag = "3")]
    pub hits_addend: u32,
}

#[derive(Clone, PartialEq, Message)]
pub struct Descriptor {
    #[prost(message, repeated, tag = "1")]
    pub entries: Vec<Entry>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Entry {
    #[prost(string, tag = "1")]
    pub key: String,
    #[prost(string, tag = "2")]
    pub value: String,
}

#[derive(Clone, PartialEq, Message)]
pub struct RateLimitResponse {
    /// 1: within the limits, 2: over one.
    #[prost(int32, tag = "1")]
    pub overall_code: i32,
    #[prost(message, repeated, tag = "3")]
    pub response_headers_to_add: Vec<Header>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Header {
    #[prost(string, tag = "1")]
    pub key: String,
    #[prost(string, tag = "2")]
    pub value: String,
}

pub const WITHIN: i32 = 1;
pub const OVER: i32 = 2;

/// Behind the five bytes before a message of gRPC: not compressed, and its length.
pub fn unframed(framed: &[u8]) -> &[u8] {
    framed.get(5..).unwrap_or_default()
}

pub fn framed(message: &impl Message) -> Vec<u8> {
    let message = message.encode_to_vec();
    let mut framed = vec![0];
    framed.extend_from_slice(&u32::try_from(message.len()).expect("a short message").to_be_bytes());
    framed.extend_from_slice(&message);
    framed
}
