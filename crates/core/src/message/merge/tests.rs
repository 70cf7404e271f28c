use std::cell::Cell;

use proptest::prelude::*;

use super::*;
use crate::message::MessageId;

fn add_messages_strict(
    mut current: Vec<Message>,
    mut update: Vec<Message>,
) -> Result<Vec<Message>, String> {
    give_missing_ids(&mut current);
    prepare(&mut update);
    let refuse = |message: &Message| Err(message.id.clone().map(String::from).unwrap_or_default());
    try_merge(&mut current, update, refuse)?;
    Ok(current)
}

thread_local! {
    static LOOKS: Cell<usize> = const { Cell::new(0) };
}

/// Called for every message of the history that a merge visits.
pub(super) fn count_look() {
    LOOKS.set(LOOKS.get() + 1);
}

fn looks_during(work: impl FnOnce()) -> usize {
    let before = LOOKS.get();
    work();
    LOOKS.get() - before
}

fn said(id: &str, text: &str) -> Message {
    Message::assistant(text).with_id(id)
}

fn history(ids: &[&str]) -> Vec<Message> {
    ids.iter().map(|id| said(id, "old")).collect()
}

/// Asserts that all ways to merge agree; generated ids appear as `<auto>`.
#[track_caller]
fn merged(current: Vec<Message>, update: Vec<Message>) -> Vec<(String, String)> {
    let result = readable(&add_messages(current.clone(), update.clone()));
    let mut in_place = current.clone();
    merge(&mut in_place, update.clone());
    assert_eq!(readable(&in_place), result, "`merge`");

    let mut prepared = update;
    prepare(&mut prepared);
    let stored = prepared.clone();
    let mut in_place = current.clone();
    merge(&mut in_place, prepared);
    assert_eq!(readable(&in_place), result, "prepared");

    let mut replayed = current;
    merge(&mut replayed, stored);
    assert_eq!(replayed, in_place, "replayed from the log");
    result
}

fn readable(messages: &[Message]) -> Vec<(String, String)> {
    let messages = messages.iter().map(|message| {
        let id = message.id.as_deref().unwrap_or("<none>");
        let id = if id.len() == 36 { "<auto>" } else { id };
        (id.to_owned(), message.text().into_owned())
    });
    messages.collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    let expected = expected.iter();
    expected
        .map(|(id, text)| ((*id).into(), (*text).into()))
        .collect()
}

#[test]
fn c3_missing_ids_are_assigned_and_unique() {
    let hi = || Message::user("hi");
    let result = add_messages(vec![hi()], vec![hi(), hi()]);
    let mut ids: Vec<_> = result
        .iter()
        .map(|message| message.id.clone().unwrap())
        .collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 3);
    assert_eq!(
        merged(history(&["1"]), vec![hi()]),
        pairs(&[("1", "old"), ("<auto>", "hi")])
    );
}

#[test]
fn c4_same_id_replaces_in_place() {
    assert_eq!(
        merged(history(&["1", "2", "3"]), vec![said("2", "new")]),
        pairs(&[("1", "old"), ("2", "new"), ("3", "old")])
    );
}

#[test]
fn c4_the_last_of_several_with_one_id_wins() {
    assert_eq!(
        merged(
            vec![],
            vec![said("1", "first"), said("2", "x"), said("1", "second")]
        ),
        pairs(&[("1", "second"), ("2", "x")])
    );
}

#[test]
fn c4_of_duplicates_in_the_history_the_last_is_replaced() {
    assert_eq!(
        merged(history(&["1", "2", "1", "3"]), vec![said("1", "new")]),
        pairs(&[("1", "old"), ("2", "old"), ("1", "new"), ("3", "old")])
    );
}

#[test]
fn c5_new_messages_go_to_the_end_in_order() {
    assert_eq!(
        merged(
            history(&["1"]),
            vec![said("3", "c"), Message::user("d"), said("2", "b")]
        ),
        pairs(&[("1", "old"), ("3", "c"), ("<auto>", "d"), ("2", "b")])
    );
}

#[test]
fn c6_removal_keeps_the_order_of_the_others() {
    assert_eq!(
        merged(
            history(&["1", "2", "3"]),
            vec![Message::remove("2"), said("4", "new")]
        ),
        pairs(&[("1", "old"), ("3", "old"), ("4", "new")])
    );
}

#[test]
fn c6_removal_takes_all_duplicates() {
    assert_eq!(
        merged(history(&["1", "2", "1"]), vec![Message::remove("1")]),
        pairs(&[("2", "old")])
    );
}

