//! Checks the Signature Version 4 of a request as AWS does: it must match exactly what arrived. Written from AWS's
//! description of the algorithm; a request that fails is refused with AWS's error.

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

use super::{Answer, Received, bedrock};

const ALGORITHM: &str = "AWS4-HMAC-SHA256";

/// The accepted credentials, region and service.
#[derive(Clone, Copy, Debug)]
pub struct Account<'a> {
    pub access_key: &'a str,
    pub secret_key: &'a str,
    pub region: &'a str,
    pub service: &'a str,
}

impl Account<'_> {
    /// The refusal of a request whose signature is missing or wrong.
    pub fn refusal(&self, request: &Received) -> Option<Answer> {
        let (kind, message) = match self.check(request) {
            Ok(()) => return None,
            Err(Fault::Missing(message)) => ("MissingAuthenticationTokenException", message),
            Err(Fault::Unknown(message)) => ("UnrecognizedClientException", message),
            Err(Fault::Wrong(message)) => ("InvalidSignatureException", message),
        };
        Some(bedrock::refusal(403, kind, &message))
    }

    fn check(&self, request: &Received) -> Result<(), Fault> {
        let authorization = request
            .header("authorization")
            .ok_or_else(|| Fault::Missing("Missing Authentication Token".into()))?;
        let fields = authorization
            .strip_prefix(ALGORITHM)
            .ok_or_else(|| Fault::Missing(format!("Authorization header requires '{ALGORITHM}'.")))?;
        let field = |name: &str| {
            let mut fields = fields.split(',').filter_map(|field| field.trim().split_once('='));
            fields
                .find(|(known, _)| *known == name)
                .map(|(_, value)| value)
                .ok_or_else(|| Fault::Wrong(format!("Authorization header requires '{name}' parameter.")))
        };
        let (access_key, scope) = field("Credential")?
            .split_once('/')
            .ok_or_else(|| Fault::Wrong("Credential must have a scope.".into()))?;
        if access_key != self.access_key {
            return Err(Fault::Unknown("The security token included in the request is invalid.".into()));
        }
        let time = request
            .header("x-amz-date")
            .filter(|time| time.len() == 16 && time.ends_with('Z'))
            .ok_or_else(|| Fault::Wrong("Authorization header requires existence of 'X-Amz-Date'.".into()))?;
        let date = &time[..8];
        let wanted = format!("{date}/{}/{}/aws4_request", self.region, self.service);
        if scope != wanted {
            return Err(Fault::Wrong(format!("Credential should be scoped to {wanted}, and is to {scope}.")));
        }
        let signed_headers = field("SignedHeaders")?;
        let canonical = canonical(request, signed_headers)?;
        let to_sign = format!("{ALGORITHM}\n{time}\n{scope}\n{}", sha256(canonical.as_bytes()));
        let start = format!("AWS4{}", self.secret_key).into_bytes();
        let parts = [date, self.region, self.service, "aws4_request"];
        let key = parts.iter().fold(start, |key, part| hmac(&key, part));
        let signature = hex(&hmac(&key, &to_sign));
        if field("Signature")? == signature {
            return Ok(());
        }
        Err(Fault::Wrong(format!(
            "The request signature we calculated does not match the signature you provided. The Canonical String for this request should have been\n'{canonical}'"
        )))
    }
}

enum Fault {
    Missing(String),
    Unknown(String),
    Wrong(String),
}

fn canonical(request: &Received, signed: &str) -> Result<String, Fault> {
    let names: Vec<&str> = signed.split(';').collect();
    // Host, date and token must be signed.
    let must = request.headers.keys().map(|name| name.as_str()).filter(|name| name.starts_with("x-amz-"));
    if let Some(missing) = must.chain(["host"]).find(|name| !names.contains(name)) {
        return Err(Fault::Wrong(format!("'{missing}' must be a 'SignedHeader' in the AWS Authorization.")));
    }
    let mut headers = String::new();
    for name in &names {
        let value = if *name == "host" {
            request.host().unwrap_or_default()
        } else {
            let values = request.headers.get_all(*name).iter();
            let values = values.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
            values
                .map(|value| value.split_whitespace().collect::<Vec<_>>().join(" "))
                .collect::<Vec<_>>()
                .join(",")
        };
        headers.push_str(&format!("{name}:{value}\n"));
    }
    let hash = sha256(&request.body);
    if request.header("x-amz-content-sha256").is_some_and(|told| told != hash) {
        return Err(Fault::Wrong(
            "The provided 'x-amz-content-sha256' header does not match what was computed.".into(),
        ));
    }
    let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
    let mut query: Vec<&str> = query.split('&').filter(|pair| !pair.is_empty()).collect();
    query.sort_unstable();
    // All services except S3 encode the path once more.
    let path = encoded(path);
    Ok(format!("{}\n{path}\n{}\n{headers}\n{signed}\n{hash}", request.method, query.join("&")))
}

fn encoded(path: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~/".contains(&byte);
    path.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

fn hmac(key: &[u8], text: &str) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("a key of any length");
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().to_vec()
}

fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use hyper::HeaderMap;

    use super::*;

    const ACCOUNT: Account = Account {
        access_key: "AKIDEXAMPLE",
        secret_key: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
        region: "us-east-1",
        service: "service",
    };

    /// `post-vanilla` of the test suite that AWS publishes.
    fn published() -> Received {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("host", "example.amazonaws.com"),
            ("x-amz-date", "20150830T123600Z"),
            (
                "authorization",
                "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, Signature=5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b",
            ),
        ] {
            headers.insert(name, value.parse().unwrap());
        }
        Received {
            connection: 0,
            method: "POST".into(),
            path: "/".into(),
            authority: None,
            headers,
            body: "".into(),
            trailers: None,
            complete: true,
        }
    }

    #[test]
    fn a_published_request_is_taken_and_any_change_refused() {
        assert!(ACCOUNT.refusal(&published()).is_none());
        let status = |request: Received| ACCOUNT.refusal(&request).map(|answer| answer.status);
        assert_eq!(status(Received { body: " ".into(), ..published() }), Some(403));
        assert_eq!(status(Received { path: "/a".into(), ..published() }), Some(403));
        assert_eq!(status(Received { path: "/?a=1".into(), ..published() }), Some(403));
        assert_eq!(status(Received { method: "GET".into(), ..published() }), Some(403));
        for (name, value) in
            [("host", "other.amazonaws.com"), ("x-amz-date", "20150830T123601Z"), ("x-amz-a", "1")]
        {
            let mut request = published();
            request.headers.insert(name, value.parse().unwrap());
            assert_eq!(status(request), Some(403), "{name}");
        }
        let mut request = published();
        request.headers.remove("authorization");
        assert_eq!(status(request), Some(403));
    }
}
