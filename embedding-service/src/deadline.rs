//! The caller's deadline, from the `grpc-timeout` header.

use std::time::{Duration, Instant};

use tonic::metadata::MetadataMap;

/// The transport drops the call at the deadline without a proper answer; ours has to be a little earlier.
const SAFETY_MARGIN: Duration = Duration::from_millis(1);

/// When the caller stops waiting, less a safety margin. `None` without a readable header, as in the transport.
#[must_use]
pub fn of(metadata: &MetadataMap, now: Instant) -> Option<Instant> {
    let header = metadata.get("grpc-timeout")?.to_str().ok()?;
    now.checked_add(parse(header)?.saturating_sub(SAFETY_MARGIN))
}

/// At most eight digits and a unit: `50m` is 50 milliseconds.
fn parse(header: &str) -> Option<Duration> {
    let (number, unit) = header.split_at_checked(header.len().checked_sub(1)?)?;
    if !(1..=8).contains(&number.len()) || !number.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let number: u64 = number.parse().ok()?;
    Some(match unit {
        "H" => Duration::from_secs(number.saturating_mul(3600)),
        "M" => Duration::from_secs(number.saturating_mul(60)),
        "S" => Duration::from_secs(number),
        "m" => Duration::from_millis(number),
        "u" => Duration::from_micros(number),
        "n" => Duration::from_nanos(number),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit_is_read() {
        for (header, wanted) in [
            ("50m", Duration::from_millis(50)),
            ("99999999n", Duration::from_nanos(99_999_999)),
            ("7u", Duration::from_micros(7)),
            ("0S", Duration::ZERO),
            ("2M", Duration::from_secs(120)),
            ("1H", Duration::from_secs(3600)),
        ] {
            assert_eq!(parse(header), Some(wanted), "{header}");
        }
    }

    #[test]
    fn what_is_no_timeout_is_none() {
        for bad in ["", "m", "5", "-5m", "+5m", "123456789m", "5x", "5 m", "5é"] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn ours_comes_before_the_callers() {
        let now = Instant::now();
        let mut metadata = MetadataMap::new();
        assert_eq!(of(&metadata, now), None);
        metadata.insert("grpc-timeout", "50m".parse().unwrap());
        assert_eq!(of(&metadata, now), Some(now + Duration::from_millis(49)));
        metadata.insert("grpc-timeout", "10u".parse().unwrap());
        assert_eq!(of(&metadata, now), Some(now));
    }
}
