//! docs/events.md names each event and each field that the filter writes.

use std::collections::BTreeSet;
use std::fs;

use sentinel_harness::parts;

/// The lines that the filter's source makes: the event of each, and the names of its other fields.
fn events() -> Vec<(String, BTreeSet<String>)> {
    let mut found = Vec::new();
    for file in ["record.rs", "fail_open.rs"] {
        let path = parts::root().join("filter/pipeline/src").join(file);
        let source = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for line in source.split("Line::of(\"").skip(1) {
            // To the end of its function.
            let line = line.split("\n}\n").next().unwrap_or_default();
            let (event, line) = line.split_once('"').expect("the event's name");
            let mut names = BTreeSet::new();
            for add in [".text(\"", ".number(\"", ".float(\"", ".flag(\""] {
                let added = line.split(add).skip(1).filter_map(|after| after.split('"').next());
                names.extend(added.map(str::to_owned));
            }
            if line.contains(".about(subject, ") {
                names.extend(["scope", "dialect", "request_id"].map(str::to_owned));
            }
            if line.contains(".about(subject, true,") {
                names.insert("agent".to_owned());
            }
            found.push((event.to_owned(), names));
        }
    }
    found
}

#[test]
fn the_page_has_every_event_and_every_field() {
    let page = fs::read_to_string(parts::root().join("docs/events.md")).expect("the page");
    let events = events();
    let names: BTreeSet<&str> = events.iter().map(|(event, _)| event.as_str()).collect();
    assert!(names.len() >= 6 && names.contains("verdict") && names.contains("fail_open"), "{names:?}");
    let rows: Vec<Vec<&str>> =
        page.lines().filter(|line| line.starts_with("| `")).map(|line| line.split('|').collect()).collect();
    for (event, fields) in &events {
        assert!(
            rows.iter().any(|row| row.len() == 4 && row[1].contains(&format!("`{event}`"))),
            "no row for {event}"
        );
        assert!(!fields.is_empty(), "{event}");
        for field in fields {
            let row = rows.iter().find(|row| row.len() == 5 && row[1].contains(&format!("`{field}`")));
            let row =
                row.unwrap_or_else(|| panic!("docs/events.md has no row for the field `{field}` of {event}"));
            let is_told = match row[2].trim().strip_prefix("all but ") {
                Some(others) => !others.contains(&format!("`{event}`")),
                None => row[2..].iter().any(|cell| cell.contains(&format!("`{event}`"))),
            };
            assert!(is_told, "docs/events.md does not say that `{field}` stands in {event}");
        }
    }
}
