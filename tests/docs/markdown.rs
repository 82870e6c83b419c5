//! Reading Markdown as far as the checks need it: headings, links, fenced blocks.

use std::collections::BTreeSet;
use std::fs;

use sentinel_harness::parts;

pub struct Document {
    /// From the root of the repository.
    pub path: String,
    pub text: String,
}

pub struct Block {
    /// `docs/limits.md:12`, of the line with the fence.
    pub place: String,
    pub language: String,
    pub text: String,
    /// The comment on the line before the fence.
    pub comment: Option<String>,
}

/// All documents for people, the front page first.
pub fn documents() -> Vec<Document> {
    let root = parts::root();
    let mut paths: Vec<String> = fs::read_dir(root.join("docs"))
        .expect("the documents")
        .map(|entry| format!("docs/{}", entry.expect("a file").file_name().to_str().expect("a name")))
        .filter(|path| path.ends_with(".md"))
        .collect();
    paths.sort();
    paths.splice(0..0, ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(str::to_owned));
    let read = |path: String| Document {
        text: fs::read_to_string(root.join(&path)).unwrap_or_else(|error| panic!("{path}: {error}")),
        path,
    };
    paths.into_iter().map(read).collect()
}

impl Document {
    pub fn blocks(&self) -> Vec<Block> {
        let mut blocks = Vec::new();
        let mut comment = None;
        let mut lines = self.text.lines().enumerate();
        while let Some((number, line)) = lines.next() {
            let indent = line.len() - line.trim_start().len();
            if let Some(language) = line.trim_start().strip_prefix("```") {
                let mut text = String::new();
                let mut is_closed = false;
                for (_, line) in lines.by_ref() {
                    if line.trim() == "```" {
                        is_closed = true;
                        break;
                    }
                    text.push_str(line.get(indent..).unwrap_or_default());
                    text.push('\n');
                }
                let place = format!("{}:{}", self.path, number + 1);
                assert!(is_closed, "{place}: this block has no end");
                blocks.push(Block { place, language: language.to_owned(), text, comment: comment.take() });
            } else if !line.trim().is_empty() {
                let inner = line.trim().strip_prefix("<!--").and_then(|line| line.strip_suffix("-->"));
                comment = inner.map(|inner| inner.trim().to_owned());
            }
        }
        blocks
    }

    /// The lines outside of fenced blocks.
    pub fn prose(&self) -> impl Iterator<Item = &str> {
        let mut inside = false;
        self.text.lines().filter(move |line| {
            let is_fence = line.trim_start().starts_with("```");
            inside ^= is_fence;
            !inside && !is_fence
        })
    }

    /// Targets of links and images.
    pub fn links(&self) -> Vec<String> {
        let mut links = Vec::new();
        for line in self.prose() {
            // A bracket inside of `code` is no link.
            let outside: String = line.split('`').step_by(2).collect::<Vec<_>>().join("``");
            let inline =
                outside.split("](").skip(1).filter_map(|rest| rest.split(')').next().map(str::to_owned));
            links.extend(inline);
            let html = ["src=\"", "href=\""].into_iter().flat_map(|name| outside.split(name).skip(1));
            links.extend(html.filter_map(|rest| rest.split('"').next().map(str::to_owned)));
        }
        links
    }

    /// Anchors of the headings, as GitHub makes them.
    pub fn anchors(&self) -> BTreeSet<String> {
        let mut anchors = BTreeSet::new();
        for line in self.prose().filter(|line| line.starts_with('#')) {
            let heading = line.trim_start_matches('#').trim();
            let kept = heading
                .to_lowercase()
                .chars()
                .filter(|c| c.is_alphanumeric() || " -_".contains(*c))
                .collect::<String>();
            let slug = kept.replace(' ', "-");
            let anchor = if anchors.contains(&slug) { format!("{slug}-1") } else { slug };
            assert!(anchors.insert(anchor), "{}: three headings are called {heading}", self.path);
        }
        anchors
    }

    /// What stands in single backquotes outside of blocks.
    pub fn code(&self) -> Vec<&str> {
        self.prose().flat_map(|line| line.split('`').skip(1).step_by(2)).collect()
    }
}