#[test]
fn c6_remove_then_add_keeps_the_old_place() {
    assert_eq!(
        merged(
            history(&["1", "2"]),
            vec![Message::remove("1"), said("1", "back")]
        ),
        pairs(&[("1", "back"), ("2", "old")])
    );
}

#[test]
fn c6_add_then_remove_is_gone() {
    for id in ["1", "9"] {
        assert_eq!(
            merged(
                history(&["1", "2"]),
                vec![
                    said(id, "edited"),
                    Message::remove(id),
                    Message::remove("1")
                ]
            ),
            pairs(&[("2", "old")])
        );
    }
}

#[test]
fn c6_unknown_removal_does_nothing() {
    let nameless = Message::from(MessageKind::Remove);
    assert_eq!(
        merged(
            history(&["1"]),
            vec![Message::remove("9"), nameless, said("9", "new")]
        ),
        pairs(&[("1", "old"), ("9", "new")])
    );
}

#[test]
fn c6_remove_all_keeps_what_follows_merged_by_id() {
    let update = vec![
        said("3", "lost"),
        Message::remove_all(),
        said("1", "lost too"),
        Message::remove_all(),
        said("1", "draft"),
        said("4", "gone"),
        said("1", "kept"),
        Message::remove("4"),
    ];
    assert_eq!(
        merged(history(&["1", "2"]), update),
        pairs(&[("1", "kept")])
    );
    assert_eq!(
        merged(history(&["1", "2"]), vec![Message::remove_all()]),
        pairs(&[])
    );
}

#[test]
fn c6_strict_refuses_unknown_removals() {
    for (current, update) in [
        (["1"], vec![Message::remove("9")]),
        (["1"], vec![Message::remove("9"), said("9", "new")]),
        (["9"], vec![Message::remove_all(), Message::remove("9")]),
    ] {
        assert_eq!(
            add_messages_strict(history(&current), update),
            Err("9".to_owned())
        );
    }
    for update in [
        vec![Message::remove("1"), Message::remove("1")],
        vec![said("9", "new"), Message::remove("9"), Message::remove("1")],
        vec![Message::remove("9"), Message::remove_all()],
    ] {
        assert_eq!(add_messages_strict(history(&["1"]), update).unwrap(), []);
    }
}

#[test]
fn removals_are_never_given_an_id() {
    let mut update = vec![Message::remove_all(), MessageKind::Remove.into()];
    prepare(&mut update);
    assert!(update.iter().all(|message| message.id.is_none()));
}

#[test]
fn preparing_twice_keeps_the_ids() {
    let mut update = vec![Message::user("a"), said("1", "b")];
    prepare(&mut update);
    let once = update.clone();
    prepare(&mut update);
    assert_eq!(update, once);
}

/// Messages that entered a state without a merge (an overwrite, for example) also get ids, and can
/// be edited by id.
#[test]
fn an_edit_of_what_was_prepared_but_not_merged_replaces_it() {
    let mut update = vec![Message::user("draft")];
    prepare(&mut update);
    let current = update.clone();
    prepare(&mut update);
    update[0].kind = MessageKind::User("final".into());
    let mut state = current;
    merge(&mut state, update);
    assert_eq!(state.len(), 1);
    assert_eq!(state[0].text(), "final");
}

#[test]
fn merged_messages_are_not_fresh_any_more() {
    let mut state = vec![];
    let mut update = vec![Message::user("hi")];
    prepare(&mut update);
    merge(&mut state, update);

    // Merged without `prepare`: still found by its id.
    let mut copy = state.clone();
    merge(&mut copy, state);
    assert_eq!(copy.len(), 1);
}

#[test]
fn a_copy_of_a_fresh_message_in_the_same_update_replaces_it() {
    let mut update = vec![Message::user("hi")];
    prepare(&mut update);
    let mut copy = update[0].clone();
    copy.kind = MessageKind::User("bye".into());
    update.push(copy);
    let mut state = history(&["1"]);
    merge(&mut state, update);
    assert_eq!(readable(&state), pairs(&[("1", "old"), ("<auto>", "bye")]));
}

#[test]
fn appending_messages_without_ids_does_not_look_at_the_history() {
    let mut state: Vec<Message> = (0..10_000).map(|n| said(&n.to_string(), "old")).collect();
    let looks = looks_during(|| {
        for _ in 0..1_000 {
            let mut update = vec![Message::user("a"), Message::assistant("b")];
            prepare(&mut update);
            merge(&mut state, update);
        }
    });
    assert_eq!(state.len(), 12_000);
    assert_eq!(looks, 0);
}

