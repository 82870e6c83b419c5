//! Numbers as people read them. In tables they are as wide as their digits, and end at one line.

use jiff::Timestamp;
use maud::{Markup, html};

/// US dollars, from billionths. Small sums have two digits that say something.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "for people")]
pub fn usd(nano: u64) -> String {
    let usd = nano as f64 / 1e9;
    match usd {
        _ if nano == 0 => "$0".to_owned(),
        _ if usd < 0.000_1 => "< $0.0001".to_owned(),
        _ if usd < 0.01 => format!("${usd:.4}"),
        _ if usd < 1.0 => format!("${usd:.3}"),
        _ if usd < 1_000.0 => format!("${usd:.2}"),
        _ => format!("${}", count(nano / 1_000_000_000)),
    }
}

/// A whole number, its thousands apart.
#[must_use]
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len().saturating_add(8));
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && digits.len().saturating_sub(place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A large number, short.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "for people")]
pub fn short(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        1_000..100_000 => format!("{:.1}k", number as f64 / 1e3),
        100_000..1_000_000 => format!("{}k", number / 1_000),
        1_000_000..100_000_000 => format!("{:.1}M", number as f64 / 1e6),
        _ => format!("{}M", count(number / 1_000_000)),
    }
}

/// Bytes.
#[must_use]
pub fn bytes(number: u64) -> String {
    match number {
        0..1_000 => format!("{number} B"),
        _ => format!("{}B", short(number)),
    }
}

/// How long something took.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "for people")]
pub fn duration(ms: u64) -> String {
    let seconds = ms / 1_000;
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..60_000 => format!("{:.1} s", ms as f64 / 1e3),
        60_000..3_600_000 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        3_600_000..86_400_000 => format!("{} h {:02} min", seconds / 3_600, seconds / 60 % 60),
        _ => format!("{} d {} h", seconds / 86_400, seconds / 3_600 % 24),
    }
}

/// From the beginning of something on, as 1:05 or 2:03:09.
#[must_use]
pub fn since(ms: u64) -> String {
    let seconds = ms / 1_000;
    match seconds {
        0..3_600 => format!("+{}:{:02}", seconds / 60, seconds % 60),
        _ => format!("+{}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60),
    }
}

/// How often.
#[must_use]
pub fn times(number: u64) -> String {
    match number {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        number => format!("{} times", count(number)),
    }
}

/// A number of things: "1 run", "7 runs".
#[must_use]
pub fn of(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { many })
}

/// The exact time, in UTC.
#[must_use]
pub fn exact(ms: u64) -> String {
    let seconds = i64::try_from(ms / 1_000).unwrap_or(i64::MAX);
    Timestamp::from_second(seconds).map_or_else(|_| String::new(), |time| time.to_string())
}

/// The day, in UTC.
#[must_use]
pub fn day(ms: u64) -> String {
    exact(ms).split('T').next().unwrap_or_default().to_owned()
}

/// A time, told from now. The exact one is at hand; the scripts keep it up to date (`live.js` has the same steps).
#[must_use]
pub fn ago(ms: u64, now_ms: u64) -> Markup {
    let exact = exact(ms);
    html! { time datetime=(exact) title=(exact) data-ago { (told(now_ms.saturating_sub(ms) / 1_000)) } }
}

fn told(seconds: u64) -> String {
    match seconds {
        0..3 => "just now".to_owned(),
        3..60 => format!("{seconds} s ago"),
        60..3_600 => format!("{} min ago", seconds / 60),
        3_600..86_400 => format!("{} h ago", seconds / 3_600),
        86_400..172_800 => "1 day ago".to_owned(),
        _ => format!("{} days ago", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_have_the_digits_that_say_something() {
        let sums = [0, 1, 4_200_000, 42_000_000, 421_000_000, 12_345_000_000, 1_234_567_000_000_000];
        let wanted = ["$0", "< $0.0001", "$0.0042", "$0.042", "$0.421", "$12.35", "$1,234,567"];
        assert_eq!(sums.map(usd), wanted);
    }

    #[test]
    fn counts_are_short_or_exact() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
        let numbers = [999, 1_250, 123_456, 1_234_567, u64::MAX];
        assert_eq!(numbers.map(short), ["999", "1.2k", "123k", "1.2M", "18,446,744,073,709M"]);
        assert_eq!([12, 2_048].map(bytes), ["12 B", "2.0kB"]);
        assert_eq!([1, 2, 3_000].map(times), ["once", "twice", "3,000 times"]);
    }

    #[test]
    fn times_are_told_from_now_and_exactly() {
        let wanted = ["340 ms", "2.1 s", "4 min 05 s", "3 h 12 min", "2 d 1 h"];
        assert_eq!([340, 2_100, 245_000, 11_520_000, 176_400_000].map(duration), wanted);
        assert_eq!([5_000, 3_909_000].map(since), ["+0:05", "+1:05:09"]);
        let ago = ago(1_700_000_000_000, 1_700_000_125_000).into_string();
        assert!(ago.contains("datetime=\"2023-11-14T22:13:20Z\"") && ago.contains(">2 min ago<"), "{ago}");
        assert_eq!(exact(u64::MAX), "", "no time is that late");
        assert_eq!(told(0), "just now");
    }
}
