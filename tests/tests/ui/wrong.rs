//! Wrong programs, and what rustc says about each: no more and no less than the file of the same name.
//!
//! rustc is given the libraries that this test was built with. A tool that builds the programs as packages would build
//! all that they depend on again.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::{report, rustc};

/// Checks the programs of a folder, as many at a time as there are cores.
pub(crate) fn check(folder: &str) {
    let programs = programs(folder);
    assert!(!programs.is_empty(), "no programs in `{folder}`");
    let libraries = rustc::CRATES.map(|name| format!("{name}={}", rustc::library(name).display()));
    let left = Mutex::new(programs.iter());
    let wrong = Mutex::new(String::new());
    let work = || {
        loop {
            let Some(program) = left.lock().unwrap().next() else {
                break;
            };
            if let Err(difference) = compare(program, &libraries) {
                writeln!(wrong.lock().unwrap(), "{difference}").unwrap();
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{wrong}");
}

fn programs(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new("ui").join(folder).join("fail");
    let entries = std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(&folder)).unwrap();
    let names = entries.map(|entry| folder.join(entry.unwrap().file_name()));
    let programs = names.filter(|path| path.extension().is_some_and(|end| end == "rs"));
    programs.collect()
}

/// Compares what rustc says with the file; writes the file anew if `UPDATE_EXPECT` is set.
fn compare(program: &Path, libraries: &[String]) -> Result<(), String> {
    let mut command = rustc::command();
    command
        .env("CARGO_CRATE_NAME", "wrong") // what rustc says to users of cargo
        .args(["--emit=metadata", "--error-format=json"])
        .args([
            "--crate-name",
            "wrong",
            "--out-dir",
            env!("CARGO_TARGET_TMPDIR"),
        ]);
    for library in libraries {
        command.arg("--extern").arg(library);
    }
    let output = command
        .arg(Path::new("tests").join(program))
        .output()
        .unwrap();
    let name = program.display();
    if output.status.success() {
        return Err(format!("{name} compiles"));
    }
    let reported = report::normalize(&String::from_utf8(output.stderr).unwrap());
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(program.with_extension("stderr"));
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(file, reported).unwrap();
        return Ok(());
    }
    let expected = std::fs::read_to_string(file).unwrap_or_default();
    if reported == expected {
        Ok(())
    } else {
        Err(format!(
            "{name}\nexpected:\n{expected}\nreported:\n{reported}"
        ))
    }
}
