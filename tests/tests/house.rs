//! The layout of the project: the direction of the dependencies of the runtime's modules, and the
//! paths in CONTRIBUTING.md.

#![allow(clippy::unwrap_used)] // in what the tests share

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

/// The modules of the runtime, lowest first. A module uses only those before it.
const ORDER: [&str; 12] = [
    "message",
    "error",
    "state",
    "checkpoint",
    "stream",
    "node",
    "policy",
    "graph",
    "executor",
    "superstep",
    "thread",
    "run",
];

/// The arrows that still run backwards: from, to.
const BACKWARDS: [(&str, &str); 1] = [
    // An associated type ties the two together: `State::Update` is an `IntoOutput`, so that a node
    // that is generic over its state can return an update.
    ("state", "node"),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Returns the code of the runtime, file by file, without comments, blank lines and tests.
fn code() -> Vec<(PathBuf, Vec<String>)> {
    let source = root().join("langgraph/src");
    let mut files = Vec::new();
    for entry in WalkDir::new(&source).sort_by_file_name() {
        let path = entry.unwrap().into_path();
        let inside = path.strip_prefix(&source).unwrap().to_path_buf();
        let is_test = inside.components().any(|part| part.as_os_str() == "tests")
            || inside.file_name().is_some_and(|name| name == "tests.rs");
        if path.extension().is_none_or(|extension| extension != "rs") || is_test {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let lines = text.lines().map(str::trim);
        let lines = lines.take_while(|line| *line != "#[cfg(test)]");
        let lines = lines.filter(|line| !line.is_empty() && !line.starts_with("//"));
        files.push((inside, lines.map(str::to_owned).collect()));
    }
    files
}

#[test]
fn n1_modules_depend_in_one_direction() {
    let rank = |module: &str| ORDER.iter().position(|known| *known == module);
    let mut backwards: BTreeMap<(String, String), PathBuf> = BTreeMap::new();
    for (path, lines) in code() {
        let module = path.components().next().unwrap();
        let module = module.as_os_str().to_string_lossy().into_owned();
        let Some(own) = rank(&module) else { continue };
        for line in lines {
            for used in line.split("crate::").skip(1) {
                let used = used.split(|c: char| !c.is_alphanumeric() && c != '_');
                let used = used.into_iter().next().unwrap_or_default();
                // What the crate shows users stands above all modules.
                assert!(
                    !used.starts_with(char::is_uppercase),
                    "`{}` takes `{used}` from the root of the crate: take it from where it stands",
                    path.display()
                );
                if rank(used).is_some_and(|rank| rank > own) {
                    let arrow = (module.clone(), used.to_owned());
                    backwards.entry(arrow).or_insert_with(|| path.clone());
                }
            }
        }
    }
    for ((from, to), path) in &backwards {
        assert!(
            BACKWARDS.contains(&(from, to)),
            "`{}` uses `{to}`, which stands above `{from}`: move down what they share",
            path.display()
        );
    }
    for (from, to) in BACKWARDS {
        assert!(
            backwards.contains_key(&(from.to_owned(), to.to_owned())),
            "no arrow from `{from}` to `{to}` is left: take it out of the list"
        );
    }
}

#[test]
fn n2_the_map_names_files_that_exist() {
    let page = std::fs::read_to_string(root().join("CONTRIBUTING.md")).unwrap();
    let (_, map) = page
        .split_once("## The house")
        .expect("the map of the house");
    let map = map.split("\n## ").next().unwrap();
    let mut named = 0;
    for name in map.split('`').skip(1).step_by(2) {
        let is_path = name.contains('/') && !name.contains([' ', '(', '<', ':', '*', '{']);
        if is_path {
            named += 1;
            assert!(root().join(name).exists(), "CONTRIBUTING.md names `{name}`");
        }
    }
    assert!(named >= 30, "the map names {named} files and folders");
}
