//! What a client sends, what a provider answers, and what became of both.

use sentinel_llm_api::dialect::LocalReply;

/// A request as the client sends it.
#[derive(Clone, Debug, Default)]
pub struct ClientRequest {
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

/// A response as the provider sends it.
#[derive(Clone, Debug)]
pub struct ProviderResponse {
    pub status: u16,
    pub content_type: String,
    pub cache_control: Vec<String>,
    pub body: Vec<u8>,
    /// Length of the parts in which the body comes (bytes). `None`: it comes in one piece.
    pub part: Option<usize>,
    /// The connection ends after this body without a proper end of the response.
    pub is_cut_off: bool,
}

/// What became of a request.
#[derive(Debug, Default)]
pub struct Exchange {
    /// The body that the provider got. `None` if the filter answered.
    pub sent: Option<Vec<u8>>,
    pub reply: Option<LocalReply>,
    /// The body that the client got from the provider.
    pub received: Vec<u8>,
    /// Response headers that we took away.
    pub removed: Vec<&'static str>,
    /// Headers that we put on the response.
    pub headers: Vec<(&'static str, String)>,
    /// Request headers that we changed.
    pub changed: Vec<(&'static str, String)>,
    /// The response was held and never released.
    pub hangs: bool,
    /// What Envoy's tracer and access logs are told.
    pub annotations: Vec<(&'static str, String)>,
}

impl ClientRequest {
    /// A JSON POST.
    pub fn post(path: &str, body: impl Into<Vec<u8>>) -> Self {
        let body = body.into();
        let length = body.len().to_string();
        Self { headers: Vec::new(), body }
            .with(":method", "POST")
            .with(":path", path)
            .with("content-type", "application/json")
            .with("content-length", &length)
    }

    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.retain(|(known, _)| known != name);
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }
}

impl ProviderResponse {
    pub fn json(body: impl Into<Vec<u8>>) -> Self {
        Self {
            status: 200,
            content_type: "application/json".into(),
            cache_control: Vec::new(),
            body: body.into(),
            part: None,
            is_cut_off: false,
        }
    }
}

impl Exchange {
    pub fn header(&self, name: &str) -> Option<&str> {
        let own = self.headers.iter();
        let reply = self.reply.iter().flat_map(|reply| &reply.headers);
        own.chain(reply).find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }

    /// `allow`, `hint` or `kill`.
    pub fn verdict(&self) -> Option<&str> {
        self.header("x-sentinel-verdict")
    }
}
