//! The Dockerfiles, read as docker reads them, and their steps run with the project's own set-up. Images are built from them by
//! `make containers`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use sentinel_harness::parts;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::manifests::{find, objects};

const SERVICE: &str = "embedding-service/Dockerfile";
const FILTER: &str = "filter/Dockerfile";

/// Instructions with their arguments, one stage after the other.
fn instructions(path: &str) -> Vec<(String, String)> {
    let text = fs::read_to_string(parts::root().join(path)).unwrap();
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| line.split_once(' ').unwrap())
        .map(|(name, rest)| (name.to_owned(), rest.trim().to_owned()))
        .collect()
}

/// The instructions after the last FROM.
fn last_stage(path: &str) -> Vec<(String, String)> {
    let all = instructions(path);
    let last = all.iter().rposition(|(name, _)| name == "FROM").unwrap();
    all[last + 1..].to_vec()
}

/// What the run image sets in the environment.
pub fn environment() -> BTreeMap<String, String> {
    let pairs = last_stage(SERVICE).into_iter().filter(|(name, _)| name == "ENV");
    pairs.map(|(_, pair)| pair.split_once('=').map(|(k, v)| (k.to_owned(), v.to_owned())).unwrap()).collect()
}

/// Where a path of the run image comes from on this machine.
pub fn on_this_machine(path: &str) -> std::path::PathBuf {
    for (folder, file) in [("/opt/onnxruntime/", parts::onnxruntime()), ("/opt/model/", parts::model())] {
        if let Some(rest) = path.strip_prefix(folder) {
            return file.parent().unwrap().join(rest);
        }
    }
    panic!("nothing is known of {path} in the image");
}

#[test]
fn the_filter_is_one_layer_with_one_file() {
    let built = "target/wasm32-wasip1/release/sentinel_filter.wasm";
    let module = |place: &str| vec![("COPY".to_owned(), format!("--from=optimised /src/{built} {place}"))];
    assert_eq!(last_stage(FILTER), module("/plugin.wasm"));
    assert_eq!(instructions(FILTER).iter().rfind(|(name, _)| name == "FROM").unwrap().1, "scratch");
    // Where the overlay standalone mounts the image, Envoy looks for that file.
    let all = objects("overlays/standalone");
    let bootstrap = find(&all, "ConfigMap", "agent-gateway-envoy")["data"]["envoy.yaml"].as_str().unwrap();
    let envoy = &find(&all, "Deployment", "agent-gateway")["spec"]["template"]["spec"]["containers"][0];
    let mount =
        envoy["volumeMounts"].as_array().unwrap().iter().find(|mount| mount["name"] == "module").unwrap();
    assert!(bootstrap.contains(&format!("filename: {}/plugin.wasm", mount["mountPath"].as_str().unwrap())));
    // Around it, for compose.yaml, is the Envoy of the manifests, which looks in the same place.
    let all = instructions(FILTER);
    let stage =
        all.iter().position(|(name, rest)| name == "FROM" && rest == "${ENVOY_IMAGE} AS envoy").unwrap();
    assert_eq!(all[stage + 1..=stage + 1], module("/module/plugin.wasm"));
    assert!(all.contains(&("ARG".to_owned(), format!("ENVOY_IMAGE={}", envoy["image"].as_str().unwrap()))));
}

/// What holds for every Dockerfile here: pinned images, copies of what is there, commands without a shell. Gives the stages.
fn sound(path: &str) -> Vec<String> {
    let all = instructions(path);
    let arguments: BTreeMap<&str, &str> =
        all.iter().filter(|(name, _)| name == "ARG").map(|(_, rest)| rest.split_once('=').unwrap()).collect();
    let mut stages = Vec::new();
    for (name, rest) in &all {
        match name.as_str() {
            "FROM" if rest == "scratch" => {}
            "FROM" => {
                let image = rest.split(' ').next().unwrap().trim_start_matches("${").trim_end_matches('}');
                let image = arguments[image];
                let tag = image.rsplit(':').next().unwrap().trim_start_matches("distroless-v");
                assert!(
                    tag.split('.').count() >= 2 && tag.starts_with(|c: char| c.is_ascii_digit()),
                    "{image} may change"
                );
                stages.extend(rest.split_once(" AS ").map(|(_, stage)| stage.to_owned()));
            }
            "COPY" => match rest.strip_prefix("--from=") {
                Some(rest) => assert!(stages.contains(&rest.split(' ').next().unwrap().to_owned()), "{rest}"),
                None => {
                    let sources: Vec<&str> = rest.split(' ').collect();
                    for source in &sources[..sources.len() - 1] {
                        assert!(parts::root().join(source).exists(), "{source} is copied, and is not there");
                    }
                }
            },
            "RUN" => assert!(rest.starts_with('['), "a shell would run {rest}"),
            "ARG" | "WORKDIR" | "ENV" | "EXPOSE" | "USER" | "ENTRYPOINT" => {}
            other => panic!("{other} is not known here"),
        }
    }
    // The toolchain of the image is the pinned one, and no other is fetched.
    let rust = arguments["BUILD_IMAGE"].split_once("rust:").unwrap().1.split('-').next().unwrap();
    assert!(all.contains(&("ENV".to_owned(), format!("RUSTUP_TOOLCHAIN={rust}"))), "{path}");
    assert_eq!(said("rust-toolchain.toml", "channel"), rust);
    let least = said("Cargo.toml", "rust-version");
    assert!(rust.starts_with(&format!("{least}.")), "Cargo.toml says {least}, and nothing is tested with it");
    stages
}

