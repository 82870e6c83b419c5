//! Pages are drawn from values made up for it, and looked at as a browser would. With `CONSOLE_GALLERY=FOLDER` they are written there too.

// Lints for the service's own code: a test may panic.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::unwrap_used
)]

mod changed;
mod sample;

use std::{collections::HashSet, fs, path::Path};

use maud::Markup;
use sentinel_console::{
    asset::{ALL, CONTENT_SECURITY_POLICY},
    login::Login,
    page::{Page, Tab, Viewer},
    run::Who,
    stop::{Many, Stops},
};

const TABS: [Tab; 2] = [Tab::Now, Tab::Runs];

fn operator() -> Viewer {
    Viewer::Operator { token: "0123456789abcdef".to_owned() }
}

fn page(title: &str, tab: Tab, viewer: &Viewer, content: &Markup) -> String {
    let page = Page { title, tab, tabs: &TABS, viewer, address: "/console/runs?agent=a%26b", is_live: true };
    page.document(content).into_string()
}

/// All pages, by name.
fn pages() -> Vec<(&'static str, String)> {
    let viewer = operator();
    let viewer = &viewer;
    let (now, runs, run) = sample::evil();
    let many = |who: &dyn Fn(u64) -> Who| Many {
        runs: (0..30).map(|number| (format!("{number:032x}"), who(number))).collect(),
        cost_nano_usd: 4_210_000_000,
        ended: 2,
        back: "/console/runs?agent=a".to_owned(),
    };
    let plain = many(&|number| sample::who("crawler", &format!("site-{number}")));
    let evil = many(&|_| Who { agent: sample::hostile(), run: sample::hostile(), ..Who::default() });
    let login = Login { next: "/console".to_owned(), problem: Some("This is not the key."), has_key: true };
    let stops = Stops { now_ms: sample::NOW, stops: run.stops.clone(), more: 3 };
    vec![
        ("now", page("Now", Tab::Now, viewer, &sample::now().content(viewer))),
        ("now-calm", page("Now", Tab::Now, &Viewer::Reader, &sample::calm().content(&Viewer::Reader))),
        ("runs", page("Runs", Tab::Runs, viewer, &sample::runs().content(viewer))),
        ("run", page("repo-fixer", Tab::Runs, viewer, &sample::stuck().content(viewer))),
        ("run-well", page("repo-fixer", Tab::Runs, viewer, &sample::well().content(viewer))),
        ("stop", page("Stop", Tab::Runs, viewer, &plain.content(viewer))),
        (
            "ask-budget",
            page("Change a budget", Tab::Other, viewer, &changed::ask_budget("crawler").content(viewer)),
        ),
        (
            "evil-ask-budget",
            page("Change", Tab::Other, viewer, &changed::ask_budget(sample::HOSTILE).content(viewer)),
        ),
        ("login", page("Log in", Tab::Other, &Viewer::Reader, &login.content())),
        ("evil-now", page(sample::HOSTILE, Tab::Now, viewer, &now.content(viewer))),
        ("evil-runs", page("Runs", Tab::Runs, viewer, &runs.content(viewer))),
        ("evil-run", page(sample::HOSTILE, Tab::Runs, viewer, &run.content(viewer))),
        ("evil-stop", page("Stop", Tab::Runs, viewer, &evil.content(viewer))),
        (
            "settings-agent",
            page("Settings", Tab::Other, viewer, &changed::settings("crawler", "60").content(viewer)),
        ),
        (
            "settings-ask",
            page("Settings", Tab::Other, viewer, &changed::ask("crawler", "60").content(viewer)),
        ),
        (
            "evil-settings",
            page(
                "Settings",
                Tab::Other,
                viewer,
                &changed::settings(&sample::hostile(), sample::HOSTILE).content(viewer),
            ),
        ),
        (
            "evil-ask",
            page(
                "Settings",
                Tab::Other,
                viewer,
                &changed::ask(&sample::hostile(), sample::HOSTILE).content(viewer),
            ),
        ),
        ("evil-stops", page("Stops", Tab::Other, viewer, &stops.content(viewer))),
    ]
}

