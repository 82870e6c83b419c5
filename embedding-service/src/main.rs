//! The program: settings, allocator, exit code. Everything else is in the library.

use std::process::ExitCode;

use clap::Parser as _;
use embedding_service::{
    program,
    settings::{RawSettings, Settings},
};
use mimalloc::MiMalloc;

/// Puts the weights in huge pages where the kernel allows it, and is quick with a tokeniser's many small pieces.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    match Settings::try_from(RawSettings::parse()) {
        Ok(settings) => exit_code(program::run(&settings)),
        Err(e) => exit_code(Err(e.into())),
    }
}

fn exit_code(result: Result<(), Box<dyn std::error::Error>>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("embedding-service: {error}");
            ExitCode::FAILURE
        }
    }
}
