//! The program: service or client, settings, allocator, exit code. Everything else is in the library.

use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand, error::ErrorKind};
use embedding_service::{
    client,
    hash::Hash,
    program,
    settings::{RawSettings, Settings},
};
use mimalloc::MiMalloc;

/// Puts the weights in huge pages where the kernel allows it, and is quick with a tokeniser's many small pieces.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// Compares each prompt with the last ones of its scope, and remembers it. Every flag can be given as the environment
/// variable named beside it.
#[derive(Parser)]
#[command(name = "embedding-service", version, about, args_conflicts_with_subcommands = true)]
struct Program {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    settings: RawSettings,
}

#[derive(Subcommand)]
#[expect(clippy::large_enum_variant, reason = "there is one of it")]
enum Command {
    Hash(Hash),
    #[command(flatten)]
    Client(client::Command),
}

fn main() -> ExitCode {
    let Program { command, settings } = Program::parse();
    match command {
        Some(Command::Client(command)) => return command.run(),
        Some(Command::Hash(names)) => {
            print!("{}", names.lines());
            return ExitCode::SUCCESS;
        }
        None => {}
    }
    match Settings::try_from(settings) {
        Ok(settings) => exit_code(program::run(&settings)),
        Err(e) => Program::command().error(ErrorKind::ValueValidation, e).exit(),
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