/// Tags of a page as a browser reads them: each with its attributes. Enough for markup that `maud` has made.
fn tags(html: &str) -> Vec<(String, Vec<(String, String)>)> {
    let mut tags = Vec::new();
    let mut rest = html;
    while let Some((_, tail)) = rest.split_once('<') {
        rest = tail;
        if rest.starts_with(['/', '!']) {
            continue;
        }
        let name: String = rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
        let mut attributes = Vec::new();
        rest = &rest[name.len()..];
        loop {
            rest = rest.trim_start();
            if let Some(tail) = rest.strip_prefix('>') {
                rest = tail;
                break;
            }
            let end = rest.find(['=', '>', ' ']).unwrap_or(rest.len());
            let (attribute, tail) = rest.split_at(end);
            assert!(
                !attribute.is_empty(),
                "a tag does not end: <{name} … {}",
                rest.chars().take(40).collect::<String>()
            );
            match tail.strip_prefix("=\"") {
                Some(tail) => {
                    let (value, tail) = tail.split_once('"').unwrap();
                    attributes.push((attribute.to_owned(), value.to_owned()));
                    rest = tail;
                }
                None => {
                    attributes.push((attribute.to_owned(), String::new()));
                    rest = tail;
                }
            }
        }
        tags.push((name, attributes));
    }
    tags
}

#[test]
fn nothing_from_outside_becomes_markup() {
    // The tags that the pages are made of, as they are with harmless texts.
    let known: HashSet<String> = pages()
        .into_iter()
        .filter(|(name, _)| !name.starts_with("evil"))
        .flat_map(|(_, html)| tags(&html).into_iter().map(|(tag, _)| tag))
        .collect();
    for (page, html) in pages() {
        for (tag, attributes) in tags(&html) {
            assert!(known.contains(&tag) || tag == "h3", "{page}: <{tag}> is a tag of no page");
            for (name, value) in &attributes {
                assert!(!name.starts_with("on") && name != "style", "{page}: <{tag} {name}>");
                if ["href", "src", "action"].contains(&name.as_str()) {
                    assert!(
                        value.starts_with("/console") || value.starts_with('#'),
                        "{page}: {name}={value}"
                    );
                }
            }
            if tag == "script" {
                assert!(
                    attributes.iter().any(|(name, _)| name == "src"),
                    "{page}: a script stands in the page"
                );
            }
        }
        assert!(!html.contains("<style"), "{page}");
        assert_eq!(html.matches("<script").count(), 3, "{page}");
    }
}

#[test]
fn no_character_turns_the_page_around() {
    for (page, html) in pages() {
        let odd =
            html.chars().find(|c| sentinel_console::text::is_odd(*c) && !matches!(c, '\n' | '\t' | '\r'));
        // A field of a form holds its value as it is.
        let values: String = tags(&html)
            .into_iter()
            .flat_map(|(_, attributes)| attributes)
            .filter(|(name, _)| name == "value")
            .map(|(_, value)| value)
            .collect();
        assert!(
            odd.is_none_or(|c| values.contains(c)
                && ["evil-now", "evil-runs", "evil-settings", "evil-ask", "evil-ask-budget"].contains(&page)),
            "{page}: {odd:?}"
        );
    }
}

#[test]
fn texts_of_ten_kilobytes_do_not_make_a_page_large() {
    let largest = pages().into_iter().map(|(page, html)| (html.len(), page)).max().unwrap();
    assert!(largest.0 < 1_000_000, "{largest:?}");
}

