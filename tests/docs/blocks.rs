//! The code blocks. Each says its language. Configurations of the filter are loaded by the real Envoy, commands name what exists,
//! Python and JavaScript parse; the recipes that name a provider are run by `readme` and by tests/sdk.
//!
//! A comment on the line before a block says what else it is:
//! `<!-- not a configuration -->` for JSON that is not a configuration, `<!-- lines of envoy/demo.yaml -->` for what is quoted from a file.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use sentinel_harness::bootstrap::Bootstrap;
use sentinel_harness::envoy::Envoy;
use sentinel_harness::parts;

use crate::markdown::{Block, documents};

fn blocks(language: &str) -> Vec<Block> {
    let all = documents().into_iter().flat_map(|document| document.blocks());
    let found: Vec<_> = all.filter(|block| block.language == language).collect();
    assert!(!found.is_empty(), "no document has a block of {language}");
    found
}

#[test]
fn every_block_says_a_language_that_is_checked() {
    for block in documents().into_iter().flat_map(|document| document.blocks()) {
        // `toml` is read by Codex itself, in tests/sdk.
        let known = ["json", "yaml", "sh", "python", "js", "promql", "text", "toml"];
        assert!(
            known.contains(&block.language.as_str()),
            "{}: the block is `{}`; take one of {known:?}",
            block.place,
            block.language
        );
    }
}

