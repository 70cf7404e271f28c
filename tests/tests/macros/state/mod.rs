//! `#[derive(State)]`: the update type, and how a field takes what is written to it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use langgraph::error::ReducerError;
use langgraph::message::MessageKind;
use langgraph::node::{IntoOutput, Output};
use langgraph::prelude::*;
use langgraph::state::{AddMessages, Field, FieldSet, Reducer, ReducerFn};

mod growing;
mod stored;
mod wide;

/// What an agent knows.
#[derive(State, Clone, Debug, Default, PartialEq)]
struct AgentState {
    /// The chat so far.
    #[reducer(add_messages)]
    messages: Vec<Message>,
    #[reducer(append)]
    log: Vec<String>,
    next_action: String,
    score: Option<i64>,
}

#[test]
fn c9_an_update_has_one_option_per_field_and_starts_empty() {
    let empty = AgentStateUpdate::default();
    assert_eq!(
        (empty.messages, empty.log, empty.next_action, empty.score),
        (None, None, None, None)
    );
    let update = AgentStateUpdate::default()
        .next_action("search".to_owned())
        .score(None);
    assert_eq!(update.next_action.as_deref(), Some("search"));
    assert_eq!(
        update.score,
        Some(None),
        "written, and what is written is nothing"
    );
    assert_eq!(update.log, None);
}

#[test]
fn c9_none_keeps_and_some_reduces() {
    let state = AgentState {
        log: vec!["a".to_owned()],
        next_action: "old".to_owned(),
        score: Some(1),
        ..AgentState::default()
    };
    assert_eq!(
        state.clone().merge(AgentStateUpdate::default()).unwrap(),
        state
    );
    let update = AgentStateUpdate::default()
        .log(vec!["b".to_owned()])
        .score(None);
    let merged = state.merge(update).unwrap();
    assert_eq!(merged.log, ["a", "b"]);
    assert_eq!((merged.next_action.as_str(), merged.score), ("old", None));
}

#[test]
fn an_update_is_made_of_a_state() {
    let state = AgentState {
        next_action: "go".to_owned(),
        ..AgentState::default()
    };
    let update = AgentStateUpdate::from(state.clone());
    assert_eq!(update.next_action.as_deref(), Some("go"));
    assert_eq!(update.messages, Some(vec![]));
    assert_eq!(AgentState::default().merge(update).unwrap(), state);
}

#[test]
fn an_update_shows_what_it_writes() {
    let update = AgentStateUpdate::default().score(Some(3));
    assert_eq!(format!("{update:?}"), "AgentStateUpdate { score: Some(3) }");
}

fn longest(current: String, update: String) -> String {
    if update.len() > current.len() {
        update
    } else {
        current
    }
}

mod rules {
    use super::Reducer;

    pub(super) struct Twice;

    impl Reducer<i64> for Twice {
        fn merge(&self, current: i64, update: i64) -> i64 {
            current + 2 * update
        }
    }

    pub(super) fn generic<T>(_: T, update: T) -> T {
        update
    }
}

const PRODUCT: ReducerFn<fn(i64, i64) -> i64> = ReducerFn::new(|a, b| a * b);

#[derive(State, Clone, Debug, PartialEq)]
struct Mixed {
    #[reducer(replace)]
    replaced: i64,
    #[reducer(add)]
    added: i64,
    #[reducer(max)]
    greatest: i64,
    #[reducer(min)]
    smallest: i64,
    #[reducer(merge_map)]
    map: BTreeMap<&'static str, i64>,
    #[reducer(union)]
    set: Vec<i64>,
    #[reducer(and)]
    all: bool,
    #[reducer(or)]
    any: bool,
    #[reducer(keep_first)]
    first: Option<i64>,
    #[reducer(longest)]
    by_function: String,
    #[reducer(rules::Twice)]
    by_value: i64,
    #[reducer(rules::generic)]
    by_generic: i64,
    #[reducer(PRODUCT)]
    by_const: i64,
    #[reducer(ReducerFn::new(|a: i64, b: i64| a - b))]
    by_expression: i64,
    #[reducer(|current, update| current.into_iter().chain(update).rev().collect())]
    by_closure: Vec<i64>,
    r#type: u8,
}

