//! Small charts as SVG, drawn where the page is made: they are there without a script, follow the colours of the page, and say what they show
//! to who cannot see them.

use maud::{Markup, html};

const WIDTH: f64 = 120.0;
const HEIGHT: f64 = 28.0;

/// Values over time as a line above a pale area. `label` says in words what is seen.
#[must_use]
pub fn spark(values: &[f64], label: &str) -> Markup {
    let most = values.iter().copied().fold(0.0, f64::max);
    let step = WIDTH / precise(values.len().saturating_sub(1).max(1));
    let height =
        |value: f64| if most > 0.0 { HEIGHT - 1.0 - value / most * (HEIGHT - 3.0) } else { HEIGHT - 1.0 };
    let mut line = String::new();
    for (place, value) in values.iter().enumerate() {
        let x = step * precise(place);
        line.push_str(&format!("{x:.1},{:.1} ", height(*value)));
    }
    let line = line.trim_end();
    html! {
        svg.spark viewBox="0 0 120 28" preserveAspectRatio="none" role="img" aria-label=(label) {
            @if !values.is_empty() {
                polygon points={ "0,28 " (line) " 120,28" } {}
                polyline points=(line) {}
            }
        }
    }
}

/// What was spent over time as a line that rises to its limit, which is a line of its own.
#[must_use]
pub fn against(values: &[f64], limit: f64, label: &str) -> Markup {
    let most = values.iter().copied().fold(limit, f64::max).max(f64::MIN_POSITIVE);
    let step = WIDTH / precise(values.len().saturating_sub(1).max(1));
    let height = |value: f64| HEIGHT - 1.0 - value / most * (HEIGHT - 3.0);
    let point = |(place, value): (usize, &f64)| format!("{:.1},{:.1}", step * precise(place), height(*value));
    let line: Vec<String> = values.iter().enumerate().map(point).collect();
    let at = format!("{:.1}", height(limit));
    html! {
        svg.spark.against viewBox="0 0 120 28" preserveAspectRatio="none" role="img" aria-label=(label) {
            polyline points=(line.join(" ")) {}
            line.limit x1="0" x2="120" y1=(at) y2=(at) {}
        }
    }
}

/// A part of a whole as a bar. What is beside it says the number.
#[must_use]
pub fn bar(part: f64, class: &str) -> Markup {
    let width = format!("{:.1}", part.clamp(0.0, 1.0) * 100.0);
    html! {
        svg class={ "bar " (class) } viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true" {
            rect.track width="100" height="6" {}
            rect.fill width=(width) height="6" {}
        }
    }
}

/// How like each prompt was to the ones before it, with the threshold from which that counts. `points`: turn and similarity.
#[must_use]
pub fn similarity(points: &[(u64, f64)], threshold: f64) -> Markup {
    const LEFT: f64 = 34.0;
    const RIGHT: f64 = 590.0;
    const TOP: f64 = 8.0;
    const BOTTOM: f64 = 92.0;
    let lowest = points.iter().map(|(_, value)| *value).fold(threshold, f64::min);
    let floor = ((lowest - 0.02).clamp(0.0, 0.98) * 20.0).floor() / 20.0;
    let y = |value: f64| BOTTOM - (value.clamp(floor, 1.0) - floor) / (1.0 - floor) * (BOTTOM - TOP);
    let first = points.first().map_or(0, |(turn, _)| *turn);
    let last = points.last().map_or(0, |(turn, _)| *turn);
    let span = precise_u64(last.saturating_sub(first).max(1));
    let x = |turn: u64| LEFT + precise_u64(turn.saturating_sub(first)) / span * (RIGHT - LEFT);
    let line: Vec<String> =
        points.iter().map(|(turn, value)| format!("{:.1},{:.1}", x(*turn), y(*value))).collect();
    let above = points.iter().filter(|(_, value)| *value > threshold).count();
    let label =
        format!("Similarity of {} prompts to earlier ones; {above} above {threshold:.2}", points.len());
    let at = |value: f64| format!("{:.1}", y(value));
    html! {
        svg.curve viewBox="0 0 600 110" role="img" aria-label=(label) {
            @for grid in [1.0, floor] {
                line.grid x1="34" x2="590" y1=(at(grid)) y2=(at(grid)) {}
                text x="28" y=(at(grid)) text-anchor="end" dominant-baseline="middle" { (format!("{grid:.2}")) }
            }
            line.threshold x1="34" x2="590" y1=(at(threshold)) y2=(at(threshold)) {}
            text.threshold x="590" y=(at(threshold)) dy="-4" text-anchor="end" { "counts above " (format!("{threshold:.2}")) }
            polyline points=(line.join(" ")) {}
            @for (turn, value) in points {
                circle class=(if *value > threshold { "above" } else { "below" }) cx=(format!("{:.1}", x(*turn))) cy=(at(*value)) r="3" {
                    title { "Turn " (turn) ": " (format!("{value:.3}")) }
                }
            }
            text x="34" y="106" { "turn " (first) }
            text x="590" y="106" text-anchor="end" { "turn " (last) }
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "places on a screen")]
fn precise(number: usize) -> f64 {
    number as f64
}

#[expect(clippy::cast_precision_loss, reason = "places on a screen")]
fn precise_u64(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_fills_its_frame_whatever_the_values() {
        let drawn = spark(&[0.0, 5.0, 10.0], "rising").into_string();
        assert!(drawn.contains("0.0,27.0 60.0,14.5 120.0,2.0"), "{drawn}");
        for values in [&[][..], &[0.0], &[0.0, 0.0]] {
            let drawn = spark(values, "nothing").into_string();
            assert!(!drawn.contains("NaN") && !drawn.contains("inf"), "{drawn}");
        }
    }

    #[test]
    fn a_line_reaches_its_limit_and_goes_beyond() {
        let drawn = against(&[0.0, 5.0, 10.0], 10.0, "spent").into_string();
        assert!(drawn.contains("0.0,27.0 60.0,14.5 120.0,2.0") && drawn.contains("y1=\"2.0\""), "{drawn}");
        let over = against(&[20.0], 10.0, "spent").into_string();
        assert!(over.contains("0.0,2.0") && over.contains("y1=\"14.5\""), "{over}");
        let nothing = against(&[0.0, 0.0], 0.0, "nothing").into_string();
        assert!(!nothing.contains("NaN") && !nothing.contains("inf"), "{nothing}");
    }

    #[test]
    fn the_curve_shows_what_is_above_the_threshold() {
        let drawn = similarity(&[(1, 0.71), (2, 0.96), (4, 0.99)], 0.95).into_string();
        assert_eq!(drawn.matches("class=\"above\"").count(), 2, "{drawn}");
        assert!(drawn.contains("Similarity of 3 prompts to earlier ones; 2 above 0.95"), "{drawn}");
        for odd in [&[][..], &[(1, 1.0)], &[(1, -3.0), (1, 7.0)]] {
            let drawn = similarity(odd, 1.0).into_string();
            assert!(!drawn.contains("NaN") && !drawn.contains("inf"), "{drawn}");
        }
    }
}
