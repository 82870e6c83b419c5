//! The signals in steps.

use sentinel_detect::{
    signal::{StepsPolicy, Thresholds},
    step::{self, Kind, ToolName, ToolRules},
};

use super::{all_used, between};
use crate::{
    ConfigError,
    raw::{RawSteps, RawThresholds, RawTool},
};

/// `own_words`: how our own final messages begin.
pub fn steps(raw: &RawSteps, own_words: &str) -> Result<StepsPolicy, ConfigError> {
    let thresholds = |name: &str, RawThresholds { hint, kill }: &RawThresholds| {
        let refuse = |problem| Err(ConfigError::new(format!("steps.{name}"), problem));
        if *hint == 1 || *kill == 1 {
            return refuse("a single step is no loop; take 2 or more, or 0 for never");
        }
        if *kill > 0 && kill < hint {
            return refuse("`kill` must not be below `hint`; 0 means never");
        }
        Ok(Thresholds { hint: *hint, kill: *kill })
    };
    let hint_only = |name: &str, hint: u32| {
        thresholds(name, &RawThresholds { hint, kill: 0 }).map(|thresholds| thresholds.hint)
    };
    Ok(StepsPolicy {
        is_open_ended: false,
        counts_rounds: false,
        off: None,
        own_words: own_words.to_owned(),
        enabled: raw.enabled,
        react: raw.react,
        window: between("steps.window", raw.window, 2, step::LENGTH)?,
        repeated_step: thresholds("repeated_step", &raw.repeated_step)?,
        cycle: thresholds("cycle", &raw.cycle)?,
        stagnation: thresholds("stagnation", &raw.stagnation)?,
        stuck: thresholds("stuck", &raw.stuck)?,
        similar_failures: thresholds("similar_failures", &raw.similar_failures)?,
        same_outcome: thresholds("same_outcome", &raw.same_outcome)?,
        empty: thresholds("empty", &raw.empty)?,
        acknowledgement: hint_only("acknowledgement", raw.acknowledgement.hint)?,
        waiting: hint_only("waiting", raw.waiting.hint)?,
        one_token: thresholds("one_token", &raw.one_token)?,
        changing: thresholds("changing", &raw.changing)?,
        alike: thresholds("alike", &raw.alike)?,
        weak: hint_only("weak", raw.weak.hint)?,
        talk: hint_only("talk", raw.talk.hint)?,
        tools: ToolRules(tools(&raw.tools)?),
    })
}

fn tools(raw: &[RawTool]) -> Result<Vec<(ToolName, step::Rule)>, ConfigError> {
    let tools: Vec<_> = raw.iter().enumerate().map(tool).collect::<Result<_, _>>()?;
    all_used("steps.tools", &tools, |(before, _), (name, _)| before.covers(name))?;
    Ok(tools)
}

fn tool((index, raw): (usize, &RawTool)) -> Result<(ToolName, step::Rule), ConfigError> {
    let refuse =
        |field: &str, problem: &str| Err(ConfigError::new(format!("steps.tools[{index}]{field}"), problem));
    let name = match (&raw.name, &raw.prefix) {
        (Some(name), None) => ToolName::Exact(name.clone()),
        (None, Some(prefix)) => ToolName::Prefix(prefix.clone()),
        _ => return refuse("", "needs exactly one of `name` and `prefix`"),
    };
    let kind = match raw.kind.as_deref() {
        None => None,
        Some("content") => Some(Kind::Content),
        Some("failure") => Some(Kind::Failure),
        Some("empty") => Some(Kind::Empty),
        Some("acknowledgement") => Some(Kind::Acknowledgement),
        Some("waiting") => Some(Kind::Waiting),
        Some(_) => {
            return refuse(".kind", "must be one of content, failure, empty, acknowledgement, waiting");
        }
    };
    for (field, count) in [(".hint", raw.hint), (".kill", raw.kill)] {
        if count == Some(1) {
            return refuse(field, "a single step is no loop; take 2 or more, or 0 for never");
        }
    }
    let rule = step::Rule { kind, hint: raw.hint, kill: raw.kill, ignore: raw.ignore };
    if rule == step::Rule::default() {
        return refuse("", "says nothing of the tool; give `kind`, `hint`, `kill` or `ignore`");
    }
    Ok((name, rule))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn a_rule_that_is_never_used_is_refused() {
        for (before, after, path) in [
            (json!({"prefix": "get_"}), json!({"name": "get_file"}), Some("steps.tools[1]")),
            (json!({"prefix": "get_"}), json!({"prefix": "get_f"}), Some("steps.tools[1]")),
            (json!({"name": "get"}), json!({"name": "get"}), Some("steps.tools[1]")),
            (json!({"name": "get"}), json!({"prefix": "get"}), None),
            (json!({"prefix": "get_f"}), json!({"prefix": "get_"}), None),
        ] {
            let rules = [before, after].map(|mut rule| {
                rule["hint"] = json!(4);
                rule
            });
            let json = json!({"steps": {"tools": rules}}).to_string();
            let refused = crate::Config::from_json(json.as_bytes()).err().map(|error| error.path);
            assert_eq!(refused.as_deref(), path, "{json}");
        }
    }
}
