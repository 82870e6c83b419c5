//! The filter's configuration for a replay: the user's, with the changes without which there would be nothing to see.

use sentinel_config::{Config, Sender};
use sentinel_detect::signal::Thresholds;
use serde_json::{Value, json};

/// What is said of the semantic signal in the report.
const SEMANTIC: &str = "on: the real embedding service is asked";
const NO_SEMANTIC: &str = "off: prompts are not judged by their meaning";

/// What a replay runs with.
pub struct Settings {
    /// As the user gave it.
    pub given: Value,
    /// As the filter gets it.
    pub json: Value,
    pub config: Config,
}

/// `name`: what an error calls the configuration. `with_service`: the embedding service is there.
pub fn with(given: Value, name: &str, with_service: bool) -> Result<Settings, String> {
    // Judged as it is first: an error must be about what the user wrote.
    Config::from_json(given.to_string().as_bytes()).map_err(|error| format!("{name}: {error}"))?;
    let mut json = given.clone();
    json["mode"] = json!("enforce");
    json["response_headers"] = json!(true);
    if !with_service {
        json["semantic"]["enabled"] = json!(false);
    }
    let config =
        Config::from_json(json.to_string().as_bytes()).map_err(|error| format!("{name}: {error}"))?;
    Ok(Settings { given, json, config })
}

impl Settings {
    /// For the report: what was given, and the thresholds that follow.
    pub fn report(&self) -> Value {
        let policy = self.config.policy(Sender::default());
        let steps = &policy.steps;
        let of = |thresholds: Thresholds| json!({"hint": thresholds.hint, "kill": thresholds.kill});
        json!({
            "given": self.given,
            "used": self.json,
            "semantic": if policy.prompts.words_to_ask.is_some() { SEMANTIC } else { NO_SEMANTIC },
            "thresholds": {
                "similarity_threshold": policy.similarity_threshold,
                "semantic_repeats": policy.semantic_repeats,
                "steps": {
                    "enabled": steps.enabled,
                    "react": steps.react,
                    "repeated_step": of(steps.repeated_step),
                    "cycle": of(steps.cycle),
                    "stagnation": of(steps.stagnation),
                    "stuck": of(steps.stuck),
                    "similar_failures": of(steps.similar_failures),
                    "same_outcome": of(steps.same_outcome),
                },
                "run_limit": policy.run_limit,
                "score": {"enabled": policy.prompts.score.enabled, "hint": policy.prompts.score.hint, "kill": policy.prompts.score.kill},
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_hide_the_verdicts_is_overruled_and_the_rest_kept() {
        let given =
            json!({"mode": "observe", "response_headers": false, "steps": {"repeated_step": {"hint": 2}}});
        let settings = with(given.clone(), "c", false).expect("a configuration");
        let policy = settings.config.policy(Sender::default());
        assert!(policy.prompts.words_to_ask.is_none() && settings.config.response_headers);
        assert_eq!(policy.steps.repeated_step, Thresholds { hint: 2, kill: 5 });
        assert_eq!(settings.report()["given"], given);
        let asking = with(given.clone(), "c", true).expect("a configuration");
        assert!(asking.config.policy(Sender::default()).prompts.words_to_ask.is_some());
        assert_eq!(settings.report()["thresholds"]["steps"]["repeated_step"], json!({"hint": 2, "kill": 5}));
    }

    #[test]
    fn a_wrong_configuration_is_named() {
        for (given, says) in [
            (json!({"stepz": {}}), "stepz"),
            (json!([]), "c: "),
            (json!({"kill": {"status": 429}}), "kill.status"),
        ] {
            let said = with(given, "c", false).err().expect("refused");
            assert!(said.contains(says), "{said}");
        }
    }
}