#[test]
fn given_ids_cost_one_look_at_each_message_at_most() {
    let ids: Vec<String> = (0..10_000).map(|n| n.to_string()).collect();
    let state: Vec<Message> = ids.iter().map(|id| said(id, "old")).collect();
    for (update, expected) in [
        (vec![said("new", "a"), said("new 2", "b")], 10_000),
        (ids.iter().map(|id| said(id, "new")).collect(), 10_000),
        // Most edits are near the end.
        (vec![said("9999", "a"), said("9998", "b")], 2),
    ] {
        let mut state = state.clone();
        let looks = looks_during(|| merge(&mut state, update));
        assert_eq!(looks, expected);
    }
}

/// The rules, implemented literally and without regard to cost.
fn by_the_rules(
    mut current: Vec<Message>,
    mut update: Vec<Message>,
    strict: bool,
) -> Result<Vec<Message>, String> {
    let clear = |message: &Message| message.kind == MessageKind::RemoveAll;
    if let Some(last) = update.iter().rposition(clear) {
        current = vec![];
        update = update.split_off(last + 1);
    }
    let mut removed: Vec<Option<MessageId>> = vec![];
    for message in update {
        let known = message.id.is_some();
        let at = current
            .iter()
            .rposition(|old| known && old.id == message.id);
        match (message.kind == MessageKind::Remove, at) {
            (true, Some(_)) => removed.push(message.id.clone()),
            (true, None) if strict => {
                return Err(message.id.clone().map(String::from).unwrap_or_default());
            }
            (true, None) => {}
            (false, Some(at)) => {
                removed.retain(|id| *id != message.id);
                current[at] = message;
            }
            (false, None) => current.push(message),
        }
    }
    current.retain(|message| message.id.is_none() || !removed.contains(&message.id));
    Ok(current)
}

fn message(ids: u32) -> impl Strategy<Value = Message> {
    let id = (0..ids).prop_map(|id| id.to_string());
    let text = (0..1_000_u32).prop_map(|text| text.to_string());
    prop_oneof![
        8 => (id.clone(), text.clone()).prop_map(|(id, text)| said(&id, &text)),
        2 => text.prop_map(Message::assistant),
        3 => id.prop_map(Message::remove),
        1 => Just(Message::remove_all()),
        1 => Just(MessageKind::Remove.into()),
    ]
}

fn messages(ids: u32, most: usize) -> impl Strategy<Value = Vec<Message>> {
    proptest::collection::vec(message(ids), 0..most)
}

proptest! {
    /// Few ids and many, to cover both ways to search.
    #[test]
    fn c3_to_c8_hold_for_any_update(
        (current, update) in prop_oneof![
            (messages(6, 12), messages(6, 12)),
            (messages(60, 60), messages(60, 60)),
        ],
    ) {
        let current: Vec<Message> =
            current.into_iter().filter(|message| !message.is_removal()).collect();
        let lenient = by_the_rules(current.clone(), update.clone(), false).unwrap();
        let named = |messages: &[Message]| {
            let mut named = readable(messages);
            for (id, _) in &mut named {
                if id == "<none>" {
                    "<auto>".clone_into(id);
                }
            }
            named
        };
        let result = add_messages(current.clone(), update.clone());
        prop_assert!(result.iter().all(|message| message.id.is_some()));
        prop_assert_eq!(named(&result), named(&lenient));

        let mut prepared = update.clone();
        prepare(&mut prepared);
        let stored: Vec<Message> =
            serde_json::from_str(&serde_json::to_string(&prepared).unwrap()).unwrap();
        let (mut live, mut replayed) = (current.clone(), current.clone());
        merge(&mut live, prepared);
        merge(&mut replayed, stored);
        prop_assert_eq!(named(&live), named(&lenient));
        prop_assert_eq!(live, replayed);

        let strict = by_the_rules(current.clone(), update.clone(), true);
        let result = add_messages_strict(current, update);
        match (strict, result) {
            (Ok(strict), Ok(result)) => prop_assert_eq!(named(&result), named(&strict)),
            (Err(id), Err(error)) => {
                prop_assert_eq!(id, error);
            }
            (strict, result) => prop_assert!(false, "{strict:?} beside {result:?}"),
        }
    }
}
