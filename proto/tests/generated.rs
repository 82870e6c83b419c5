//! The committed code is what the generator makes of the .proto files. `UPDATE_GOLDEN=1` writes it. It is committed so that
//! nobody who builds the service or the filter builds the generator first.

#![allow(clippy::expect_used)]

use std::{env, fs, path::Path};

use prost::Message;

const PROTOS: [&str; 2] = ["embedding", "control"];

/// What the generator writes for the messages, and for client and server where they are wanted.
fn generated(descriptors: &prost_types::FileDescriptorSet, services: bool) -> String {
    let out = tempfile::tempdir().expect("a temporary folder");
    tonic_prost_build::configure()
        .build_client(services)
        .build_server(services)
        .out_dir(out.path())
        .emit_rerun_if_changed(false)
        .compile_fds(descriptors.clone())
        .expect("the generator takes it");
    fs::read_to_string(out.path().join("sentinel.v1.rs")).expect("it has written its file")
}

#[test]
fn the_committed_code_is_the_generators() {
    let proto = Path::new(env!("CARGO_MANIFEST_DIR"));
    // File by file: the generator mixes messages and services when it is given several.
    let [mut messages, mut services] = [String::new(), String::new()];
    let mut files = Vec::new();
    for name in PROTOS {
        let file = proto.join(format!("sentinel/v1/{name}.proto"));
        let descriptors = protox::compile([file], [proto]).expect("the .proto file compiles");
        let of_file = generated(&descriptors, false);
        let all = generated(&descriptors, true);
        services.push_str(all.strip_prefix(&of_file).expect("clients and servers follow the messages"));
        messages.push_str(&of_file);
        files.push((format!("{name}.bin"), descriptors.encode_to_vec()));
    }
    files.push(("messages.rs".to_owned(), messages.into_bytes()));
    files.push(("services.rs".to_owned(), services.into_bytes()));
    for (name, content) in files {
        let file = proto.join("src/generated").join(name);
        if env::var_os("UPDATE_GOLDEN").is_some() {
            fs::write(&file, &content).expect("the file can be written");
        }
        let committed = fs::read(&file).unwrap_or_default();
        assert!(
            committed == content,
            "{} is not what the generator makes of {PROTOS:?}: UPDATE_GOLDEN=1 cargo test -p sentinel-proto writes it",
            file.display()
        );
    }
}
