//! The links and anchors: in the Markdown as GitHub shows it, and in the pages of the book as `make book` makes it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use sentinel_harness::parts;

use crate::markdown::documents;

/// `docs/a.md` and `../envoy/b.yaml` give `envoy/b.yaml`.
fn resolved(page: &Path, link: &str) -> PathBuf {
    let mut path = page.parent().unwrap_or(Path::new("")).to_path_buf();
    for part in Path::new(link).components() {
        match part {
            Component::ParentDir => {
                assert!(path.pop(), "{}: {link} leads out of the repository", page.display())
            }
            Component::CurDir => {}
            part => path.push(part),
        }
    }
    path
}

fn is_elsewhere(link: &str) -> bool {
    assert!(!link.starts_with("http://") || link.starts_with("http://127.0.0.1"), "{link}: take https");
    link.starts_with("https://") || link.starts_with("http://") || link.starts_with("mailto:")
}

#[test]
fn every_link_in_the_markdown_leads_somewhere() {
    let documents = documents();
    let anchors: BTreeMap<_, _> =
        documents.iter().map(|document| (PathBuf::from(&document.path), document.anchors())).collect();
    let mut wrong = Vec::new();
    let mut followed = 0;
    for document in &documents {
        for link in document.links().iter().filter(|link| !is_elsewhere(link)) {
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let page = Path::new(&document.path);
            let target = if path.is_empty() { page.to_path_buf() } else { resolved(page, path) };
            let is_there = parts::root().join(&target).is_file();
            let has_anchor =
                anchor.is_empty() || anchors.get(&target).is_some_and(|anchors| anchors.contains(anchor));
            if !is_there || !has_anchor {
                wrong.push(format!("{}: {link}", document.path));
            }
            followed += 1;
        }
    }
    assert!(
        wrong.is_empty(),
        "links that lead nowhere (links lead to files, not to folders):\n{}",
        wrong.join("\n")
    );
    assert!(followed > 50, "only {followed} links were found");
}

#[test]
fn every_page_is_in_the_table_of_contents_once() {
    let documents = documents();
    let contents =
        documents.iter().find(|document| document.path == "docs/SUMMARY.md").expect("the contents");
    let listed = contents.links();
    for document in &documents {
        let Some(name) = document.path.strip_prefix("docs/").filter(|name| *name != "SUMMARY.md") else {
            continue;
        };
        let times = listed.iter().filter(|link| *link == name).count();
        assert_eq!(times, 1, "{name} stands in docs/SUMMARY.md {times} times");
    }
}

/// The values of an attribute in a page.
fn values<'a>(html: &'a str, attribute: &str) -> Vec<&'a str> {
    let mark = format!(" {attribute}=\"");
    html.split(&mark).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

#[test]
fn every_link_in_the_book_leads_somewhere() {
    let site = Path::new(env!("CARGO_TARGET_TMPDIR")).join("site");
    let output = Command::new("make")
        .arg("book")
        .arg(format!("SITE={}", site.display()))
        .current_dir(parts::root())
        // Those of a `make` around this one are not for it.
        .env_remove("MAKEFLAGS")
        .env_remove("MAKELEVEL")
        .output()
        .expect("make");
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert!(output.status.success(), "make book failed:\n{said}");
    assert!(!said.contains("WARN") && !said.contains("ERROR"), "mdBook complains:\n{said}");
    let book = site.join("docs");
    let pages: BTreeMap<PathBuf, String> = fs::read_dir(&book)
        .expect("the book")
        .map(|entry| entry.expect("a file").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "html"))
        .map(|path| {
            (
                path.strip_prefix(&site).expect("in it").to_path_buf(),
                fs::read_to_string(&path).expect("a page"),
            )
        })
        .collect();
    let ids: BTreeMap<&PathBuf, BTreeSet<&str>> =
        pages.iter().map(|(path, html)| (path, values(html, "id").into_iter().collect())).collect();
    let mut wrong = Vec::new();
    for (page, html) in &pages {
        for link in [values(html, "href"), values(html, "src")].concat() {
            if is_elsewhere(link) || link.starts_with("data:") {
                continue;
            }
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let path = path.split('?').next().unwrap_or_default();
            let target = if path.is_empty() { page.clone() } else { resolved(page, path) };
            let has_anchor = anchor.is_empty() || ids.get(&target).is_some_and(|ids| ids.contains(anchor));
            if !site.join(&target).is_file() || !has_anchor {
                wrong.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "links of the book that lead nowhere:\n{}", wrong.join("\n"));
    for document in documents() {
        let Some(name) = document.path.strip_prefix("docs/").filter(|name| *name != "SUMMARY.md") else {
            continue;
        };
        let page = name.replace(".md", ".html");
        assert!(pages.contains_key(&Path::new("docs").join(&page)), "the book has no {page}");
    }
}
