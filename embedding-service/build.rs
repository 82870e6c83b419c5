//! Puts the core of the console's page Replay into the service, where `SENTINEL_REPLAY_CORE` names it: a WebAssembly module that is built
//! before, from `console/replay`. The Makefile does that. It goes in with gzip, as the browser gets it. Without it the service is whole but
//! for that page, which says so.

use std::{env, error::Error, fs, io::Write as _, path::PathBuf};

use flate2::{Compression, write::GzEncoder};

const CORE: &str = "SENTINEL_REPLAY_CORE";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed={CORE}");
    let given = env::var_os(CORE).filter(|given| !given.is_empty());
    let core = match given.map(PathBuf::from) {
        Some(path) => {
            println!("cargo:rerun-if-changed={}", path.display());
            fs::read(&path).map_err(|error| {
                format!("{CORE} names {}: {error}. `make replay-core` makes it.", path.display())
            })?
        }
        None => Vec::new(),
    };
    // Another path for another content, so that a browser keeps it for good.
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    println!("cargo:rustc-env={CORE}_TAG={:016x}", core.iter().fold(0xcbf2_9ce4_8422_2325, step));
    let packed = if core.is_empty() {
        Vec::new()
    } else {
        let mut packer = GzEncoder::new(Vec::new(), Compression::best());
        packer.write_all(&core)?;
        packer.finish()?
    };
    fs::write(PathBuf::from(env::var("OUT_DIR")?).join("replay.wasm.gz"), packed)?;
    Ok(())
}
