//! States with many fields, whose updates are lists: they do what updates with a field for each do.

use std::sync::Arc;

use fastrand::Rng;
use langgraph::checkpoint::MemorySaver;
use langgraph::node::Overwriting;
use langgraph::prelude::*;
use langgraph::state::{FieldSet, HasMessages};
use langgraph::thread::Keep;
use langgraph_tests::ByteSaver;
use serde::Serialize;

use super::Opaque;

/// A state with these fields, and many more.
macro_rules! wide {
    (
        $(#[$of:meta])*
        struct $name:ident $([$($generics:tt)*] where [$($bounds:tt)*])? { $($fields:tt)* }
    ) => {
        $(#[$of])*
        struct $name $(<$($generics)*> where $($bounds)*)? {
            $($fields)*
            a0: u8, a1: u8, a2: u8, a3: u8, a4: u8, a5: u8, a6: u8, a7: u8, a8: u8, a9: u8,
            b0: u8, b1: u8, b2: u8, b3: u8, b4: u8, b5: u8, b6: u8, b7: u8, b8: u8, b9: u8,
            c0: u8, c1: u8, c2: u8, c3: u8, c4: u8, c5: u8, c6: u8, c7: u8, c8: u8, c9: u8,
            d0: u8, d1: u8, d2: u8, d3: u8, d4: u8, d5: u8, d6: u8, d7: u8, d8: u8, d9: u8,
            e0: u8, e1: u8, e2: u8, e3: u8, e4: u8, e5: u8, e6: u8, e7: u8, e8: u8, e9: u8,
            f0: u8, f1: u8, f2: u8, f3: u8, f4: u8, f5: u8, f6: u8, f7: u8, f8: u8, f9: u8,
        }
    };
}

/// A state with these fields, one with the same and many more, and the first as a part of the second.
macro_rules! twins {
    ($($(#[$of:meta])* $field:ident: $ty:ty,)*) => {
        #[derive(State, Clone, Debug, Default, PartialEq)]
        struct Narrow { $($(#[$of])* $field: $ty,)* }

        wide! {
            #[derive(State, Clone, Debug, Default, PartialEq)]
            struct Wide { $($(#[$of])* $field: $ty,)* }
        }

        impl From<Wide> for Narrow {
            fn from(wide: Wide) -> Self {
                Self { $($field: wide.$field,)* }
            }
        }
    };
}

/// `Some(desk)` puts a desk on the stack, `None` takes one off.
fn stack(mut desks: Vec<String>, update: Option<String>) -> Vec<String> {
    match update {
        Some(desk) => desks.push(desk),
        None => drop(desks.pop()),
    }
    desks
}

twins! {
    #[reducer(add_messages)]
    messages: Vec<Message>,
    #[reducer(append)]
    log: Vec<String>,
    plain: String,
    score: Option<u8>,
    #[reducer(|sum, more| sum + more)]
    total: u64,
    #[state(ephemeral)]
    next: u8,
    #[state(untracked)]
    handle: u8,
    #[state(ephemeral, untracked)]
    #[reducer(append)]
    hidden: Vec<u8>,
    #[reducer(stack, update = Option<String>)]
    desks: Vec<String>,
    #[reducer(|sum, add: &'static str| sum + add.len(), update = &'static str)]
    #[state(untracked)]
    letters: usize,
    #[state(alias = "once")]
    renamed: u8,
    // Names that the expansion uses, too.
    r#type: u8,
    parts: u8,
    part: u8,
    value: u8,
    update: u8,
    written: u8,
    map: u8,
}

/// Updates of both that write the same.
type Both = (NarrowUpdate, WideUpdate);

/// Writes several fields at random, some of them twice, in no order.
fn updates(random: &mut Rng) -> Both {
    macro_rules! write {
        ($updates:ident.$setter:ident($value:expr)) => {{
            let (narrow, wide) = $updates;
            (narrow.$setter($value), wide.$setter($value))
        }};
    }
    let mut updates = Both::default();
    for _ in 0..random.u8(0..10) {
        let n = random.u8(0..4);
        updates = match random.u8(0..18) {
            0 => write!(updates.messages(vec![Message::user("hi").with_id(n.to_string())])),
            1 => write!(updates.log(vec![n.to_string()])),
            2 => write!(updates.plain(n.to_string())),
            3 => write!(updates.score(n.checked_sub(2))),
            4 => write!(updates.total(n.into())),
            5 => write!(updates.next(n)),
            6 => write!(updates.handle(n)),
            7 => write!(updates.hidden(vec![n])),
            8 => write!(updates.desks((n > 1).then(|| n.to_string()))),
            9 => write!(updates.letters("abc")),
            10 => write!(updates.renamed(n)),
            11 => write!(updates.r#type(n)),
            12 => write!(updates.parts(n)),
            13 => write!(updates.part(n)),
            14 => write!(updates.value(n)),
            15 => write!(updates.update(n)),
            16 => write!(updates.written(n)),
            _ => write!(updates.map(n)),
        };
    }
    updates
}

fn json(update: &impl Serialize) -> String {
    serde_json::to_string(update).unwrap()
}

fn seen<S: State>(update: &S::Update) -> Vec<String> {
    let mut seen = Vec::new();
    S::messages(update, &mut |message| {
        seen.push(message.text().into_owned());
    });
    seen
}

#[test]
fn an_update_shows_compares_and_stores_the_same() {
    let mut random = Rng::with_seed(1);
    let (narrow_state, wide_state) = (Narrow::default(), Wide::default());
    let mut before = Both::default();
    for _ in 0..2_000 {
        let (narrow, wide) = updates(&mut random);
        let shown = format!("{narrow:?}").replace("Narrow", "Wide");
        assert_eq!(shown, format!("{wide:?}"));
        assert_eq!(narrow == before.0, wide == before.1, "{wide:?}");
        assert_eq!(wide.clone(), wide);
        assert_eq!(narrow_state.written(&narrow), wide_state.written(&wide));
        assert_eq!(seen::<Narrow>(&narrow), seen::<Wide>(&wide));

        let stored = json(&narrow);
        assert_eq!(stored, json(&wide));
        let read: NarrowUpdate = serde_json::from_str(&stored).unwrap();
        let read_wide: WideUpdate = serde_json::from_str(&stored).unwrap();
        let shown = format!("{read:?}").replace("Narrow", "Wide");
        assert_eq!(shown, format!("{read_wide:?}"));

        let (mut narrow_rest, mut wide_rest) = (narrow.clone(), wide.clone());
        let fields: FieldSet = (0..18).filter(|_| random.bool()).collect();
        narrow_state.discard(&mut narrow_rest, &fields);
        wide_state.discard(&mut wide_rest, &fields);
        let shown = format!("{narrow_rest:?}").replace("Narrow", "Wide");
        assert_eq!(shown, format!("{wide_rest:?}"));
        before = (narrow, wide);
    }
}

#[test]
fn an_update_is_merged_and_set_the_same() {
    let mut random = Rng::with_seed(2);
    let (mut narrow_state, mut wide_state) = (Narrow::default(), Wide::default());
    for _ in 0..2_000 {
        let (mut narrow, mut wide) = updates(&mut random);
        narrow_state.prepare(&mut narrow);
        wide_state.prepare(&mut wide);
        if random.u8(0..3) == 0 {
            narrow_state.overwrite(narrow);
            wide_state.overwrite(wide);
        } else {
            narrow_state.try_merge(narrow).unwrap();
            wide_state.try_merge(wide).unwrap();
        }
        if random.u8(0..8) == 0 {
            let all = FieldSet::first(wide_state.fields().len());
            narrow_state.reset(&all);
            wide_state.reset(&all);
        }
        assert_eq!(narrow_state, Narrow::from(wide_state.clone()));
        // A whole state is an update of all fields.
        let mut whole = WideUpdate::from(wide_state.clone());
        let all = FieldSet::first(wide_state.fields().len());
        assert_eq!(wide_state.written(&whole), all);
        assert_eq!(Wide::default().merge(whole.clone()).unwrap(), wide_state);
        let more: FieldSet = (18..all.iter().count()).collect();
        wide_state.discard(&mut whole, &more);
        assert_eq!(
            json(&whole),
            json(&NarrowUpdate::from(narrow_state.clone()))
        );
    }
    assert!(narrow_state.total > 0 && !narrow_state.log.is_empty());
}

#[test]
fn stored_names_are_read_as_of_a_state_with_few_fields() {
    let stored = serde_json::json!({
        "gone": {"deep": [1]}, "handle": 3, "f9": 7, "once": 4, "=desks": ["a"], "log": ["b"],
    });
    let read: WideUpdate = serde_json::from_value(stored).unwrap();
    let shown = r#"WideUpdate { log: ["b"], desks: Whole(["a"]), renamed: 4, f9: 7 }"#;
    assert_eq!(format!("{read:?}"), shown);
    assert_eq!(
        json(&read),
        r#"{"log":["b"],"=desks":["a"],"renamed":4,"f9":7}"#
    );
}

#[test]
fn messages_are_written_and_get_their_ids() {
    let mut update = Wide::update_from_messages(vec![Message::user("hi")]);
    assert_eq!(seen::<Wide>(&update), ["hi"]);
    Wide::default().prepare(&mut update);
    let state = Wide::default().merge(update.plain("a".to_owned())).unwrap();
    let [message] = HasMessages::messages(&state) else {
        panic!("one message is written");
    };
    assert!(message.id.is_some());
}

wide! {
    #[derive(State, Clone, Debug, Default)]
    struct Strict {
        #[reducer(add_messages_strict)]
        one: Vec<Message>,
        #[reducer(add_messages_strict)]
        two: Vec<Message>,
    }
}

/// The fields are merged in their order, whatever the order in which they are written.
#[test]
fn the_first_field_that_refuses_an_update_is_named() {
    let unknown = || vec![Message::remove("9")];
    let update = StrictUpdate::default().f9(1).two(unknown()).one(unknown());
    let error = Strict::default().try_merge(update).unwrap_err();
    assert_eq!(error.field(), "one");
}

wide! {
    /// Anything in a queue.
    #[derive(State, Clone, Debug, Default, PartialEq)]
    struct Queue[T, const N: usize] where [T: PartialOrd + Default] {
        #[reducer(append)]
        waiting: Vec<T>,
        #[reducer(max)]
        best: T,
        last: Option<[u8; N]>,
    }
}

#[test]
fn a_generic_state_works() {
    let update = QueueUpdate::<i64, 3>::default()
        .last(Some([1, 2, 3]))
        .best(4)
        .waiting(vec![2]);
    assert_eq!(update.clone(), update);
    let state = Queue::default().merge(update).unwrap();
    assert_eq!((state.waiting, state.best), (vec![2], 4));
    assert_eq!(state.last, Some([1, 2, 3]));
}

wide! {
    /// No serde, no `Debug`, no `PartialEq`: a state all the same.
    #[derive(State, Clone, Default)]
    struct NotStored {
        opaque: Opaque,
        #[reducer(|_, update| update)]
        merged: Opaque,
    }
}

#[test]
fn a_field_needs_no_serde_and_no_debug() {
    let node = |_: &NotStored| NotStoredUpdate::default().merged(Opaque::default()).f9(1);
    let mut graph = StateGraph::<NotStored>::new();
    graph.add_node("node", node).add_sequence(&["node"]);
    let state = graph.compile().unwrap().invoke_blocking(()).unwrap();
    assert_eq!(state.f9, 1);
}

#[node(writes(plain, desks))]
async fn left(state: &Wide) -> (String, Option<String>) {
    (format!("left {}", state.total), Some("hotels".to_owned()))
}

#[node]
async fn right(state: &Wide) -> WideUpdate {
    let update = WideUpdate::default().f9(state.f9 + 1).next(1).handle(2);
    update.log(vec![format!("after {}", state.plain)])
}

#[node]
async fn sum(state: &Wide) -> Overwriting<Wide> {
    let update = WideUpdate::default()
        .total(state.next.into())
        .b0(state.handle);
    update.overwrite_log(vec![format!("{} lines", state.log.len())])
}

fn graph() -> CompiledStateGraph<Wide> {
    let graph = graph! { START => [left, right] => sum => END };
    graph.compile().unwrap()
}

async fn is_remembered(graph: CompiledStateGraph<Wide>) {
    let thread = graph.thread("t");
    for turn in 1..4 {
        let input = WideUpdate::default().log(vec!["input".to_owned()]);
        let state = graph.run(input).thread("t").await.unwrap();
        let state = state.finished().unwrap();
        let expected = Wide {
            plain: format!("left {}", turn - 1),
            log: vec![if turn == 1 { "2 lines" } else { "3 lines" }.to_owned()],
            desks: vec!["hotels".to_owned(); usize::from(turn)],
            total: turn.into(),
            handle: 2,
            b0: 2,
            f9: turn,
            ..Wide::default()
        };
        assert_eq!(state, expected);
        let stored = thread.state().await.unwrap().unwrap();
        assert_eq!(
            stored.values,
            Wide {
                handle: 0,
                ..expected
            }
        );
        if turn == 2 {
            thread.prune(Keep::Newest(1)).await.unwrap();
        }
    }
}

#[tokio::test]
async fn parallel_nodes_write_and_a_thread_remembers() {
    is_remembered(graph().checkpointer(Arc::new(MemorySaver::new()))).await;
    is_remembered(graph().checkpointer(Arc::new(ByteSaver::default()))).await;
}

#[tokio::test]
async fn two_nodes_that_write_one_field_are_reported() {
    let mut graph = StateGraph::<Wide>::new();
    for name in ["one", "two"] {
        graph.add_node(name, |_: &Wide| WideUpdate::default().f8(1).map(2).total(3));
        graph.add_edge(START, name);
    }
    let error = graph.compile().unwrap().invoke(()).await.unwrap_err();
    let error = error.to_string();
    assert!(
        error.contains("field `map` was written by `one`, `two`"),
        "{error}"
    );
}
