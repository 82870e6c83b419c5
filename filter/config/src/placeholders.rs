//! Texts with places that the filter fills in, such as `{reason}`.

use crate::ConfigError;

/// What stands in the text of a kill.
pub const IN_KILL: &[&str] = &["reason", "advice"];
/// What stands in the texts of hints.
pub const IN_HINT: &[&str] = &["tool", "count"];
/// What stands in the text of the hint about a budget.
pub const IN_BUDGET: &[&str] = &["left"];

/// Refuses a text with a place of another name: most likely it is misspelt, and the model would read it as it stands.
pub fn check(path: &str, text: &str, known: &[&str]) -> Result<(), ConfigError> {
    let Some(other) = names(text).find(|name| !known.contains(name)) else { return Ok(()) };
    let known: Vec<String> = known.iter().map(|name| format!("{{{name}}}")).collect();
    Err(ConfigError::new(
        path,
        format!(
            "holds `{{{other}}}`, which the filter does not fill in; it fills in {}",
            known.join(" and ")
        ),
    ))
}

/// The words that stand in braces of their own. What holds other characters, such as JSON, is part of the text.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split('{').skip(1).filter_map(|after| {
        let (name, _) = after.split_once('}')?;
        let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_');
        is_name.then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::{IN_HINT, IN_KILL, check};

    #[test]
    fn a_misspelt_place_is_refused() {
        for text in ["Stopped: {resaon}.", "{Reason}", "{{tool}}", "{reason} {", "{reason}{count}"] {
            let refused = check("kill.message", text, IN_KILL).is_err();
            assert_eq!(refused, text != "{reason} {", "{text}");
        }
        for text in
            ["", "{count} times `{tool}`", "Answer {\"done\": true}.", "{}", "{ reason }", "{tool", "tool}"]
        {
            assert_eq!(check("hint.messages.cycle", text, IN_HINT), Ok(()), "{text}");
        }
        let error = check("kill.message", "Stopped: {resaon}.", IN_KILL).unwrap_err();
        let said = "configuration field `kill.message`: holds `{resaon}`, which the filter does not fill in; it fills in {reason} and {advice}";
        assert_eq!(error.to_string(), said);
    }
}