#[test]
fn what_can_be_clicked_and_seen_has_a_name() {
    for (page, html) in pages() {
        let mut ids = HashSet::new();
        let tags = tags(&html);
        for (tag, attributes) in &tags {
            let has = |wanted: &str| attributes.iter().any(|(name, _)| name == wanted);
            if let Some((_, id)) = attributes.iter().find(|(name, _)| name == "id") {
                assert!(ids.insert(id.clone()), "{page}: two elements have the id {id}");
            }
            if tag == "svg" {
                assert!(has("aria-label") || has("aria-hidden"), "{page}: an SVG says nothing");
            }
        }
        let is = |wanted: &str| tags.iter().filter(|(tag, _)| tag == wanted).count();
        assert_eq!((is("h1"), is("main")), (1, 1), "{page}");
        assert!(html.contains("<html lang=\"en\">"), "{page}");
    }
}

#[test]
fn every_form_that_changes_something_carries_the_token_and_nobody_else_gets_one() {
    for (page, html) in pages() {
        for form in html.split("<form ").skip(1) {
            let form = form.split("</form>").next().unwrap();
            let is_login = form.contains("action=\"/console/login\"");
            let reads = form.contains("method=\"get\"");
            assert!(
                reads || is_login || form.contains("name=\"token\" value=\"0123456789abcdef\""),
                "{page}: {form}"
            );
        }
    }
    for content in [sample::now().content(&Viewer::Reader), sample::stuck().content(&Viewer::Reader)] {
        let html = page("Now", Tab::Now, &Viewer::Reader, &content);
        assert!(!html.contains("method=\"post\""), "who may not change anything is shown no form");
    }
}

#[test]
fn a_loop_is_seen_in_the_marks() {
    let html = sample::stuck().content(&operator()).into_string();
    let glance = html.split("class=\"glance\"").nth(1).unwrap().split("</ol>").next().unwrap();
    let words: Vec<&str> = glance
        .split("class=\"half h")
        .skip(1)
        .filter_map(|half| half.split('>').nth(1)?.split('<').next())
        .collect();
    let (list, read) = (words[0], words[1]);
    assert_ne!(list, read);
    assert_eq!(words, [list, read, list, read, list, read, list, read, list, read]);
    assert!(html.contains("5 of 5"), "the last repetition says which it is");
    assert_eq!(html.matches("dot start").count(), 2, "two steps come again, and have a line each");
    assert!(html.contains("failed 5 times with the same error; Sentinel ended the run."), "{html}");
}

#[test]
fn assets_are_named_by_their_content_and_the_policy_allows_nothing_inline() {
    let mut paths = HashSet::new();
    for asset in ALL {
        assert!(paths.insert(asset.path()), "{}", asset.name);
        assert!(!asset.content.is_empty(), "{}", asset.name);
    }
    assert!(!CONTENT_SECURITY_POLICY.contains("unsafe"), "{CONTENT_SECURITY_POLICY}");
    for script in ALL.into_iter().filter(|asset| asset.content_type.starts_with("text/javascript")) {
        for forbidden in ["eval(", "new Function", "document.write"] {
            assert!(!script.content.contains(forbidden), "{}: {forbidden}", script.name);
        }
    }
}

#[test]
fn pages_are_written_where_that_is_asked_for() {
    let Some(folder) = std::env::var_os("CONSOLE_GALLERY") else { return };
    fs::create_dir_all(&folder).unwrap();
    for (name, html) in pages() {
        fs::write(Path::new(&folder).join(format!("{name}.html")), html).unwrap();
    }
}

#[test]
fn a_lower_limit_says_what_it_would_have_meant() {
    let page = changed::ask_budget("crawler").content(&operator()).into_string();
    for wanted in [
        "Of 14 accounts, 1 reached a limit. With the new limits that would have been <b>3</b>, on 5 days; 2 more would have come close.",
        "would have been stopped, with $17.20 on 2026-",
        "would have gone on; it was stopped with $17.20 on 2026-",
        "is not known, because they were stopped",
        "and 1 account more",
    ] {
        assert!(page.contains(wanted), "{wanted}: {page}");
    }
}
