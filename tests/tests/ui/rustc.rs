//! rustc itself, with the libraries that this test was built with.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A run of rustc that finds what our crates depend on. Which crates a program may name is up to the
/// caller.
pub(crate) fn command() -> Command {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut command = Command::new(rustc);
    command
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["--edition", "2024", "-C", "debuginfo=0"])
        .arg("-L")
        .arg(format!("dependency={}", dependencies().display()));
    command
}

/// The library of that crate: cargo has just seen to it that the newest is up to date.
pub(crate) fn library(name: &str) -> PathBuf {
    let entries = std::fs::read_dir(dependencies()).unwrap();
    let libraries = entries.map(|entry| entry.unwrap()).filter(|entry| {
        let file = entry.file_name();
        let file = file.to_string_lossy();
        file.starts_with(&format!("lib{name}-")) && file.ends_with(".rlib")
    });
    let newest = libraries.max_by_key(|entry| entry.metadata().unwrap().modified().unwrap());
    newest
        .expect("a test is built with the crates it tests")
        .path()
}

fn dependencies() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.parent().map(Path::to_owned).unwrap()
}
