//! Durations as users write them: `50ms`, `0.05s`, `10m`, `1h`.

/// Milliseconds of `text`, or what is wrong with it.
pub fn parse_millis(text: &str) -> Result<u64, String> {
    let unit_at = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (number, unit) = text.split_at_checked(unit_at).unwrap_or((text, ""));
    let factor = match unit {
        "ms" => 1.0,
        "s" => 1_000.0,
        "m" => 60_000.0,
        "h" => 3_600_000.0,
        _ => {
            return Err(format!(
                "`{text}` is no duration; write a number and a unit: 50ms, 0.05s, 10m or 1h"
            ));
        }
    };
    let number: f64 = number
        .parse()
        .map_err(|_| format!("`{text}` has no number before its unit; write for example 50ms"))?;
    let millis = (number * factor).round();
    if !(1.0..=31_536_000_000.0).contains(&millis) {
        return Err(format!("`{text}` is out of range; it must lie between 1ms and 8760h"));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked just above")]
    Ok(millis as u64)
}

#[cfg(test)]
mod tests {
    use super::parse_millis;
    use crate::Config;

    #[test]
    fn units() {
        for (text, millis) in
            [("50ms", 50), ("0.05s", 50), ("1s", 1_000), ("10m", 600_000), ("1h", 3_600_000)]
        {
            assert_eq!(parse_millis(text), Ok(millis), "{text}");
        }
    }

    #[test]
    fn a_number_without_a_unit_is_told_how_to_write_it() {
        for (json, wanted) in [
            (
                r#"{"timeout": 50}"#,
                r#"`timeout`: must be a number with its unit, in quotes: "50ms", "50s" or "50m""#,
            ),
            (
                r#"{"kill": {"expires": 10}}"#,
                r#"`kill.expires`: must be a number with its unit, in quotes: "10ms""#,
            ),
            (r#"{"timeout": "50"}"#, "`timeout`: `50` is no duration; write a number and a unit: 50ms"),
            (r#"{"timeout": true}"#, "`timeout`: must be a string"),
        ] {
            let error = Config::from_json(json.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(wanted), "{json}: {error}");
        }
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "50", "ms", "-1s", "1d", "0ms", "1.2.3s", "9999999h", "50 ms"] {
            assert!(parse_millis(text).is_err(), "{text}");
        }
    }
}
