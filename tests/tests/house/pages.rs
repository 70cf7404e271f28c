//! The paths in CONTRIBUTING.md, and the codes in the names of tests.

use std::collections::BTreeSet;

use walkdir::WalkDir;

use crate::source::{read, root};

#[test]
fn n2_the_map_names_files_that_exist() {
    let page = read("CONTRIBUTING.md");
    let (_, map) = page.split_once("## Layout").unwrap();
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

/// Returns the code at the beginning of a test's name: `e10` of `e10_a_node`.
fn code(name: &str) -> Option<&str> {
    let (code, _) = name.split_once('_')?;
    let (letter, number) = code.split_at_checked(1)?;
    let is_code = letter.chars().all(|c| ('a'..='s').contains(&c))
        && !number.is_empty()
        && number.chars().all(|c| c.is_ascii_digit());
    is_code.then_some(code)
}

/// Returns the codes that the legend explains; `B12, B13` and `C3 to C7` are several.
fn explained(legend: &str) -> BTreeSet<String> {
    let mut codes = BTreeSet::new();
    let mut range: Option<String> = None;
    for word in legend.split(|c: char| !c.is_alphanumeric()) {
        let lower = format!("{}_", word.to_lowercase());
        match code(&lower) {
            Some(end) if word.starts_with(char::is_uppercase) => {
                if let Some(start) = range.take() {
                    let number = |code: &str| code[1..].parse::<u32>().unwrap();
                    for n in number(&start)..number(end) {
                        codes.insert(format!("{}{n}", &end[..1]));
                    }
                }
                codes.insert(end.to_owned());
            }
            _ if word == "to" => range = codes.last().cloned(),
            _ => {}
        }
    }
    codes
}

#[test]
fn n2_the_legend_explains_every_code_of_a_test() {
    let explained = explained(&read("tests/README.md"));
    let mut unknown = BTreeSet::new();
    for folder in [
        "langgraph",
        "langgraph-macros",
        "crates",
        "examples",
        "tests",
    ] {
        for entry in WalkDir::new(root().join(folder)) {
            let path = entry.unwrap().into_path();
            if path.extension().is_none_or(|extension| extension != "rs") {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            for part in text.split("fn ").skip(1) {
                let name = part.split('(').next().unwrap_or_default();
                let codes = name.split_inclusive('_').map_while(code);
                let lost = codes.filter(|code| !explained.contains(*code));
                unknown.extend(lost.map(|_| name.to_owned()));
            }
        }
    }
    assert!(
        unknown.is_empty(),
        "tests/README.md lacks the codes of {unknown:#?}"
    );
}
