//! The table: each pair of features has a cell, and each test that a cell names exists.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The features that wrap or cross a run.
const FEATURES: [&str; 14] = [
    "thread",
    "stream",
    "interrupt",
    "approval",
    "budget",
    "cache",
    "retry",
    "timeout",
    "subgraph",
    "map",
    "remote",
    "server",
    "cancel",
    "drain",
];

const TABLE: &str = include_str!("table.txt");

/// What stands in a cell.
#[derive(Debug, PartialEq)]
enum Cell<'a> {
    /// Tests, each as a file and a function.
    Tests(Vec<(&'a str, &'a str)>),
    /// Why the two do not meet.
    Never(&'a str),
}

type Table<'a> = BTreeMap<(usize, usize), Cell<'a>>;

/// Reads the lines `feature feature: file::test, file::test` and `feature feature: never: why`.
fn read(table: &str) -> Result<Table<'_>, String> {
    let mut cells = Table::new();
    let lines = table.lines().filter(|line| !line.starts_with('#'));
    for line in lines.filter(|line| !line.trim().is_empty()) {
        let (pair, cell) = line
            .split_once(": ")
            .ok_or_else(|| format!("no cell: {line}"))?;
        let place = |name: &str| FEATURES.iter().position(|feature| *feature == name);
        let places: Vec<_> = pair.split(' ').map(place).collect();
        let [Some(first), Some(second)] = places[..] else {
            return Err(format!("no pair of features: {line}"));
        };
        let cell = if let Some(why) = cell.strip_prefix("never: ") {
            Cell::Never(why.trim())
        } else {
            let tests = cell.split(", ").map(|test| test.trim().split_once("::"));
            let tests: Option<Vec<_>> = tests.collect();
            Cell::Tests(tests.ok_or_else(|| format!("no test: {line}"))?)
        };
        if first >= second || cells.insert((first, second), cell).is_some() {
            return Err(format!("out of order, or there twice: {line}"));
        }
    }
    Ok(cells)
}

/// Returns the functions of a file that have a test attribute.
fn tests_of(file: &str) -> BTreeSet<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let Ok(text) = fs::read_to_string(root.join(file)) else {
        return BTreeSet::new();
    };
    let parsed = syn::parse_file(&text).unwrap();
    functions(&parsed.items)
}

fn functions(items: &[syn::Item]) -> BTreeSet<String> {
    let is_test = |attribute: &syn::Attribute| {
        let last = attribute.path().segments.last();
        last.is_some_and(|last| last.ident == "test")
    };
    let mut found = BTreeSet::new();
    for item in items {
        match item {
            syn::Item::Fn(function) if function.attrs.iter().any(is_test) => {
                found.insert(function.sig.ident.to_string());
            }
            syn::Item::Mod(module) => {
                let content = module.content.as_ref();
                found.extend(content.into_iter().flat_map(|(_, items)| functions(items)));
            }
            _ => {}
        }
    }
    found
}

#[test]
fn r6_each_pair_of_features_has_a_cell_and_each_test_in_it_exists() {
    let table = read(TABLE).unwrap();
    let mut wrong = Vec::new();
    let mut files = BTreeMap::new();
    for (first, a) in FEATURES.iter().enumerate() {
        for (second, b) in FEATURES.iter().enumerate().skip(first + 1) {
            match table.get(&(first, second)) {
                None => wrong.push(format!("{a} {b}: no cell")),
                Some(Cell::Never(why)) if why.len() < 20 => {
                    wrong.push(format!("{a} {b}: no reason"));
                }
                Some(Cell::Never(_)) => {}
                Some(Cell::Tests(tests)) => {
                    for (file, test) in tests {
                        let known = files.entry(*file).or_insert_with(|| tests_of(file));
                        if !known.contains(*test) {
                            wrong.push(format!("{a} {b}: `{file}` has no test `{test}`"));
                        }
                    }
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "in tests/tests/pairs/table.txt: {wrong:#?}; a test that was renamed is renamed there, too"
    );
}

#[test]
fn a_wrong_line_is_an_error() {
    for line in [
        "thread stream",
        "thread: a.rs::b",
        "thread clouds: a.rs::b",
        "stream thread: a.rs::b",
        "thread thread: a.rs::b",
        "thread stream: a.rs",
        "thread stream: a.rs::b\nthread stream: a.rs::c",
    ] {
        read(line).unwrap_err();
    }
    let table = read("# a comment\nthread stream: a.rs::b, c.rs::d\n").unwrap();
    let tests = Cell::Tests(vec![("a.rs", "b"), ("c.rs", "d")]);
    assert_eq!(table.get(&(0, 1)), Some(&tests));
    assert!(tests_of("tests/tests/pairs/table.rs").contains("a_wrong_line_is_an_error"));
    assert!(!tests_of("tests/tests/pairs/table.rs").contains("read"));
}
