//! Types that change and keep their names: what the lock knows of their fields and variants.

#![allow(dead_code)] // types that are read and written alone

use langgraph::graph::{KeyInfo, KeyKind, NodeInfo, Topology, lock};
use langgraph::prelude::*;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::changes;

/// One form of a type.
struct Form {
    shape: String,
    graph: Topology,
    /// Reads a value and writes it again; `None` if it is refused.
    read: fn(&Value) -> Option<Value>,
}

impl Form {
    fn of<T: Serialize + DeserializeOwned>(kind: KeyKind) -> Self {
        let key = KeyInfo::new("approve", kind).shaped::<T>();
        assert!(!key.ty.is_empty());
        let mut node = NodeInfo::new("ask");
        let shape = key.shape.clone();
        node.keys.push(key.typed("Decision"));
        let mut graph = Topology::default();
        "posts".clone_into(&mut graph.name);
        graph.nodes.push(node);
        Self {
            shape,
            graph,
            read: |value| {
                let read: T = serde_json::from_value(value.clone()).ok()?;
                serde_json::to_value(read).ok()
            },
        }
    }
}

/// Declares types, and returns the form of the one that is called `Decision`.
macro_rules! form {
    ($($item:item)*) => {{
        $(#[derive(Serialize, Deserialize)] $item)*
        Form::of::<Decision>(KeyKind::Interrupt)
    }};
}

/// Returns true if everything in a value is in what was read of it.
fn is_kept(value: &Value, read: &Value) -> bool {
    match (value, read) {
        (Value::Object(value), Value::Object(read)) => value
            .iter()
            .all(|(key, part)| read.get(key).is_some_and(|now| is_kept(part, now))),
        (value, read) => value == read,
    }
}

/// Checks that the lock accepts a change, and that the new form reads what the old one wrote.
#[track_caller]
fn accepted(before: &Form, now: &Form, values: &[Value]) {
    assert_eq!(changes(&before.graph, &now.graph), [], "{}", now.shape);
    for value in values {
        assert!((before.read)(value).is_some(), "{value}");
        assert!((now.read)(value).is_some(), "{value}");
    }
}

/// Checks that the lock refuses a change with a message, and that the new form does not take a value.
#[track_caller]
fn refused(before: &Form, now: &Form, expected: &str, value: &Value) {
    let found = changes(&before.graph, &now.graph);
    let found: Vec<String> = found.iter().map(ToString::to_string).collect();
    let expected = format!(
        "a thread may wait at node `ask` for a `Decision` as the answer to `approve`, of which {expected}"
    );
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(found[0].starts_with(&expected), "{}", found[0]);
    assert!((before.read)(value).is_some(), "{value}");
    let read = (now.read)(value);
    assert!(!read.is_some_and(|read| is_kept(value, &read)), "{value}");
}

fn decision() -> Form {
    form! {
        struct Decision {
            approve: bool,
            note: Option<String>,
        }
    }
}

#[test]
fn a_struct_keeps_its_fields_and_takes_optional_ones() {
    let before = decision();
    assert_eq!(before.shape, "{ approve: bool, note?: Option<String> }");
    let full = json!({"approve": true, "note": "good"});
    let values = [full.clone(), json!({"approve": false})];
    accepted(&before, &decision(), &values);
    let optional = form! {
        struct Decision {
            note: Option<String>,
            #[serde(default)]
            score: u8,
            approve: bool,
            by: Option<String>,
        }
    };
    assert_eq!(
        optional.shape,
        "{ approve: bool, by?: Option<String>, note?: Option<String>, score?: u8 }"
    );
    accepted(&before, &optional, &values);
    let wider = form! {
        struct Decision {
            approve: Option<bool>,
            note: Option<String>,
        }
    };
    accepted(&before, &wider, &values);
    let renamed = form! {
        struct Decision {
            #[serde(alias = "approve", alias = "ok")]
            sure: bool,
            note: Option<String>,
        }
    };
    assert_eq!(
        renamed.shape,
        "{ note?: Option<String>, sure|approve|ok: bool }"
    );
    accepted(&before, &renamed, &values);
}

#[test]
fn a_field_that_is_gone_retyped_or_required_is_refused() {
    let before = decision();
    let full = json!({"approve": true, "note": "good"});
    let gone = form! {
        struct Decision {
            approve: bool,
        }
    };
    let why = "field `note` is gone: keep it; if it was renamed, write `#[serde(alias = \"note\")]` on the new field; otherwise, keep the old version of the graph";
    refused(&before, &gone, why, &full);
    let retyped = form! {
        struct Decision {
            approve: String,
            note: Option<String>,
        }
    };
    let why = "`approve` is `String` now, and was `bool`: give what is new a field";
    refused(&before, &retyped, why, &full);
    let required = form! {
        struct Decision {
            approve: bool,
            note: Option<String>,
            by: String,
        }
    };
    let why = "field `by` is new and required: write `#[serde(default)]` on it";
    refused(&before, &required, why, &full);
    let required = form! {
        struct Decision {
            approve: bool,
            note: String,
        }
    };
    let why = "`note` is `String` now, and was `Option<String>`";
    refused(&before, &required, why, &json!({"approve": true}));
    let strict = form! {
        struct Decision {
            approve: bool,
            by: String,
        }
    };
    let lax = form! {
        struct Decision {
            approve: bool,
            #[serde(default)]
            by: String,
        }
    };
    accepted(&strict, &lax, &[json!({"approve": true, "by": "Eve"})]);
    let why = "field `by` is required now: write `#[serde(default)]` on it";
    refused(&lax, &strict, why, &json!({"approve": true}));
}

#[test]
fn an_enum_keeps_its_variants_and_takes_new_ones() {
    let before = form! {
        enum Decision {
            Approve,
            Reject { why: String },
            Score(u8),
            Range(u8, u8),
        }
    };
    assert_eq!(
        before.shape,
        "enum { Approve, Range(u8, u8), Reject { why: String }, Score(u8) }"
    );
    let more = form! {
        enum Decision {
            Score(u8),
            Approve,
            Later { days: Option<u8> },
            Reject { why: String, #[serde(default)] again: bool },
            Range(u8, u8),
        }
    };
    let values = [
        json!("Approve"),
        json!({"Reject": {"why": "dull"}}),
        json!({"Score": 3}),
        json!({"Range": [1, 2]}),
    ];
    accepted(&before, &more, &values);
    let gone = form! {
        enum Decision {
            Reject { why: String },
            Score(u8),
            Range(u8, u8),
        }
    };
    let why = "variant `Approve` is gone: keep it";
    refused(&before, &gone, why, &values[0]);
    let inner = form! {
        enum Decision {
            Approve,
            Reject { reason: String },
            Score(u8),
            Range(u8, u8),
        }
    };
    let why = "field `why` of `Reject` is gone: keep it";
    refused(&before, &inner, why, &values[1]);
    let held = form! {
        enum Decision {
            Approve,
            Reject { why: String },
            Score,
            Range(u8, u8),
        }
    };
    let why = "`Score` is `Score` now, and was `Score(u8)`";
    refused(&before, &held, why, &values[2]);
    let other = form! {
        struct Decision {
            approve: bool,
        }
    };
    let why = "the value is `{ approve: bool }` now, and was `enum { Approve, ";
    refused(&before, &other, why, &values[0]);
}

#[test]
fn types_within_types_are_compared_too() {
    let form = |flat: bool| {
        if flat {
            form! {
                struct Decision {
                    by: std::collections::BTreeMap<String, Vec<Person>>,
                    at: (u8, Option<f64>),
                }
                struct Person { name: String }
            }
        } else {
            form! {
                struct Decision {
                    by: std::collections::BTreeMap<String, Vec<Person>>,
                    at: (u8, Option<f64>),
                }
                struct Person { name: Name }
                struct Name { first: String }
            }
        }
    };
    let before = form(true);
    assert_eq!(
        before.shape,
        "{ at: (u8, Option<f64>), by: Map<String, Vec<{ name: String }>> }"
    );
    let value = json!({"by": {"a": [{"name": "Eve"}]}, "at": [1, 2.5]});
    accepted(&before, &form(true), std::slice::from_ref(&value));
    let why = "`by.[].[].name` is `{ first: String }` now, and was `String`";
    refused(&before, &form(false), why, &value);
}

#[test]
fn a_type_that_reads_a_text_is_shown_texts_until_it_takes_one() {
    let before = form! {
        struct Decision {
            at: std::net::Ipv4Addr,
            times: std::num::NonZeroU8,
        }
    };
    assert_eq!(before.shape, "{ at: String, times: u8 }");
}

#[test]
fn of_a_type_that_reads_whatever_there_is_the_name_alone_is_known() {
    let untagged = form! {
        #[serde(untagged)]
        enum Decision {
            Yes(bool),
            Score { score: u8 },
        }
    };
    let tagged = form! {
        #[serde(tag = "kind")]
        enum Decision {
            Yes,
            Score { score: u8 },
        }
    };
    let recursive = form! {
        struct Decision {
            then: Option<Box<Decision>>,
        }
    };
    for form in [untagged, tagged, recursive] {
        assert_eq!(form.shape, "");
        assert_eq!(changes(&form.graph, &decision().graph), []);
        assert!(lock::write([&form.graph]).contains("    interrupt approve Decision\n"));
    }
}

#[test]
fn results_that_are_stored_keep_their_shapes_too() {
    #[derive(Serialize, Deserialize)]
    struct Receipt {
        cents: u32,
    }
    let graph = |kind| Form::of::<Receipt>(kind).graph;
    for (kind, expected) in [
        (
            KeyKind::Once,
            "a thread that waits at node `ask` may have stored a `Decision` as the result of `approve`, of which field `cents` is gone",
        ),
        (
            KeyKind::Task,
            "a thread that waits at node `ask` may have stored a `Decision` as the result of task `approve`, of which field `cents` is gone",
        ),
    ] {
        let mut now = graph(kind);
        now.nodes[0].keys[0].shape = "{}".to_owned();
        let found = changes(&graph(kind), &now);
        assert_eq!(found.len(), 1, "{found:?}");
        let found = found[0].to_string();
        assert!(found.starts_with(expected), "{found}");
    }
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Plan {
    steps: Vec<Step>,
    #[serde(default)]
    done: usize,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
enum Step {
    Search { query: String },
    Write,
}

/// What no log holds.
#[derive(Clone, Debug, Default)]
struct Handle;

#[derive(State, Clone, Debug, Default)]
struct Trip {
    plan: Plan,
    #[reducer(append)]
    tried: Vec<Plan>,
    days: Option<u8>,
    #[state(untracked)]
    handle: Handle,
}

#[test]
fn the_types_of_fields_keep_their_shapes_or_are_migrated() {
    let mut graph = StateGraph::<Trip>::new();
    graph
        .set_name("trips")
        .add_node("go", |_: &Trip| ())
        .add_sequence(&["go"]);
    let graph = graph.compile().unwrap().topology().clone();
    let plan = "{ done?: u64, steps: Vec<enum { Search { query: String }, Write }> }";
    let text = lock::write([&graph]);
    let lines = format!(
        "  field days Option<u8>\n  field plan Plan = {plan}\n  field tried Vec<Plan> reducer append = Vec<{plan}>\n"
    );
    assert!(text.contains(&lines), "{text}");
    let found = |from: &str, to: &str, migrates: bool| {
        assert!(text.contains(from), "{from}");
        let before = lock::read(&text.replacen(from, to, 1)).unwrap();
        let mut now = graph.clone();
        let state = now.state.as_mut().unwrap();
        state.version = u32::from(migrates);
        state.migrates = migrates;
        let found = lock::breaking_changes(&before[0], &now);
        found.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    for (from, to, expected) in [
        (
            "steps:",
            "goal: String, steps:",
            "threads hold field `plan` as `Plan`, of which field `goal` is gone: keep it; if it was renamed, write `#[serde(alias = \"goal\")]` on the new field; otherwise, convert what is stored by `#[state(version = 1, migrate = …)]` on the state",
        ),
        (
            "= Vec<{ done?: u64",
            "= Vec<{ done?: String",
            "threads hold field `tried` as `Vec<Plan>`, of which `[].done` is `u64` now, and was `String`: ",
        ),
        (
            "Write }",
            "Wait, Write }",
            "threads hold field `plan` as `Plan`, of which variant `Wait` of `steps.[]` is gone: keep it",
        ),
    ] {
        let changes = found(from, to, false);
        assert_eq!(changes.len(), 1, "{changes:#?}");
        assert!(changes[0].contains(expected), "{}", changes[0]);
        assert_eq!(found(from, to, true), [""; 0]);
    }
    // What is new is optional, or a variant.
    assert_eq!(found("{ done?: u64, ", "{ ", false), [""; 0]);
    assert_eq!(found("Search { query: String }, ", "", false), [""; 0]);
}

#[derive(State, Clone, Debug, Default)]
struct Post {
    text: String,
}

#[derive(Deserialize)]
enum Verdict {
    Keep,
    Change(String),
}

/// A type that no answer can be.
struct Bell;

struct Door;

impl Door {
    #[allow(clippy::unused_self, reason = "it is called as `Context`'s method is")]
    fn interrupt<T>(&self, _: &str) -> Option<T> {
        None
    }
}

#[node]
async fn review(post: &Post, cx: &Context) -> Result<PostUpdate, NodeError> {
    let _ = Door.interrupt::<Bell>("bell");
    let verdict: Verdict = cx.interrupt("verdict", &post.text)?;
    let seats: Vec<u8> = cx.interrupt("seats", "Which?")?;
    let _ = seats;
    Ok(match verdict {
        Verdict::Keep => PostUpdate::default(),
        Verdict::Change(text) => PostUpdate::default().text(text),
    })
}

#[node]
async fn local(post: &Post, cx: &Context) -> Result<PostUpdate, NodeError> {
    #[derive(Deserialize)]
    struct Verdict {
        keep: bool,
    }
    let verdict: Verdict = cx.interrupt("keep", &post.text)?;
    let _ = verdict.keep;
    Ok(PostUpdate::default())
}

#[test]
fn the_lock_has_the_shapes_of_the_types_that_a_node_names() {
    let graph = graph! { START => review => local => END };
    let graph = graph.compile().unwrap();
    let text = lock::write([graph.topology()]);
    for line in [
        "  node local\n    interrupt keep Verdict\n",
        "  node review\n    interrupt bell Bell\n    interrupt seats Vec<u8>\n    interrupt verdict Verdict = enum { Change(String), Keep }\n",
    ] {
        assert!(text.contains(line), "{text}");
    }
    assert_eq!(lock::write(&lock::read(&text).unwrap()), text);
}
