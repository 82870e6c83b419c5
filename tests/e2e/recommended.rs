//! What envoy/production.yaml recommends beside its defaults: it stands there with its reason, and does what it says.

use sentinel_harness::bootstrap::Bootstrap;
use sentinel_harness::gateway::{ALICE, Gateway, key_header, path};

use crate::support::{CHAT, QUESTION, signal_of};
use sentinel_wire::Run;

const PRINCIPAL: &str = r#""identity": {"principal": "x-sentinel-client", "clients": []}"#;
const RUN_LIMIT: &str = r#""run_limit": 100"#;
const STUCK: &str = r#""steps": {"stuck": {"kill": 8}}"#;

fn with(setting: &str) -> Gateway {
    assert!(Bootstrap::shipped("production.yaml").text().contains(&format!("#   {setting}\n")), "{setting}");
    Gateway::builder().edit(PRINCIPAL, &format!("{PRINCIPAL}, {setting}")).start()
}

/// Verdict and signal of each request in a run with this many steps.
async fn verdicts(
    gateway: &Gateway,
    steps: usize,
    result: impl Fn(usize) -> String,
) -> Vec<(String, String)> {
    let (name, value) = key_header(CHAT, ALICE.key);
    let mut run = Run::new(CHAT, QUESTION);
    let mut verdicts = Vec::new();
    for number in 0..steps {
        // Words of its own, so that no other rule has a say.
        let arguments = format!(r#"{{"of":"{}"}}"#, word(number));
        run.step("read_page", &arguments, &result(number));
        let response = gateway.post(path(CHAT), &[(name, &value)], run.body(false)).await;
        verdicts.push((response.verdict().to_owned(), signal_of(&response).to_owned()));
    }
    verdicts
}

/// Letters alone, another word for each number.
fn word(number: usize) -> String {
    (0..4)
        .map(|place| char::from(b'a' + u8::try_from(number / 10_usize.pow(place) % 10).unwrap()))
        .collect::<String>()
        .repeat(2)
}

#[tokio::test]
async fn a_run_without_an_end_is_hinted_and_then_stopped() {
    // In a copy of its own a request stands for each turn; a tenth of the limit shows the same.
    let gateway = Gateway::builder()
        .edit(PRINCIPAL, &format!("{PRINCIPAL}, {}", RUN_LIMIT.replace("100", "10")))
        .start();
    let all = verdicts(&gateway, 10, |number| {
        format!("The page says {} of {}.", word(number), word(number + 1_000))
    })
    .await;
    let said: Vec<&str> = all.iter().map(|(verdict, _)| verdict.as_str()).collect();
    let expected = [["allow"; 7].as_slice(), &["hint"; 2], &["kill"]].concat();
    assert_eq!(said, expected, "{all:?}");
    assert_eq!(all[9].1, "run_limit");
    drop(with(RUN_LIMIT));
}

#[tokio::test]
async fn attempts_that_all_fail_are_hinted_and_then_stopped() {
    let gateway = with(STUCK);
    let all = verdicts(&gateway, 8, |_| "Error: the page could not be opened".to_owned()).await;
    assert!(all[..4].iter().all(|(verdict, _)| verdict != "kill"), "{all:?}");
    assert_eq!(all[7], ("kill".to_owned(), "stuck".to_owned()), "{all:?}");
    // As it is shipped there is no kill for it.
    let gateway = Gateway::builder().start();
    let all = verdicts(&gateway, 9, |_| "Error: the page could not be opened".to_owned()).await;
    assert!(all.iter().all(|(verdict, _)| verdict != "kill"), "{all:?}");
}
