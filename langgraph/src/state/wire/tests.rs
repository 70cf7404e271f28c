use super::{JumpWire, LentUpdate, OutputWire, RoutesWire, TargetWire, UpdateIndex, WriteWire};
use langgraph_core::checkpoint::{Encoded, Formats};
use langgraph_core::error::FormatError;

/// An output that has every part that an output may have.
fn everything(update: &i32) -> OutputWire<LentUpdate<'_>> {
    let lend = || LentUpdate::Borrowed(update);
    let targets = || {
        vec![
            TargetWire::Node("a".into()),
            TargetWire::Send {
                node: "b".into(),
                item: "[1]".to_owned(),
            },
            TargetWire::SendState {
                node: "c".into(),
                state: lend(),
            },
        ]
    };
    OutputWire {
        writes: vec![
            WriteWire::Update(lend()),
            WriteWire::Overwrite(lend()),
            WriteWire::State(lend()),
        ],
        jump: Some(JumpWire::To {
            targets: targets(),
            edges: true,
        }),
        routes: vec![RoutesWire::Several(vec![RoutesWire::Targets(targets())])],
        cached: true,
        only_written: true,
    }
}

fn read(text: &str) -> Result<(OutputWire<UpdateIndex>, Vec<i32>), FormatError> {
    let mut updates = Vec::new();
    let encoded = Encoded::new("json", 0, text.to_owned());
    let wire = OutputWire::decode(&encoded, &Formats::default(), &mut |from| {
        updates.push(erased_serde::deserialize(from)?);
        Ok(())
    })?;
    Ok((wire, updates))
}

#[test]
fn an_output_is_read_as_it_was_written_and_its_updates_are_numbered() {
    let encoded = everything(&7).encode(&Formats::default(), 0).unwrap();
    let text = std::str::from_utf8(&encoded.bytes).unwrap();
    let (wire, updates) = read(text).unwrap();
    assert_eq!(updates, [7; 5]);
    let expected = r#"OutputWire { writes: [Update(UpdateIndex(0)), Overwrite(UpdateIndex(1)), State(UpdateIndex(2))], jump: Some(To { targets: [Node("a"), Send { node: "b", item: "[1]" }, SendState { node: "c", state: UpdateIndex(3) }], edges: true }), routes: [Several([Targets([Node("a"), Send { node: "b", item: "[1]" }, SendState { node: "c", state: UpdateIndex(4) }])])], cached: true, only_written: true }"#;
    assert_eq!(format!("{wire:?}"), expected);
}

#[test]
fn an_output_without_its_optional_parts_is_read() {
    let (wire, updates) = read("{}").unwrap();
    assert!(updates.is_empty() && wire.writes.is_empty() && wire.routes.is_empty());
    assert!(wire.jump.is_none() && !wire.cached && !wire.only_written);
    let (wire, _) = read(r#"{"jump":"end"}"#).unwrap();
    assert!(matches!(wire.jump, Some(JumpWire::End)));
    let (wire, _) = read(r#"{"jump":{"parent":{"command":"c","state":"s"}}}"#).unwrap();
    let parent = |jump| matches!(jump, Some(JumpWire::Parent { state, command }) if state == "s" && command == "c");
    assert!(parent(wire.jump));
}

#[test]
fn parts_of_newer_versions_are_skipped() {
    let text = r#"{"later":[{"update":1}],"writes":[{"update":2}],"jump":{"to":{"targets":[],"later":null}}}"#;
    let (wire, updates) = read(text).unwrap();
    assert_eq!((wire.writes.len(), updates), (1, vec![2]));
}

#[test]
fn what_an_output_cannot_hold_is_an_error_that_says_what_was_expected() {
    for (text, expected) in [
        (
            r#"{"writes":[{"replace":1}]}"#,
            "unknown variant `replace`, expected one of `update`, `overwrite`, `state`",
        ),
        (
            r#"{"jump":{"to":{"edges":true}}}"#,
            "missing field `targets`",
        ),
        (
            r#"{"routes":[{"targets":[{"send":{"node":"b"}}]}]}"#,
            "missing field `item`",
        ),
        (
            r#"{"routes":[{"targets":[{"node":5}]}]}"#,
            "invalid type: integer `5`, expected a string",
        ),
        (
            r#"{"cached":"yes"}"#,
            r#"invalid type: string "yes", expected a boolean"#,
        ),
        (
            r#"{"writes":7}"#,
            "invalid type: integer `7`, expected a list",
        ),
        ("[]", "invalid type: sequence, expected struct OutputWire"),
        (
            r#"{"writes":[{"update":"text"}]}"#,
            r#"invalid type: string "text", expected i32"#,
        ),
    ] {
        let error = read(text).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
}