#[test]
fn every_configuration_is_loaded_by_the_real_envoy() {
    let mut examples = Vec::new();
    for block in blocks("json") {
        serde_json::from_str::<serde_json::Value>(&block.text)
            .unwrap_or_else(|error| panic!("{}: {error}", block.place));
        if block.comment.as_deref() != Some("not a configuration") {
            examples.push(block);
        }
    }
    assert!(examples.len() > 10, "{}", examples.len());
    let all: Vec<&str> = examples.iter().map(|example| example.text.as_str()).collect();
    if let Err(said) = loaded(&all) {
        let one_by_one =
            examples.iter().find_map(|example| loaded(&[&example.text]).err().map(|said| (example, said)));
        let (place, said) =
            one_by_one.map_or(("all together", said), |(example, said)| (&example.place, said));
        panic!("{place}: Envoy refuses it:\n{said}");
    }
    let said = loaded(&["{}", r#"{"no_such_field": 1}"#]).expect_err("a wrong configuration was accepted");
    assert!(said.contains("no_such_field"), "{said}");
}

/// Gives an Envoy that is up a filter for each of these configurations: it compiles the module only once.
fn loaded(configurations: &[&str]) -> Result<(), String> {
    const BEGIN: &str = "                  - name: sentinel\n";
    const END: &str = "                  - name: envoy.filters.http.router\n";
    let filter = |(at, configuration): (usize, &&str)| {
        let mut bootstrap = Bootstrap::demo();
        bootstrap.config(configuration);
        let (_, rest) = bootstrap.text().split_once(BEGIN).expect("the filter");
        let (filter, _) = rest.split_once(END).expect("the filter after it");
        format!("{}{filter}", BEGIN.replace("sentinel", &format!("sentinel-{at}")))
    };
    let filters: String = configurations.iter().enumerate().map(filter).collect();
    let demo = Bootstrap::demo();
    let (before, rest) = demo.text().split_once(BEGIN).expect("the filter");
    let (_, after) = rest.split_once(END).expect("the filter after it");
    Envoy::refusal(&Bootstrap::of([before, &filters, END, after].concat())).map_or(Ok(()), Err)
}

#[test]
fn yaml_parses_and_what_is_quoted_stands_in_its_file() {
    for block in blocks("yaml") {
        serde_saphyr::from_str::<serde_json::Value>(&block.text)
            .unwrap_or_else(|error| panic!("{}: {error}", block.place));
        let Some(path) = block.comment.as_deref().and_then(|comment| comment.strip_prefix("lines of "))
        else {
            continue;
        };
        let file =
            fs::read_to_string(parts::root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
        let mut lines = file.lines().map(str::trim);
        for quoted in block.text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            assert!(
                lines.any(|line| line == quoted),
                "{}: {path} has no further line {quoted:?}",
                block.place
            );
        }
    }
}

/// Runs a program on a text and gives what it complains of.
fn complaint(program: &str, arguments: &[&str], text: &str) -> Option<String> {
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{program}: {error}"));
    child.stdin.take().expect("its input").write_all(text.as_bytes()).expect("it reads");
    let output = child.wait_with_output().expect("its end");
    (!output.status.success()).then(|| String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn python_and_javascript_parse() {
    for block in blocks("python") {
        let wrong =
            complaint("python3", &["-c", "import ast, sys; ast.parse(sys.stdin.read())"], &block.text);
        assert_eq!(wrong, None, "{}", block.place);
    }
    let node = parts::node();
    let node = node.to_str().expect("a path");
    for block in blocks("js") {
        let wrong = complaint(node, &["--check", "--input-type=module", "-"], &block.text);
        assert_eq!(wrong, None, "{}", block.place);
    }
}

#[test]
fn promtool_reads_every_question_to_prometheus() {
    let mut rules = "groups:\n- name: documents\n  rules:\n".to_owned();
    for (at, block) in blocks("promql").iter().enumerate() {
        rules.push_str(&format!("  - record: question:{at}\n    expr: |\n"));
        block.text.lines().for_each(|line| rules.push_str(&format!("      {line}\n")));
    }
    let file = tempfile::NamedTempFile::new().expect("a file");
    fs::write(file.path(), &rules).expect("the rules");
    let output =
        Command::new(parts::promtool()).args(["check", "rules"]).arg(file.path()).output().expect("promtool");
    assert!(output.status.success(), "{}\n{rules}", String::from_utf8_lossy(&output.stderr));
}

/// Names of the Makefile's commands.
fn commands() -> BTreeSet<String> {
    let makefile = fs::read_to_string(parts::root().join("Makefile")).expect("the Makefile");
    let targets = makefile.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_lowercase()));
    targets.filter_map(|line| line.split_once(':').map(|(name, _)| name.to_owned())).collect()
}

/// Names of the workspace's test targets.
fn test_targets() -> BTreeSet<String> {
    let mut names: BTreeSet<String> = ["e2e", "sdk", "console", "k8s", "docs"].map(str::to_owned).into();
    for folder in [
        "filter/config",
        "filter/detect",
        "filter/guard",
        "filter/llm-api",
        "filter/pipeline",
        "embedding-service",
        "embedding-service/console",
        "embedding-service/encoder",
    ] {
        let Ok(entries) = fs::read_dir(parts::root().join(folder).join("tests")) else { continue };
        for entry in entries {
            let name = entry.expect("a test").file_name().into_string().expect("a name");
            names.insert(name.trim_end_matches(".rs").to_owned());
        }
    }
    names
}

#[test]
fn commands_parse_and_name_what_exists() {
    let (commands, tests) = (commands(), test_targets());
    let check = |place: &str, text: &str| {
        let words: Vec<&str> = text.split_whitespace().collect();
        for pair in words.windows(2) {
            let name = pair[1].trim_matches(|c: char| !c.is_ascii_alphanumeric());
            match pair[0] {
                "make"
                    if name.chars().all(|c| c.is_ascii_lowercase() || c == '-') && !pair[1].contains('=') =>
                {
                    assert!(commands.contains(name), "{place}: the Makefile has no `{name}`: {text}");
                }
                "--test" => assert!(tests.contains(name), "{place}: there is no test `{name}`: {text}"),
                _ => {}
            }
        }
    };
    for block in blocks("sh") {
        assert_eq!(complaint("bash", &["-n"], &block.text), None, "{}", block.place);
        check(&block.place, &block.text);
    }
    for document in documents() {
        document.code().iter().for_each(|code| check(&document.path, code));
    }
}

#[test]
fn every_path_of_the_repository_that_is_named_exists() {
    let folders = ["envoy/", "k8s/", "tests/", "filter/", "embedding-service/", "docs/", "proto/", ".ci/"];
    let mut named = 0;
    for document in documents() {
        let commands =
            document.blocks().into_iter().filter(|block| block.language == "sh").map(|block| block.text);
        let commands: Vec<String> = commands.collect();
        let words = commands.iter().flat_map(|text| text.split_whitespace()).chain(document.code());
        for word in words {
            let path = word.split([':', '#']).next().unwrap_or_default().trim_end_matches([',', '.', ')']);
            let is_pattern = path.contains(['*', '<', '$', '{', '"', ' ', '='])
                || path.contains("NAME")
                || path.contains("REGISTRY");
            if folders.iter().any(|folder| path.starts_with(folder)) && !is_pattern {
                assert!(parts::root().join(path).exists(), "{}: there is no {path}", document.path);
                named += 1;
            }
        }
    }
    assert!(named > 50, "{named}");
}