#[test]
fn c1_c10_each_field_is_merged_by_its_rule() {
    let state = Mixed {
        replaced: 1,
        added: 1,
        greatest: 1,
        smallest: 1,
        map: BTreeMap::from([("a", 1)]),
        set: vec![1],
        all: true,
        any: false,
        first: None,
        by_function: "ab".to_owned(),
        by_value: 1,
        by_generic: 1,
        by_const: 3,
        by_expression: 3,
        by_closure: vec![1],
        r#type: 1,
    };
    let update = MixedUpdate::default()
        .replaced(2)
        .added(2)
        .greatest(0)
        .smallest(0)
        .map(BTreeMap::from([("b", 2)]))
        .set(vec![1, 2])
        .all(false)
        .any(true)
        .first(Some(7))
        .by_function("a".to_owned())
        .by_value(2)
        .by_generic(2)
        .by_const(2)
        .by_expression(2)
        .by_closure(vec![2])
        .r#type(2);
    let expected = Mixed {
        replaced: 2,
        added: 3,
        greatest: 1,
        smallest: 0,
        map: BTreeMap::from([("a", 1), ("b", 2)]),
        set: vec![1, 2],
        all: false,
        any: true,
        first: Some(7),
        by_function: "ab".to_owned(),
        by_value: 5,
        by_generic: 2,
        by_const: 6,
        by_expression: 1,
        by_closure: vec![2, 1],
        r#type: 2,
    };
    let mut in_place = state.clone();
    in_place.try_merge(update.clone()).unwrap();
    assert_eq!(in_place, expected, "in place");
    assert_eq!(state.merge(update).unwrap(), expected, "by value");
}

#[test]
fn the_fields_are_described() {
    let state = Kinds::default();
    assert_eq!(
        state.fields(),
        [
            Field::plain("plain").typed("i64"),
            Field::plain("reduced")
                .typed("Vec<i64>")
                .reduced_by("append"),
            Field::plain("next").typed("i64").ephemeral(),
            Field::plain("handle").typed("Opaque").untracked(),
            Field::plain("notes")
                .typed("Vec<String>")
                .reduced_by("append")
                .ephemeral()
                .untracked(),
        ]
    );
}

/// A type of which nothing but `Default` and `Clone` is known.
#[derive(Clone, Default)]
struct Opaque(Arc<AtomicUsize>);

#[derive(State, Clone, Default)]
struct Kinds {
    plain: i64,
    #[reducer(append)]
    reduced: Vec<i64>,
    #[state(ephemeral)]
    next: i64,
    #[state(untracked)]
    handle: Opaque,
    #[state(ephemeral, untracked)]
    #[reducer(append)]
    notes: Vec<String>,
}

fn all<S: State>(state: &S) -> FieldSet {
    FieldSet::first(state.fields().len())
}

#[test]
fn writes_are_known_and_can_be_taken_out() {
    let state = Kinds::default();
    let mut update = KindsUpdate::default().plain(1).next(2);
    assert_eq!(state.written(&update).iter().collect::<Vec<_>>(), [0, 2]);
    state.discard(&mut update, &FieldSet::first(1));
    assert_eq!(state.written(&update).iter().collect::<Vec<_>>(), [2]);
    let whole = KindsUpdate::from(state.clone());
    assert_eq!(state.written(&whole), all(&state));
}

#[test]
fn an_overwrite_passes_the_reducer_by() {
    let mut state = Kinds {
        reduced: vec![1],
        ..Kinds::default()
    };
    state.overwrite(KindsUpdate::default().reduced(vec![2]));
    assert_eq!(state.reduced, [2]);
}

#[test]
fn only_ephemeral_and_untracked_fields_are_reset() {
    let mut state = Kinds {
        plain: 1,
        reduced: vec![1],
        next: 1,
        handle: Opaque(Arc::new(AtomicUsize::new(1))),
        notes: vec!["a".to_owned()],
    };
    state.reset(&all(&state));
    assert_eq!((state.plain, state.reduced), (1, vec![1]));
    assert_eq!((state.next, state.notes), (0, vec![]));
    assert_eq!(state.handle.0.load(std::sync::atomic::Ordering::Relaxed), 0);
}

