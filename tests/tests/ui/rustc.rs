//! rustc itself, with the libraries that this test was built with.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The crates that programs may name.
pub(crate) const CRATES: [&str; 6] = [
    "langgraph",
    "langgraph_agent",
    "langgraph_functional",
    "langgraph_tests",
    "serde",
    "tokio",
];

/// A run of rustc that finds what our crates depend on. Which crates a program may name is up to the
/// caller. Its folder is that of the workspace, so that it finds the lines of our crates, whose paths begin there.
pub(crate) fn command() -> Command {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut command = Command::new(rustc);
    command
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))
        .args(["--edition", "2024", "-C", "debuginfo=0"])
        .arg("-L")
        .arg(format!("dependency={}", dependencies().display()));
    command
}

/// The library of one of the crates.
pub(crate) fn library(name: &str) -> &'static Path {
    static LIBRARIES: OnceLock<Vec<PathBuf>> = OnceLock::new();
    let libraries = LIBRARIES.get_or_init(|| {
        let mut runtimes = candidates("langgraph").into_iter();
        let found = runtimes.find_map(|runtime| {
            let names = CRATES.iter();
            names.map(|name| with(&runtime, name)).collect()
        });
        found.expect("a test is built with the crates it tests")
    });
    let place = CRATES.iter().position(|one| *one == name);
    &libraries[place.unwrap()]
}

/// The newest library of that crate that goes with the runtime: one was built upon the other. A folder can hold several
/// of each, for other features.
fn with(runtime: &Path, name: &str) -> Option<PathBuf> {
    if name == "langgraph" {
        return Some(runtime.to_owned());
    }
    let mut libraries = candidates(name).into_iter();
    libraries.find(|library| names(library, runtime) || names(runtime, library))
}

/// Whether the metadata of a library names another one.
fn names(library: &Path, other: &Path) -> bool {
    let metadata = std::fs::read(library.with_extension("rmeta")).unwrap_or_default();
    let hash = other.file_stem().unwrap().to_string_lossy();
    let (_, hash) = hash.rsplit_once('-').unwrap();
    String::from_utf8_lossy(&metadata).contains(hash)
}

/// The libraries of that crate, newest first, that were there when this test was linked.
fn candidates(name: &str) -> Vec<PathBuf> {
    let modified = |path: &Path| path.metadata().unwrap().modified().unwrap();
    let linked = modified(&std::env::current_exe().unwrap());
    let entries = std::fs::read_dir(dependencies()).unwrap();
    let libraries = entries.map(|entry| entry.unwrap()).filter(|entry| {
        let file = entry.file_name();
        let file = file.to_string_lossy();
        file.starts_with(&format!("lib{name}-")) && file.ends_with(".rlib")
    });
    let paths = libraries.map(|entry| entry.path());
    let mut libraries: Vec<_> = paths.filter(|path| modified(path) <= linked).collect();
    libraries.sort_by_key(|path| std::cmp::Reverse(modified(path)));
    libraries
}

fn dependencies() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.parent().map(Path::to_owned).unwrap()
}
