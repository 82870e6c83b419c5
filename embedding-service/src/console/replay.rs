//! The page Replay, and the core that it runs in the browser.

use axum::{
    Extension,
    http::{HeaderValue, header},
    response::Response,
};
use sentinel_config::{FieldInfo, fields_of_agents};
use sentinel_console::{
    asset::CONTENT_SECURITY_POLICY_OF_REPLAY,
    page::Tab,
    replay::{Replay, Thresholds},
};

use super::{guard::Asking, pages::Shows};

/// Packed with gzip. Empty where the service was built without it (`build.rs`).
static CORE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/replay.wasm.gz"));
/// Of its content.
pub const TAG: &str = env!("SENTINEL_REPLAY_CORE_TAG");
pub const NAME: &str = "replay.wasm";

pub async fn page(Extension(visitor): Asking) -> Response {
    let core = core().map(|_| format!("/console/assets/{TAG}/{NAME}"));
    let content = Replay { core, thresholds: thresholds() }.content();
    let shows =
        Shows { title: "Replay", tab: Tab::Replay, address: "/console/replay", viewer: &visitor.viewer };
    let mut response = shows.still(&content);
    let policy = HeaderValue::from_static(CONTENT_SECURITY_POLICY_OF_REPLAY);
    response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    response
}

/// The core packed with gzip, if it was built in.
pub fn core() -> Option<&'static [u8]> {
    Some(CORE).filter(|core| !core.is_empty())
}

/// The counts of all signals in steps, as the reference has them.
fn thresholds() -> Vec<Thresholds> {
    let fields = fields_of_agents();
    let count =
        |path: &str| -> Option<u32> { fields.iter().find(|field| field.path == path)?.default.parse().ok() };
    let of = |FieldInfo { path, meaning, .. }: &FieldInfo| {
        Some(Thresholds {
            name: path.strip_prefix("steps.")?.to_owned(),
            meaning: meaning.clone(),
            hint: count(&format!("{path}.hint"))?,
            kill: count(&format!("{path}.kill")),
        })
    };
    fields.iter().filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_signal_in_steps_has_its_sliders() {
        let thresholds = thresholds();
        let named: Vec<&str> = thresholds.iter().map(|one| one.name.as_str()).collect();
        assert!(named.starts_with(&["repeated_step", "cycle", "stagnation"]), "{named:?}");
        let of = |name: &str| {
            let one = thresholds.iter().find(|one| one.name == name).unwrap();
            (one.hint, one.kill)
        };
        assert_eq!(
            [of("repeated_step"), of("waiting"), of("empty")],
            [(3, Some(5)), (10, None), (5, Some(0))]
        );
        assert!(thresholds.iter().all(|one| !one.meaning.is_empty()));
    }
}