#[test]
fn ids_are_made_when_an_update_enters() {
    let state = AgentState::default();
    let mut update = AgentStateUpdate::default().messages(vec![Message::user("hi")]);
    state.prepare(&mut update);
    let id = update.messages.as_ref().unwrap()[0].id.clone();
    assert!(id.is_some());
    let mut seen = Vec::new();
    AgentState::messages(&update, &mut |message| {
        seen.push(message.text().into_owned());
    });
    assert_eq!(seen, ["hi"]);
}

#[derive(State, Clone, Default)]
struct Chats {
    #[reducer(AddMessages)]
    by_value: Vec<Message>,
    #[reducer(langgraph::message::add_messages)]
    by_path: Vec<Message>,
    #[reducer(append)]
    not_a_chat: Vec<Message>,
}

#[test]
fn a_chat_history_is_known_by_its_reducer() {
    let mut update = ChatsUpdate::default()
        .by_value(vec![Message::user("a")])
        .by_path(vec![Message::user("b")])
        .not_a_chat(vec![Message::user("c")]);
    Chats::default().prepare(&mut update);
    assert!(update.by_value.as_ref().unwrap()[0].id.is_some());
    assert!(update.by_path.as_ref().unwrap()[0].id.is_some());
    assert!(update.not_a_chat.as_ref().unwrap()[0].id.is_none());
    let mut seen = Vec::new();
    Chats::messages(&update, &mut |message| {
        seen.push(message.text().into_owned());
    });
    assert_eq!(seen, ["a", "b"]);
}

#[derive(State, Clone, Debug, Default)]
struct Strict {
    #[reducer(add_messages_strict)]
    messages: Vec<Message>,
}

#[test]
fn a_refused_update_names_its_field() {
    let mut state = Strict::default();
    let error = state
        .try_merge(StrictUpdate::default().messages(vec![Message::remove("9")]))
        .unwrap_err();
    assert_eq!(error.field(), "messages");
}

/// A state by hand, for what the trait does by itself: `merge` is its own for a derived state too.
#[test]
fn a_refused_update_is_an_error_of_the_merge() {
    #[derive(Clone, Debug, Default)]
    struct ByHand(Strict);

    #[derive(Clone, Default)]
    struct ByHandUpdate(StrictUpdate);

    impl From<ByHand> for ByHandUpdate {
        fn from(state: ByHand) -> Self {
            Self(state.0.into())
        }
    }

    impl IntoOutput<ByHand> for ByHandUpdate {
        fn into_output(self) -> Result<Output<ByHand>, NodeError> {
            Ok(Output::update(self))
        }
    }

    impl State for ByHand {
        type Update = ByHandUpdate;

        fn fields(&self) -> &[Field] {
            self.0.fields()
        }
        fn written(&self, update: &ByHandUpdate) -> FieldSet {
            self.0.written(&update.0)
        }
        fn try_merge(&mut self, update: ByHandUpdate) -> Result<(), ReducerError> {
            self.0.try_merge(update.0)
        }
        fn overwrite(&mut self, update: ByHandUpdate) {
            self.0.overwrite(update.0);
        }
        fn discard(&self, update: &mut ByHandUpdate, fields: &FieldSet) {
            self.0.discard(&mut update.0, fields);
        }
        fn reset(&mut self, fields: &FieldSet) {
            self.0.reset(fields);
        }
        fn prepare(&self, update: &mut ByHandUpdate) {
            self.0.prepare(&mut update.0);
        }
    }

    let unknown = || StrictUpdate::default().messages(vec![Message::remove("9")]);
    let refusal = "field `messages`: there is no message `9` to remove";
    let derived = Strict::default().merge(unknown()).unwrap_err();
    assert_eq!(derived.to_string(), refusal);
    let by_hand = ByHand::default().merge(ByHandUpdate(unknown()));
    assert_eq!(by_hand.unwrap_err().to_string(), refusal);

    // Both prepare the update.
    let hello = StrictUpdate::default().messages(vec![Message::user("hi")]);
    let derived = Strict::default().merge(hello.clone()).unwrap();
    let by_hand = ByHand::default().merge(ByHandUpdate(hello)).unwrap();
    for merged in [derived, by_hand.0] {
        assert!(merged.messages[0].id.is_some());
    }
}

