//! `tests/features` chooses every feature of every crate, or names it as left out.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

const NAME: &str = "langgraph-features";

/// Returns the packages of the workspace, as Cargo describes them.
pub(crate) fn packages() -> Vec<Value> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version=1"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

fn texts(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
}

/// Returns the features that come with some features of a package.
fn with_implied<'a>(
    package: &'a Value,
    chosen: impl Iterator<Item = &'a str>,
) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    let mut open: Vec<&str> = chosen.collect();
    while let Some(feature) = open.pop() {
        if package["features"][feature].is_array() && found.insert(feature) {
            open.extend(texts(&package["features"][feature]));
        }
    }
    found
}

/// Returns the features of a package that `choice`, the package of the choice, turns on.
fn chosen<'a>(choice: &'a Value, package: &'a Value) -> BTreeSet<&'a str> {
    let dependencies = choice["dependencies"].as_array().unwrap().iter();
    let mut ours = dependencies.filter(|one| one["name"] == package["name"]);
    let Some(dependency) = ours.next() else {
        return BTreeSet::new();
    };
    let default = (dependency["uses_default_features"] == true).then_some("default");
    with_implied(package, texts(&dependency["features"]).chain(default))
}

#[test]
fn every_feature_is_chosen_or_left_out_on_purpose() {
    let packages = packages();
    let choice = packages.iter().find(|one| one["name"] == NAME).unwrap();
    let mut left_out: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (name, features) in choice["metadata"]["left-out"].as_object().unwrap() {
        left_out.insert(name, texts(features).collect());
    }
    let mut wrong = Vec::new();
    for package in &packages {
        let name = package["name"].as_str().unwrap();
        let out = left_out.remove(name).unwrap_or_default();
        let chosen = chosen(choice, package);
        let features = package["features"].as_object().unwrap();
        let all: BTreeSet<&str> = features.keys().map(String::as_str).collect();
        for feature in &all {
            if *feature != "default" && !chosen.contains(feature) && !out.contains(feature) {
                wrong.push(format!(
                    "`{name}` has the feature `{feature}`: choose it in tests/features/Cargo.toml, or name it there under \
                     `left-out`"
                ));
            }
        }
        for feature in out
            .iter()
            .filter(|one| chosen.contains(**one) || !all.contains(**one))
        {
            wrong.push(format!(
                "tests/features/Cargo.toml leaves out the feature `{feature}` of `{name}`, which it chooses, or which \
                 does not exist"
            ));
        }
    }
    wrong.extend(
        left_out
            .keys()
            .map(|name| format!("there is no package `{name}`")),
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