/// The value of a key at the beginning of a line of a TOML file.
fn said(file: &str, name: &str) -> String {
    let text = fs::read_to_string(parts::root().join(file)).unwrap();
    let value = text.lines().find_map(|line| line.strip_prefix(&format!("{name} = "))).map(str::to_owned);
    value.unwrap_or_else(|| panic!("{file} has no {name}")).trim_matches('"').to_owned()
}

#[test]
fn the_module_in_the_image_is_built_as_the_makefile_builds_it() {
    assert_eq!(sound(FILTER), ["build", "optimised", "envoy"]);
    let makefile = fs::read_to_string(parts::root().join("Makefile")).unwrap();
    let profile = makefile.lines().find_map(|line| line.strip_prefix("FILTER_PROFILE := ")).unwrap();
    assert!(instructions(FILTER).contains(&("ENV".to_owned(), profile.to_owned())), "{profile}");
    let line =
        makefile.lines().find_map(|line| line.trim().strip_prefix("@$(FILTER_PROFILE) $(CARGO) ")).unwrap();
    let line = line.replace("--release", "--release --locked").replace("$(WASM_TARGET)", "wasm32-wasip1");
    let build: Vec<&str> = std::iter::once("cargo").chain(line.split(' ')).collect();
    let runs: Vec<Vec<String>> = instructions(FILTER)
        .iter()
        .filter(|(name, _)| name == "RUN")
        .map(|(_, rest)| serde_json::from_str(rest).unwrap())
        .collect();
    let [_target, built, parts, optimised] = &runs[..] else { panic!("{runs:?}") };
    assert_eq!(built, &build);
    assert_eq!(parts[1..], ["tests/parts/setup.py", "node", "wasm-opt"]);
    assert_eq!(optimised[1], "filter/wasm-opt/optimise.py");
}

#[test]
fn the_service_is_built_from_pinned_images_and_runs_with_little() {
    assert_eq!(sound(SERVICE), ["parts", "build", "demo"]);

    let last = last_stage(SERVICE);
    let authorities = "/etc/ssl/certs/ca-certificates.crt";
    assert!(last.contains(&("COPY".to_owned(), format!("--from=build {authorities} {authorities}"))));
    assert!(last.iter().all(|(name, _)| name != "RUN"), "the run image is changed by a command");
    let one =
        |wanted: &str| last.iter().find(|(name, _)| name == wanted).map(|(_, rest)| rest.clone()).unwrap();
    let deployment = objects("overlays/cluster");
    let pod = &find(&deployment, "Deployment", "embedding-service")["spec"]["template"]["spec"];
    let user = &pod["securityContext"];
    assert_eq!(one("USER"), format!("{}:{}", user["runAsUser"], user["runAsGroup"]));
    let ports: Vec<String> = pod["containers"][0]["ports"]
        .as_array()
        .unwrap()
        .iter()
        .map(|port| port["containerPort"].to_string())
        .collect();
    assert_eq!(one("EXPOSE"), ports.join(" "));
    assert_eq!(one("ENTRYPOINT"), json!(["/usr/local/bin/embedding-service"]).to_string());
}

/// Lays out what a stage copies from the repository, as it would lie in the image.
fn copied(stage: &str, to: &Path) -> Vec<String> {
    let all = instructions(SERVICE);
    let begin = all
        .iter()
        .position(|(name, rest)| name == "FROM" && rest.ends_with(&format!(" AS {stage}")))
        .unwrap();
    let mut command = Vec::new();
    for (name, rest) in all[begin + 1..].iter().take_while(|(name, _)| name != "FROM") {
        if name == "COPY" {
            let (sources, target) = rest.rsplit_once(' ').unwrap();
            let target = to.join(target);
            fs::create_dir_all(target.parent().unwrap()).unwrap();
            for source in sources.split(' ') {
                let done = Command::new("cp")
                    .arg("-r")
                    .arg(parts::root().join(source))
                    .arg(&target)
                    .status()
                    .unwrap();
                assert!(done.success(), "{source}");
            }
        }
        if name == "RUN" {
            command = serde_json::from_str::<Vec<String>>(rest).unwrap();
        }
    }
    command
}

#[test]
fn the_steps_of_the_image_find_all_that_they_need() {
    // The parts: the same command, in a folder with nothing but what the image has. What is set up here is found again.
    let folder = tempfile::tempdir().unwrap();
    let command = copied("parts", folder.path());
    assert_eq!(command[..2], ["python3", "tests/parts/setup.py"]);
    std::os::unix::fs::symlink(parts::root().join(".parts"), folder.path().join(".parts")).unwrap();
    let output = Command::new(&command[0])
        .args(&command[1..])
        .current_dir(folder.path())
        .env_remove("ORT_DYLIB_PATH")
        .env_remove("LOOP_EMBEDDING_MODEL_PATH")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));

    // The build: cargo finds the whole workspace and the lock file as it is.
    let folder = tempfile::tempdir().unwrap();
    let command = copied("build", folder.path());
    let set =
        ["-p", "embedding-service", "-p", "sentinel-tools", "--bin", "embedding-service", "--bin", "demo"];
    assert_eq!(command, [&["cargo", "build", "--release", "--locked"], &set[..]].concat());
    let output = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--locked",
            "--offline",
            "--format-version",
            "1",
            "--filter-platform",
            "x86_64-unknown-linux-gnu",
        ])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_model_that_goes_into_the_image_is_the_one_that_its_card_names() {
    let model = parts::model();
    let card: Value =
        serde_json::from_str(&fs::read_to_string(model.with_file_name("model.json")).unwrap()).unwrap();
    for name in ["model.onnx", "tokenizer.json"] {
        let digest = Sha256::digest(fs::read(model.with_file_name(name)).unwrap());
        let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(card["sha256"][name], digest, "{name}");
    }
}
