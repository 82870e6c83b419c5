//! The pictures in docs/images/signal-*.svg, drawn from signals.json. `UPDATE_GOLDEN=1 cargo test -p sentinel-tests --test docs`
//! draws them anew. That the filter decides as they show is the business of `signals`. The diagrams are drawn by diagrams.py,
//! the dashboard by dashboard.py.

use std::fmt::Write;
use std::fs;

use sentinel_harness::parts;

use crate::signals::{Example, Turn, examples};

const WIDTH: usize = 800;
const TEXT_LEFT: usize = 40;
const LINE: usize = 20;
/// Characters of a line that fit beside the verdict.
const LONGEST: usize = 78;

/// Both colours of each class have enough contrast to their background, so the picture is readable on any page.
const STYLE: &str = "
  .card { fill: #ffffff; stroke: #d0d7de }
  .row { fill: #f6f8fa; stroke: #d0d7de }
  .repeated { fill: #fff8c5; stroke: #bf8700 }
  text { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, \"DejaVu Sans Mono\", monospace; font-size: 13px; fill: #1f2328 }
  .quiet { fill: #59636e }
  .badge { fill: #9a6700 }
  .badge-text, .verdict-text { fill: #ffffff; text-anchor: middle; font-weight: bold }
  .hint { fill: #9a6700 }
  .kill { fill: #cf222e }
  @media (prefers-color-scheme: dark) {
    .card { fill: #0d1117; stroke: #3d444d }
    .row { fill: #151b23; stroke: #3d444d }
    .repeated { fill: #2e2a1f; stroke: #d29922 }
    text { fill: #f0f6fc }
    .quiet { fill: #9198a1 }
    .badge, .hint { fill: #845306 }
    .kill { fill: #b62324 }
  }
";

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// What a row says, line by line; the second line is an answer.
fn lines(turn: &Turn) -> Vec<String> {
    let (first, second) = match turn {
        Turn { user: Some(text), .. } => (format!("user    {text}"), None),
        Turn { call: Some(call), result, .. } => {
            (format!("agent   {call}"), result.as_ref().map(|text| format!("tool    {text}")))
        }
        Turn { say: Some(text), answer, .. } => {
            (format!("agent   {text}"), answer.as_ref().map(|text| format!("user    {text}")))
        }
        Turn { prompt: Some(text), answer, .. } => {
            (format!("prompt  {text}"), answer.as_ref().map(|text| format!("model   {text}")))
        }
        Turn { mcp: Some(call), .. } => (format!("call    {call}"), None),
        other => panic!("a turn without a text: {other:?}"),
    };
    [Some(first), second].into_iter().flatten().collect()
}

fn draw(example: &Example) -> String {
    let mut rows = String::new();
    let mut y = 16;
    for turn in &example.turns {
        let lines = lines(turn);
        for line in &lines {
            assert!(line.chars().count() <= LONGEST, "{}: too long for the picture: {line}", example.signal);
        }
        let height = lines.len() * LINE + 12;
        let class = if turn.mark.is_some() { "repeated" } else { "row" };
        writeln!(
            rows,
            r#"<rect class="{class}" x="16" y="{y}" width="{}" height="{height}" rx="6"/>"#,
            WIDTH - 110
        )
        .unwrap();
        for (at, line) in lines.iter().enumerate() {
            let quiet = if at == 0 { "" } else { r#" class="quiet""# };
            let baseline = y + 19 + at * LINE;
            writeln!(
                rows,
                r#"<text{quiet} x="{TEXT_LEFT}" y="{baseline}" xml:space="preserve">{}</text>"#,
                escape(line)
            )
            .unwrap();
        }
        if let Some(mark) = turn.mark {
            let middle = y + height / 2;
            writeln!(rows, r#"<circle class="badge" cx="16" cy="{middle}" r="11"/>"#).unwrap();
            writeln!(rows, r#"<text class="badge-text" x="16" y="{}">{mark}</text>"#, middle + 5).unwrap();
        }
        if let Some(verdict) = &turn.verdict {
            let middle = y + height / 2;
            writeln!(
                rows,
                r#"<rect class="{verdict}" x="{}" y="{}" width="64" height="26" rx="13"/>"#,
                WIDTH - 80,
                middle - 13
            )
            .unwrap();
            writeln!(
                rows,
                r#"<text class="verdict-text" x="{}" y="{}">{verdict}</text>"#,
                WIDTH - 48,
                middle + 5
            )
            .unwrap();
        }
        y += height + 8;
    }
    let height = y + 8;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"-6 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"img\" \
         aria-labelledby=\"title\">\n<title id=\"title\">{signal}: {caption}</title>\n<style>{STYLE}</style>\n\
         <rect class=\"card\" x=\"-5\" y=\"1\" width=\"{card}\" height=\"{card_height}\" rx=\"8\"/>\n{rows}</svg>\n",
        width = WIDTH + 6,
        card = WIDTH + 4,
        card_height = height - 2,
        signal = escape(&example.signal),
        caption = escape(&example.caption),
    )
}

#[test]
fn the_pictures_show_the_examples() {
    let folder = parts::root().join("docs/images");
    let mut outdated = Vec::new();
    let mut names = Vec::new();
    for example in examples() {
        let name = format!("signal-{}.svg", example.signal.replace('_', "-"));
        let drawn = draw(&example);
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            fs::write(folder.join(&name), &drawn).expect("the picture");
        } else if fs::read_to_string(folder.join(&name)).ok().as_ref() != Some(&drawn) {
            outdated.push(name.clone());
        }
        names.push(name);
    }
    assert!(outdated.is_empty(), "{outdated:?} are out of date: see the first lines of this file");
    for entry in fs::read_dir(folder).expect("the pictures") {
        let name = entry.expect("a picture").file_name().into_string().expect("a name");
        assert!(!name.starts_with("signal-") || names.contains(&name), "{name} belongs to no example");
    }
}

/// Runs a script of this folder with `--check`.
fn assert_up_to_date(script: &str) {
    let output = std::process::Command::new("python3")
        .arg(parts::root().join("tests/docs").join(script))
        .arg("--check")
        .output()
        .expect("Python starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_diagrams_are_those_that_are_drawn() {
    assert_up_to_date("diagrams.py");
}

#[test]
fn the_picture_of_the_dashboard_has_its_panels() {
    assert_up_to_date("dashboard.py");
}
