//! Figures as SVG, drawn by hand: bars of shares, and histograms. They take their colours from the page.

use std::fmt::Write as _;

use crate::escape::escaped;

/// A bar: its name, and shares from 0 to 1, each with its class and what it says.
pub struct Bar {
    pub name: String,
    pub parts: Vec<(&'static str, f64, String)>,
}

const NAME: usize = 330;
const WIDTH: usize = 420;
const LINE: usize = 17;

/// Horizontal bars, one group of them a name.
pub fn bars(bars: &[Bar]) -> String {
    let height = bars.iter().map(|bar| bar.parts.len() * LINE + 10).sum::<usize>();
    let mut svg = String::new();
    let mut y = 4;
    for bar in bars {
        let middle = y + bar.parts.len() * LINE / 2 + 4;
        let _ = write!(
            svg,
            r#"<text x="{}" y="{middle}" text-anchor="end">{}</text>"#,
            NAME - 8,
            escaped(&bar.name)
        );
        for (class, share, says) in &bar.parts {
            let width = (share * WIDTH as f64).max(if *share > 0.0 { 2.0 } else { 0.0 });
            let _ = write!(
                svg,
                r#"<rect class="track" x="{NAME}" y="{y}" width="{WIDTH}" height="{}"/><rect class="{class}" x="{NAME}" y="{y}" width="{width:.1}" height="{}"/><text x="{}" y="{}">{}</text>"#,
                LINE - 4,
                LINE - 4,
                NAME + WIDTH + 8,
                y + LINE - 6,
                escaped(says)
            );
            y += LINE;
        }
        y += 10;
    }
    format!(r#"<svg viewBox="0 0 {} {height}" role="img">{svg}</svg>"#, NAME + WIDTH + 130)
}

/// How often each number comes; classes beside each other.
pub fn histogram(axis: &str, series: &[(&'static str, &[usize])]) -> String {
    const HEIGHT: usize = 120;
    const LEFT: usize = 34;
    let all = || series.iter().flat_map(|(_, numbers)| numbers.iter().copied());
    let (Some(first), Some(last)) = (all().min(), all().max()) else { return String::new() };
    // Long runs share columns, so that the figure keeps its width.
    let of_column = (last - first) / 40 + 1;
    let columns = (last - first) / of_column + 1;
    let mut counts = vec![vec![0_usize; series.len()]; columns];
    for (which, (_, numbers)) in series.iter().enumerate() {
        for number in *numbers {
            counts[(number - first) / of_column][which] += 1;
        }
    }
    let most = counts.iter().flatten().copied().max().unwrap_or(1).max(1);
    let step = (680 / columns).clamp(12, 60);
    let bar = (step - 4) / series.len().max(1);
    let mut svg = String::new();
    for (column, counts) in counts.iter().enumerate() {
        let x = LEFT + column * step;
        for (which, count) in counts.iter().enumerate() {
            let height = count * HEIGHT / most;
            let _ = write!(
                svg,
                r#"<rect class="{}" x="{}" y="{}" width="{bar}" height="{height}"><title>{count}</title></rect>"#,
                series[which].0,
                x + which * bar,
                HEIGHT + 8 - height
            );
        }
        if step >= 20 || column % 2 == 0 {
            let _ = write!(
                svg,
                r#"<text x="{}" y="{}" text-anchor="middle">{}</text>"#,
                x + step / 2 - 2,
                HEIGHT + 22,
                first + column * of_column
            );
        }
    }
    let width = LEFT + columns * step + 10;
    let _ = write!(
        svg,
        r#"<text x="{}" y="14" text-anchor="end">{most}</text><text x="{}" y="{}" text-anchor="end">0</text><text x="{LEFT}" y="{}">{}</text>"#,
        LEFT - 6,
        LEFT - 6,
        HEIGHT + 8,
        HEIGHT + 40,
        escaped(axis)
    );
    format!(
        r#"<svg viewBox="0 0 {} {}" role="img" style="max-width:{}px">{svg}</svg>"#,
        width.max(WIDTH),
        HEIGHT + 48,
        width.max(WIDTH)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_has_a_bar_for_each_count_and_keeps_its_width() {
        let svg = histogram("step", &[("hint", &[3, 3, 5]), ("kill", &[7])]);
        assert_eq!(svg.matches("<title>2</title>").count(), 1);
        assert_eq!(svg.matches("<title>1</title>").count(), 2);
        assert_eq!(svg.matches("<rect").count(), 10);
        assert!(histogram("step", &[("hint", &[1, 5_000])]).matches("<rect").count() <= 41);
        assert_eq!(histogram("step", &[("hint", &[])]), "");
    }

    #[test]
    fn names_cannot_break_the_page() {
        let bar = Bar { name: "<b>&".to_owned(), parts: vec![("hint", 0.5, "\"half\"".to_owned())] };
        let svg = bars(&[bar]);
        assert!(svg.contains("&lt;b&gt;&amp;") && !svg.contains("<b>"));
    }
}
