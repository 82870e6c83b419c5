//! The settings of Redis, and what must hold of them together.

use super::{SettingError, raw::RawSettings};
use crate::store::redis::options::{ClientCertificate, LookupMethod, RedisOptions, Secret};

/// `None` where no address is given: prompts are stored in memory then.
pub(super) fn options(raw: &RawSettings) -> Result<Option<RedisOptions>, SettingError> {
    let refused = |name, wanted| Err(SettingError { name, wanted });
    if raw.redis_cluster && raw.redis_lookup == LookupMethod::Search {
        let wanted = "the search module sees one node only: give direct where REDIS_CLUSTER is true";
        return refused("REDIS_LOOKUP", wanted);
    }
    let text = raw.redis_url.reveal();
    if text.is_empty() {
        return Ok(None);
    }
    let urls: Vec<&str> = text.split(',').map(str::trim).collect();
    check_urls(&urls, raw.redis_cluster)?;
    let tls = urls.iter().all(|url| url.starts_with("rediss://"));
    for (name, file) in [
        ("REDIS_CA_FILE", &raw.redis_ca_file),
        ("REDIS_CERT_FILE", &raw.redis_cert_file),
        ("REDIS_KEY_FILE", &raw.redis_key_file),
    ] {
        if file.is_some() && !tls {
            let wanted = "it is for TLS: give an address with rediss:// in REDIS_URL, or leave it out";
            return refused(name, wanted);
        }
    }
    let certificate = match (raw.redis_cert_file.clone(), raw.redis_key_file.clone()) {
        (Some(certificate), Some(key)) => Some(ClientCertificate { certificate, key }),
        (None, None) => None,
        (Some(_), None) => return refused("REDIS_KEY_FILE", "give the key of REDIS_CERT_FILE"),
        (None, Some(_)) => return refused("REDIS_CERT_FILE", "give the certificate of REDIS_KEY_FILE"),
    };
    Ok(Some(RedisOptions {
        urls: urls.into_iter().map(|url| Secret::new(url.to_owned())).collect(),
        cluster: raw.redis_cluster,
        password_file: raw.redis_password_file.clone(),
        ca_file: raw.redis_ca_file.clone(),
        certificate,
        lookup: raw.redis_lookup,
        timeout: raw.store_timeout_ms,
    }))
}

/// No address is ever shown: it may hold a password.
fn check_urls(urls: &[&str], cluster: bool) -> Result<(), SettingError> {
    let refused = |wanted| Err(SettingError { name: "REDIS_URL", wanted });
    let begins =
        |schemes: &[&str]| urls.iter().all(|url| schemes.iter().any(|scheme| url.starts_with(scheme)));
    if !begins(&["redis://", "rediss://", "unix://"]) {
        return refused(
            "give redis://[user[:password]@]host:port[/db], rediss:// for TLS, or unix:///path/to.sock",
        );
    }
    if urls.iter().any(|url| url.contains('#')) {
        return refused("give an address without #; a # in a password is written %23");
    }
    if cluster && !(begins(&["redis://"]) || begins(&["rediss://"])) {
        return refused("give redis:// for all nodes of a cluster, or rediss:// for all");
    }
    if !cluster && urls.len() > 1 {
        return refused(
            "give one address, or REDIS_CLUSTER=true where they are nodes of a cluster; a comma in a password is written %2C",
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::{path::PathBuf, time::Duration};

    use clap::Parser;

    use super::*;

    fn redis(arguments: &[&str]) -> Result<Option<RedisOptions>, SettingError> {
        options(&RawSettings::try_parse_from(["embedding-service"].iter().chain(arguments)).unwrap())
    }

    #[test]
    fn without_an_address_there_is_no_redis() {
        assert_eq!(redis(&[]), Ok(None));
        assert_eq!(redis(&["--redis-url", " "]), Ok(None));
    }

    #[test]
    fn the_defaults_are_one_redis_read_directly_with_20_ms() {
        let redis = redis(&["--redis-url", "redis://h:1"]).unwrap().unwrap();
        assert_eq!((redis.cluster, redis.lookup), (false, LookupMethod::Direct));
        assert_eq!(redis.timeout, Duration::from_millis(20));
        assert_eq!(redis.urls.len(), 1);
    }

    #[test]
    fn everything_for_a_cluster_with_tls() {
        let urls = "rediss://u@a:1, rediss://u@b:1";
        let files = ["--redis-ca-file", "/ca", "--redis-cert-file", "/cert", "--redis-key-file", "/key"];
        let rest = ["--redis-url", urls, "--redis-cluster", "true", "--redis-password-file", "/password"];
        let redis = redis(&[files.as_slice(), rest.as_slice()].concat()).unwrap().unwrap();
        assert!(redis.cluster);
        assert_eq!(redis.urls[1].reveal(), "rediss://u@b:1");
        assert_eq!(redis.ca_file, Some(PathBuf::from("/ca")));
        assert_eq!(redis.password_file, Some(PathBuf::from("/password")));
        let certificate = redis.certificate.unwrap();
        assert_eq!(
            (certificate.certificate, certificate.key),
            (PathBuf::from("/cert"), PathBuf::from("/key"))
        );
    }

    #[test]
    fn impossible_values_are_named_with_what_to_do_and_no_password_is_shown() {
        let plain = "redis://u:hunter2@h:1";
        for (flags, name) in [
            (["--redis-url", "u:hunter2@h:6379"].as_slice(), "REDIS_URL"),
            (&["--redis-url", "http://u:hunter2@h"], "REDIS_URL"),
            (&["--redis-url", "rediss://u:hunter2@h:1/#insecure"], "REDIS_URL"),
            (&["--redis-url", "redis://u:hunter2@h:1,redis://h:2"], "REDIS_URL"),
            (&["--redis-url", "unix:///r.sock?pass=hunter2", "--redis-cluster", "true"], "REDIS_URL"),
            (&["--redis-url", "redis://u:hunter2@h:1,rediss://h:2", "--redis-cluster", "true"], "REDIS_URL"),
            (&["--redis-url", plain, "--redis-ca-file", "/ca"], "REDIS_CA_FILE"),
            (&["--redis-url", "rediss://h:1", "--redis-cert-file", "/c"], "REDIS_KEY_FILE"),
            (&["--redis-url", "rediss://h:1", "--redis-key-file", "/k"], "REDIS_CERT_FILE"),
            (&["--redis-url", plain, "--redis-lookup", "search", "--redis-cluster", "1"], "REDIS_LOOKUP"),
        ] {
            let e = redis(flags).expect_err(&format!("{flags:?}"));
            assert_eq!(e.name, name, "{flags:?}");
            assert!(e.wanted.contains("give"), "{e}");
            assert!(!e.to_string().contains("hunter2"), "{e}");
        }
        let shown = format!("{:?}", redis(&["--redis-url", plain]).unwrap());
        assert!(!shown.contains("hunter2"), "{shown}");
    }
}
