//! Bedrock behind envoy/providers.yaml as it is shipped: the provider checks, as AWS does, that the signature is that of
//! the request that has arrived, hint and all.

use sentinel_harness::Dialect;
use sentinel_harness::client::{self, Response};
use sentinel_harness::provider::sigv4::Account;
use sentinel_harness::provider::{faithful, reply::text_for};

use crate::providers::Tls;
use crate::support::{QUESTION, assert_hinted};

const BEDROCK: Dialect = Dialect::Bedrock;
const ACCOUNT: Account = Account {
    access_key: "AKIDOFTHEGATEWAY",
    secret_key: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYOFGATEWAY",
    region: "us-east-1",
    service: "bedrock",
};

/// Envoy signs with this secret; the provider knows that of [`ACCOUNT`].
fn start(secret: Option<&str>) -> Tls {
    let key = [("AWS_ACCESS_KEY_ID", ACCOUNT.access_key)];
    let environment: Vec<_> =
        secret.into_iter().flat_map(|secret| [key[0], ("AWS_SECRET_ACCESS_KEY", secret)]).collect();
    let tls = Tls::start_in(true, &environment);
    tls.provider.script(|request| ACCOUNT.refusal(request).unwrap_or_else(|| faithful(request)));
    tls
}

async fn post(tls: &Tls, path: &str, agent: &str, body: String) -> Response {
    let headers = [
        ("x-agent-id", agent),
        ("x-run-id", agent),
        // The agent's SDK signs what it sends to Envoy, with whatever account it has.
        (
            "authorization",
            "AWS4-HMAC-SHA256 Credential=AKIDNOBODY/20150830/us-east-1/bedrock/aws4_request, SignedHeaders=host;x-amz-date, Signature=00",
        ),
        ("x-amz-date", "20150830T123600Z"),
        ("x-amz-content-sha256", "00"),
        ("x-amz-security-token", "of-the-agent"),
        ("amz-sdk-request", "attempt=1"),
    ];
    client::post(tls.envoy.address(), &format!("/bedrock{path}"), &headers, body).await
}

#[tokio::test]
async fn what_the_provider_gets_is_signed_with_the_hint_in_it() {
    let tls = start(Some(ACCOUNT.secret_key));
    for stream in [false, true] {
        let (agent, body) = (format!("stream {stream}"), BEDROCK.ask(QUESTION, stream).to_string());
        let mut verdicts = Vec::new();
        for _ in 0..5 {
            let response = post(&tls, BEDROCK.path(stream), &agent, body.clone()).await;
            verdicts.push(response.verdict().to_owned());
            if response.verdict() == "kill" {
                assert_eq!(response.status, 400);
                continue;
            }
            assert_eq!(response.status, 200, "{:?}\n{:?}", response.body, tls.provider.last());
            let got = tls.provider.last();
            assert_eq!(got.path, BEDROCK.path(stream));
            assert_eq!(got.header("x-amz-security-token"), None, "the token of the agent's own account");
            if response.verdict() == "hint" {
                assert_hinted(BEDROCK, body.as_bytes(), &got);
            } else {
                assert_eq!(BEDROCK.answer_text(&response.body), text_for(QUESTION));
                assert_eq!(got.body, body);
            }
        }
        assert_eq!(verdicts, ["allow", "allow", "allow", "hint", "kill"], "stream {stream}");
        assert_eq!(tls.provider.count(), 4 * (usize::from(stream) + 1));
    }
}

/// The name of an inference profile has colons and slashes, escaped by the SDKs; beyond the filter's cap nothing is read.
#[tokio::test]
async fn names_with_slashes_and_large_bodies_are_signed_too() {
    let tls = start(Some(ACCOUNT.secret_key));
    let profile = "/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Aapplication-inference-profile%2Fabc123/converse";
    let response = post(&tls, profile, "profile", BEDROCK.ask(QUESTION, false).to_string()).await;
    assert_eq!((response.status, response.verdict()), (200, "allow"), "{:?}", response.body);
    assert_eq!(tls.provider.last().path, profile);
    let large = BEDROCK.ask(&"many words to fill a body ".repeat(80_000), false).to_string();
    let response = post(&tls, BEDROCK.path(false), "large", large.clone()).await;
    assert_eq!(response.status, 200, "{:?}", response.body);
    assert!(tls.provider.last().body == large);
}

#[tokio::test]
async fn a_wrong_signature_is_refused_by_the_provider_and_the_agent_is_told() {
    let wrong = [(Some("another-secret"), "InvalidSignatureException")];
    for (secret, kind) in wrong.into_iter().chain([(None, "MissingAuthenticationTokenException")]) {
        let tls = start(secret);
        let body = BEDROCK.ask(QUESTION, false).to_string();
        let response = if secret.is_some() {
            post(&tls, BEDROCK.path(false), "a", body).await
        } else {
            let path = format!("/bedrock{}", BEDROCK.path(false));
            client::post(tls.envoy.address(), &path, &[("x-agent-id", "a")], body).await
        };
        assert_eq!((response.status, response.verdict()), (403, "allow"), "{:?}", response.body);
        let told = response.header("x-amzn-errortype").unwrap_or_default();
        assert!(told.starts_with(kind), "{told}: {:?}", response.body);
        assert_eq!(tls.provider.count(), 1);
    }
}
