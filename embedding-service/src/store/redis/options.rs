//! How Redis is reached and used, as checked values. Files are only named here; they are read when a connection is made,
//! so that a secret that was changed is found.

use std::{fmt, path::PathBuf, time::Duration};

/// How Redis is reached and used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RedisOptions {
    /// Addresses with credentials: one, or any nodes of a cluster.
    pub urls: Vec<Secret>,
    pub cluster: bool,
    pub password_file: Option<PathBuf>,
    pub ca_file: Option<PathBuf>,
    pub certificate: Option<ClientCertificate>,
    pub lookup: LookupMethod,
    /// Budget of one question while a caller waits.
    pub timeout: Duration,
}

/// What we show to a Redis that wants to know who connects: two PEM files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientCertificate {
    pub certificate: PathBuf,
    pub key: PathBuf,
}

/// How the earlier prompts of a scope are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LookupMethod {
    /// Their vectors are read and compared here.
    Direct,
    /// The search module compares: KNN over an index.
    Search,
}

/// A text that is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    #[must_use]
    pub fn new(text: String) -> Self {
        Self(text)
    }

    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(hidden)")
    }
}