/// The example at the end of document 002, section 5.2: a state that is derived, an update that is
/// a struct literal.
#[test]
fn c18_a_partial_update_is_merged_into_the_history() {
    #[derive(State, Clone, Debug, Default, PartialEq)]
    struct AgentState {
        #[reducer(add_messages)]
        messages: Vec<Message>,
        turns: u32,
    }

    let mut state = AgentState::default();
    state.messages.push(Message::user("你好").with_id("msg-1"));
    let partial = AgentStateUpdate {
        messages: Some(vec![Message::assistant("你好！有什么可以帮你？")]),
        ..Default::default()
    };
    state = state.merge(partial).unwrap();

    assert_eq!(state.messages.len(), 2);
    let last = state.messages.last().unwrap();
    assert_eq!(
        last.kind,
        MessageKind::Assistant("你好！有什么可以帮你？".into())
    );
    assert!(last.id.as_deref().is_some_and(|id| !id.is_empty()));
    assert_eq!(state.messages[0].id.as_deref(), Some("msg-1"));

    let unchanged = AgentStateUpdate {
        messages: None,
        turns: None,
    };
    assert_eq!(state.clone().merge(unchanged).unwrap(), state);
    assert_eq!(
        state.clone().merge(AgentStateUpdate::default()).unwrap(),
        state
    );
}

mod generic {
    use langgraph::State;

    /// A queue of anything.
    #[derive(State, Clone, Debug, Default, PartialEq)]
    pub(crate) struct Queue<T, const N: usize = 2>
    where
        T: PartialOrd + Default,
    {
        #[reducer(append)]
        pub(crate) waiting: Vec<T>,
        #[reducer(max)]
        pub(crate) best: T,
        #[reducer(|a, b| if b > a { b } else { a })]
        pub(crate) again: T,
        pub(crate) last: Option<[u8; N]>,
    }
}

#[test]
fn c12_a_generic_state_works() {
    use generic::{Queue, QueueUpdate};
    let update = QueueUpdate::<i64, 3>::default()
        .waiting(vec![2])
        .best(4)
        .again(5)
        .last(Some([1, 2, 3]));
    let state = Queue::<i64, 3>::default().merge(update).unwrap();
    assert_eq!(state.waiting, [2]);
    assert_eq!(
        (state.best, state.again, state.last),
        (4, 5, Some([1, 2, 3]))
    );
}

#[derive(State, Clone, Default)]
struct Wide {
    a0: u8,
    a1: u8,
    a2: u8,
    a3: u8,
    a4: u8,
    a5: u8,
    a6: u8,
    a7: u8,
    a8: u8,
    a9: u8,
    b0: u8,
    b1: u8,
    b2: u8,
    b3: u8,
    b4: u8,
    b5: u8,
    b6: u8,
    b7: u8,
    b8: u8,
    b9: u8,
    c0: u8,
    c1: u8,
    c2: u8,
    c3: u8,
    c4: u8,
    c5: u8,
    c6: u8,
    c7: u8,
    c8: u8,
    c9: u8,
    d0: u8,
    d1: u8,
    d2: u8,
    d3: u8,
    d4: u8,
    d5: u8,
    d6: u8,
    d7: u8,
    d8: u8,
    d9: u8,
    e0: u8,
    e1: u8,
    e2: u8,
    e3: u8,
    e4: u8,
    e5: u8,
    e6: u8,
    e7: u8,
    e8: u8,
    e9: u8,
    f0: u8,
    f1: u8,
    f2: u8,
    f3: u8,
    f4: u8,
    f5: u8,
    f6: u8,
    f7: u8,
    f8: u8,
    f9: u8,
    g0: u8,
    g1: u8,
    g2: u8,
    g3: u8,
    g4: u8,
    g5: u8,
    g6: u8,
    g7: u8,
    g8: u8,
    g9: u8,
}

#[test]
fn a_state_may_have_more_than_64_fields() {
    let state = Wide::default();
    let update = WideUpdate::default().a1(1).g9(2);
    assert_eq!(state.written(&update).iter().collect::<Vec<_>>(), [1, 69]);
    let state = state.merge(update).unwrap();
    assert_eq!((state.a1, state.g9), (1, 2));
}

#[derive(State, Clone, Default)]
struct Nothing {}

#[test]
fn a_state_may_have_no_fields() {
    assert!(Nothing {}.fields().is_empty());
    let _ = Nothing {}.merge(NothingUpdate::from(Nothing {})).unwrap();
}
