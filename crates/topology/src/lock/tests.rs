//! The lock as text and as a file.

use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;

use super::file::{Bless, check_file};
use super::{LockError, read, write};
use crate::testing::graph;
use crate::{FieldInfo, KeyInfo, KeyKind, NodeKind, StateInfo, Topology};

/// A file that is deleted when the test is over.
struct File(PathBuf);

impl File {
    fn new(name: &str) -> Self {
        let name = format!("langgraph-lock-{}-{name}", std::process::id());
        Self(std::env::temp_dir().join(name))
    }

    fn text(&self) -> String {
        fs::read_to_string(&self.0).expect("a readable file")
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn named(name: &str, text: &str) -> Topology {
    let mut graph = graph(text);
    name.clone_into(&mut graph.name);
    graph
}

#[test]
fn a_file_is_written_by_name_and_only_with_safe_changes_unless_told() {
    let file = File::new("bless");
    let (orders, texts) = (named("orders", "S>a a>E"), named("texts", "S>x x>E"));
    let missing = check_file(&file.0, &orders, Bless::Nothing).expect_err("no file");
    assert!(
        missing
            .to_string()
            .ends_with("`LANGGRAPH_BLESS=1` in the environment to create it")
    );
    for graph in [&texts, &orders] {
        check_file(&file.0, graph, Bless::Safe).expect("a new graph is safe");
    }
    assert_eq!(file.text(), write([&orders, &texts]));

    let longer = named("orders", "S>a a>b b>E");
    check_file(&file.0, &longer, Bless::Nothing).expect("a new node is safe");
    assert_eq!(
        file.text(),
        write([&orders, &texts]),
        "a comparison writes nothing"
    );
    check_file(&file.0, &longer, Bless::Safe).expect("a new node is safe");
    assert_eq!(file.text(), write([&longer, &texts]));

    let broken = check_file(&file.0, &orders, Bless::Safe).expect_err("`b` is gone");
    assert!(matches!(&broken, LockError::Breaking { changes, .. } if changes.len() == 1));
    assert_eq!(file.text(), write([&longer, &texts]));
    check_file(&file.0, &orders, Bless::All).expect("everything is accepted");
    assert_eq!(file.text(), write([&orders, &texts]));
}

#[test]
fn a_graph_that_the_file_does_not_have_is_an_error_that_names_a_similar_one() {
    let file = File::new("unknown");
    check_file(&file.0, &named("orders", "S>a a>E"), Bless::Safe).expect("a new graph is safe");
    let renamed = named("order", "S>a a>E");
    let error = check_file(&file.0, &renamed, Bless::Nothing).expect_err("another name");
    let error = error.to_string();
    assert!(
        error.contains(
            "does not have the graph `order`: if it was called `orders`, give it that name again"
        ),
        "{error}"
    );
    let error =
        check_file(&file.0, &named("LangGraph", "S>a a>E"), Bless::All).expect_err("no name");
    assert!(
        error
            .to_string()
            .starts_with("the graph has no name: give it one by `set_name`")
    );
}

#[test]
fn lines_that_are_none_of_a_lock_are_named() {
    for (text, line) in [
        ("node a", 1),
        ("graph a\n  state", 2),
        ("graph a\n  field x", 2),
        ("graph a\n  field x u8 reducer", 2),
        ("graph a\n  field x X = { a: u8", 2),
        ("graph a\n  node x\n    interrupt x X = Y", 3),
        ("graph a\n  node x worker", 2),
        ("graph a\n  node x\n    node y", 3),
        ("graph a\n  interrupt x u8", 2),
        ("graph a\n  edge x", 2),
        ("graph a\n  edge x + y -> z", 2),
        ("graph a\n  join x y -> z", 2),
        ("graph a\n  route x -> y", 2),
        ("graph a\n  node \"x", 2),
        ("# head\n\ngraph a\n<<<<<<< HEAD", 4),
    ] {
        let error = read(text).expect_err(text);
        assert_eq!(error.line, line, "{text}");
    }
}

/// Names that the text must hold apart from its own words.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z_]{1,6}",
        "[ -~]{1,8}",
        Just("by".to_owned()),
        Just("->".to_owned()),
        Just("?".to_owned()),
        Just("a\nb \"c\\".to_owned()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_graph_is_read_as_it_was_written(names in proptest::collection::vec(name(), 12)) {
        let mut inner = named(&names[0], "S>a a>E");
        inner.fields.push(FieldInfo::new(names[1].as_str(), false).typed("Vec<u8>"));
        let mut all = named(&names[2], "S>a a>b a+b>c c?x|y&z c?? a!x|E b*w ~z");
        all.state = Some(StateInfo::new(names[3].as_str()));
        let mut field = FieldInfo::new(names[4].as_str(), true).typed(names[5].as_str());
        field.reducer.clone_from(&names[6]);
        field.aliases.push(names[7].clone());
        field.shape = "{ a|b: u8, c?: Vec<enum { D, E(u8, Option<bool>) }> }".to_owned();
        all.fields.push(field);
        all.nodes[3].name = format!("node {}", names[8]).as_str().into();
        all.nodes[3].aliases.push(names[9].clone());
        let mut key = KeyInfo::new(names[10].as_str(), KeyKind::Interrupt);
        key.shape = "Map<String, (u8,)>".to_owned();
        all.nodes[3].keys.push(key);
        all.nodes[3].keys.push(KeyInfo::new("", KeyKind::Interrupt).typed("bool"));
        all.nodes[3].keys.push(KeyInfo::new(names[10].as_str(), KeyKind::Approval));
        all.nodes[3].kind = NodeKind::Subgraph(Box::new(inner));
        all.nodes[4].kind = NodeKind::Remote { agent: names[11].clone() };
        for branch in &mut all.branches {
            branch.source = names[9].as_str().into();
            for arm in branch.arms.iter_mut().flatten() {
                arm.label.clone_from(&names[8]);
                arm.targets.push(names[10].as_str().into());
            }
        }
        let text = write([&all]);
        let read = read(&text).expect("what was written");
        prop_assert_eq!(write(&read), text);
        prop_assert_eq!(super::breaking_changes(&read[0], &all), []);
        prop_assert_eq!(super::breaking_changes(&all, &read[0]), []);
        prop_assert_eq!(&read[0].name, &all.name);
        prop_assert_eq!(&read[0].state, &all.state);
        prop_assert_eq!(&read[0].fields, &all.fields);
        let node = read[0].nodes.iter().find(|node| node.aliases == all.nodes[3].aliases);
        let sorted = |keys: &[KeyInfo]| {
            let mut texts: Vec<String> = keys.iter().map(|key| format!("{key:?}")).collect();
            texts.sort();
            texts
        };
        let keys = node.map(|node| sorted(&node.keys));
        prop_assert_eq!(keys, Some(sorted(&all.nodes[3].keys)));
    }
}
