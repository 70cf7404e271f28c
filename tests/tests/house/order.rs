//! The modules of the runtime depend in one direction.

use std::collections::BTreeMap;

use crate::source::CRATES;

/// The modules of the runtime, lowest first. A module uses only those before it.
const ORDER: &[&str] = &[
    "message",
    "interrupt",
    "error",
    "spawn",
    "state",
    "log",
    "checkpoint",
    "stream",
    "node",
    "policy",
    "graph",
    "task",
    "record",
    "executor",
    "superstep",
    "thread",
    "session",
    "run",
];

/// The arrows that still run backwards: from, to.
const BACKWARDS: &[(&str, &str)] = &[
    // An associated type ties the two together: `State::Update` is an `IntoOutput`, so that a node
    // that is generic over its state can return an update.
    ("state", "node"),
];

#[test]
fn n1_modules_depend_in_one_direction() {
    let rank = |module: &str| ORDER.iter().position(|known| *known == module);
    let runtime = CRATES.iter().find(|of| of.folder == "langgraph").unwrap();
    let mut backwards: BTreeMap<(String, String), String> = BTreeMap::new();
    for (module, content) in &runtime.modules {
        let top = module.split("::").next().unwrap_or_default();
        let Some(own) = rank(top) else { continue };
        for path in &content.uses {
            let Some(used) = path.first() else { continue };
            // What the crate shows users stands above all modules.
            assert!(
                !used.starts_with(char::is_uppercase),
                "`{}` takes `{used}` from the root of the crate: take it from its module",
                content.path
            );
            if rank(used).is_some_and(|rank| rank > own) {
                let arrow = (top.to_owned(), used.to_owned());
                backwards
                    .entry(arrow)
                    .or_insert_with(|| content.path.clone());
            }
        }
    }
    for ((from, to), path) in &backwards {
        assert!(
            BACKWARDS.contains(&(from, to)),
            "`{path}` uses `{to}`, which is above `{from}`: move down what they share"
        );
    }
    for (from, to) in BACKWARDS {
        assert!(
            backwards.contains_key(&((*from).to_owned(), (*to).to_owned())),
            "no arrow from `{from}` to `{to}` is left: take it out of the list"
        );
    }
}
