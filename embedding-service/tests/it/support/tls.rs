//! Certificates of a test's own, for what speaks TLS in it.

use std::{fs, path::PathBuf};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tempfile::TempDir;
use tokio_rustls::rustls::{
    RootCertStore, ServerConfig,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    server::WebPkiClientVerifier,
};

/// An authority, with its certificate in `ca.pem`, and a folder for what it issues.
pub struct Authority {
    folder: TempDir,
    issuer: CertifiedIssuer<'static, KeyPair>,
}

impl Authority {
    pub fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let authority = Self { folder: tempfile::tempdir().unwrap(), issuer };
        fs::write(authority.file("ca.pem"), authority.issuer.pem()).unwrap();
        authority
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn flag(&self, name: &str) -> String {
        self.file(name).display().to_string()
    }

    /// Certificate and key in PEM.
    pub fn issue(&self, host: &str) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new([host.to_owned()]).unwrap();
        (params.signed_by(&key, &self.issuer).unwrap().pem(), key.serialize_pem())
    }

    /// For a server with a certificate for `host`, which may want one of its clients too.
    pub fn server(&self, host: &str, wants_certificate: bool) -> ServerConfig {
        let (certificate, key) = self.issue(host);
        let builder = ServerConfig::builder();
        let builder = if wants_certificate {
            let mut roots = RootCertStore::empty();
            roots.add(CertificateDer::from_pem_slice(self.issuer.pem().as_bytes()).unwrap()).unwrap();
            builder.with_client_cert_verifier(WebPkiClientVerifier::builder(roots.into()).build().unwrap())
        } else {
            builder.with_no_client_auth()
        };
        let chain = vec![CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap()];
        builder.with_single_cert(chain, PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap()).unwrap()
    }
}
