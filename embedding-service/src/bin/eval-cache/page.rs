//! The report as one page: the curve along the threshold, the table, and every pair that was judged wrongly. No script,
//! nothing from a network.

use std::fmt::Write as _;

use crate::figures::{CacheReport, JudgedPair, Point};

const STYLE: &str = include_str!("page.css");
const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 280.0;

pub fn page(report: &CacheReport) -> String {
    let mut html = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>Agent Sentinel: response cache</title><style>{STYLE}</style></head><body>\n<h1>What the response cache would serve</h1>\n"
    );
    let _ = writeln!(
        html,
        "<p>{} pairs of prompts, served from similarity {} (cosine {:.2}) on where both are the same question.</p>",
        report.judged.len(),
        report.threshold,
        report.threshold * 2.0 - 1.0
    );
    let _ = writeln!(html, "<pre>{}</pre>", escaped(&report.table()));
    let _ = writeln!(html, "<h2>Along the threshold</h2>\n{}", chart(report));
    pairs("Traps that would be served", report.served_traps(), &mut html);
    pairs("Rewordings that would be missed", report.missed(), &mut html);
    html.push_str("</body></html>\n");
    html
}

fn chart(report: &CacheReport) -> String {
    type Share = fn(&Point) -> (usize, usize);
    let lines: [(&str, &str, Share); 4] = [
        ("true, verified", "good", |p| (p.verified.true_served, p.verified.true_total)),
        ("traps, verified", "bad", |p| (p.verified.traps_served, p.verified.traps_total)),
        ("true, similarity alone", "good dashed", |p| (p.unverified.true_served, p.unverified.true_total)),
        ("traps, similarity alone", "bad dashed", |p| (p.unverified.traps_served, p.unverified.traps_total)),
    ];
    let curve = report.curve();
    let x = |threshold: f64| (threshold - 0.5) * 2.0 * WIDTH + 40.0;
    let y = |share: f64| HEIGHT - share * (HEIGHT - 30.0);
    let mut svg = format!("<svg viewBox=\"0 0 {} {}\" role=\"img\">", WIDTH + 220.0, HEIGHT + 40.0);
    for percent in [0, 25, 50, 75, 100] {
        let at = y(f64::from(percent) / 100.0);
        let _ = write!(
            svg,
            "<line class=\"grid\" x1=\"40\" x2=\"{}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/><text x=\"0\" y=\"{at:.1}\">{percent} %</text>",
            WIDTH + 40.0
        );
    }
    for threshold in [0.5, 0.6, 0.7, 0.8, 0.9, 1.0] {
        let _ =
            write!(svg, "<text x=\"{:.1}\" y=\"{}\">{threshold}</text>", x(threshold) - 8.0, HEIGHT + 18.0);
    }
    let at = x(report.threshold);
    let _ = write!(svg, "<line class=\"chosen\" x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"20\" y2=\"{HEIGHT}\"/>");
    let mut label = 40.0;
    for (name, class, share) in lines {
        let points: Vec<String> = curve
            .iter()
            .map(|point| {
                let (served, total) = share(point);
                format!("{:.1},{:.1}", x(point.threshold), y(served as f64 / total.max(1) as f64))
            })
            .collect();
        let _ = write!(
            svg,
            "<polyline class=\"{class}\" points=\"{}\"/><line class=\"{class}\" x1=\"{}\" x2=\"{}\" y1=\"{}\" y2=\"{}\"/><text x=\"{}\" y=\"{label}\">{name}</text>",
            points.join(" "),
            WIDTH + 55.0,
            WIDTH + 75.0,
            label - 4.0,
            label - 4.0,
            WIDTH + 80.0
        );
        label += 20.0;
    }
    svg.push_str("</svg>");
    svg
}

fn pairs<'a>(title: &str, pairs: impl Iterator<Item = &'a JudgedPair>, html: &mut String) {
    let _ = writeln!(
        html,
        "<h2>{title}</h2>\n<table><tr><th>similarity</th><th>category</th><th>texts</th><th>same question</th></tr>"
    );
    for judged in pairs {
        let _ = writeln!(
            html,
            "<tr><td>{:.3}</td><td>{}</td><td>{}<br>{}</td><td>{}</td></tr>",
            judged.similarity,
            escaped(&judged.pair.category),
            escaped(&judged.pair.a),
            escaped(&judged.pair.b),
            if judged.is_same { "yes" } else { "no" }
        );
    }
    html.push_str("</table>\n");
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
