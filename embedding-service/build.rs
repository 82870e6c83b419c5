//! Builds the core of the console's page Replay into the service. The core is a WebAssembly module, made from `console/replay` before this
//! crate is built; the Makefile does that and names the file in `SENTINEL_REPLAY_CORE`. It is packed with gzip here, and served like that.
//! If the variable is not set, the service works, but its page Replay says that the core is missing.

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
    // A digest of the content (FNV-1a), which is part of the path. So a browser may cache the file forever.
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
