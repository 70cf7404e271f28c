//! Every error has a kind, and `docs/errors.md` says the same one.

use std::time::Duration;

use crate::checkpoint::CheckpointId;
use crate::error::{
    AgentError, CheckpointError, ErrorKind, Failure, FormatError, Interrupted, InvalidUpdate,
    NoRuntime, NodeError, Pause, ReducerError, SubgraphError, WrittenBy,
};

const KINDS: [ErrorKind; 14] = [
    ErrorKind::Conflict,
    ErrorKind::AlreadyExists,
    ErrorKind::NotFound,
    ErrorKind::RefusedAnswer,
    ErrorKind::InvalidInput,
    ErrorKind::Limit,
    ErrorKind::Cancelled,
    ErrorKind::TimedOut,
    ErrorKind::Interrupted,
    ErrorKind::Node,
    ErrorKind::Remote,
    ErrorKind::Storage,
    ErrorKind::StoredData,
    ErrorKind::Program,
];

fn text() -> String {
    "x".to_owned()
}

fn node(source: NodeError) -> AgentError {
    AgentError::Node {
        node: "n".into(),
        namespace: vec!["outer".into()],
        source: Failure::from(source),
    }
}

fn reducer(writer: WrittenBy) -> InvalidUpdate {
    InvalidUpdate::Reducer {
        writer,
        source: ReducerError::new("no"),
    }
}

/// One error of each variant, beside the variant's name.
#[allow(clippy::too_many_lines)] // a list
fn samples() -> Vec<(&'static str, AgentError)> {
    let mut samples = vec![
        ("AgentError::Node", node(NodeError::msg("no"))),
        (
            "AgentError::InterruptsOpen",
            AgentError::InterruptsOpen {
                thread: text(),
                interrupts: Vec::new(),
            },
        ),
        (
            "AgentError::Interrupted",
            AgentError::Interrupted(Box::new(Pause::new(Vec::new(), Vec::new(), ()))),
        ),
        (
            "AgentError::StepLimit",
            AgentError::StepLimit {
                limit: 1,
                next: Vec::new(),
            },
        ),
        (
            "AgentError::BoundReached",
            AgentError::BoundReached {
                from: "n".into(),
                to: "m".into(),
                at_most: 1,
            },
        ),
        (
            "AgentError::Routing",
            AgentError::Routing {
                node: "n".into(),
                target: text(),
                problem: text(),
            },
        ),
        (
            "AgentError::Remote",
            AgentError::Remote {
                node: "n".into(),
                namespace: Vec::new(),
                agent: text(),
                source: Failure::from(NodeError::msg("no")),
            },
        ),
        ("AgentError::InvalidInput", AgentError::InvalidInput(text())),
        (
            "AgentError::InvalidOption",
            AgentError::InvalidOption(text()),
        ),
        (
            "AgentError::NoParent",
            AgentError::NoParent { command: text() },
        ),
        (
            "AgentError::Agent",
            AgentError::Agent {
                agent: None,
                source: Failure::from(NodeError::msg("no")),
            },
        ),
        (
            "AgentError::JoinedRun",
            AgentError::JoinedRun {
                thread: text(),
                kind: ErrorKind::Node,
                reason: text(),
            },
        ),
        ("AgentError::Cancelled", AgentError::Cancelled),
        ("AgentError::Panicked", AgentError::Panicked(text())),
        (
            "AgentError::TimedOut",
            AgentError::TimedOut(Duration::from_secs(1)),
        ),
    ];
    if let Err(error) = NoRuntime::check(text) {
        samples.push(("AgentError::NoRuntime", error.into()));
    }
    let nodes = || vec!["n".into()];
    samples.extend(
        [
            (
                "InvalidUpdate::Conflict",
                InvalidUpdate::Conflict {
                    field: text(),
                    nodes: nodes(),
                },
            ),
            (
                "InvalidUpdate::Overwrites",
                InvalidUpdate::Overwrites {
                    field: text(),
                    nodes: nodes(),
                },
            ),
            (
                "InvalidUpdate::WholeState",
                InvalidUpdate::WholeState {
                    node: "n".into(),
                    others: nodes(),
                },
            ),
            (
                "InvalidUpdate::Panicked",
                InvalidUpdate::Panicked {
                    writer: WrittenBy::Node("n".into()),
                    message: text(),
                },
            ),
            (
                "InvalidUpdate::Reducer",
                reducer(WrittenBy::Node("n".into())),
            ),
        ]
        .map(|(name, error)| (name, error.into())),
    );
    samples.extend(
        checkpoints()
            .into_iter()
            .map(|(name, error)| (name, error.into())),
    );
    samples.extend(
        subgraphs()
            .into_iter()
            .map(|(name, error)| (name, error.into())),
    );
    samples
}

#[allow(clippy::too_many_lines)] // a list
fn checkpoints() -> Vec<(&'static str, CheckpointError)> {
    use CheckpointError as E;
    let id = CheckpointId::after(None);
    let format = || FormatError::new("no");
    vec![
        ("CheckpointError::Storage", E::storage("no")),
        ("CheckpointError::Corrupt", E::Corrupt(text())),
        ("CheckpointError::Format", E::Format(format())),
        (
            "CheckpointError::Unwritable",
            E::Unwritable {
                thread: text(),
                what: text(),
                source: format(),
            },
        ),
        (
            "CheckpointError::Unreadable",
            E::Unreadable {
                thread: text(),
                source: format(),
            },
        ),
        (
            "CheckpointError::NotStorable",
            E::NotStorable { state: "S" },
        ),
        (
            "CheckpointError::SubgraphNotStorable",
            E::SubgraphNotStorable {
                node: text(),
                state: "S",
            },
        ),
        ("CheckpointError::ThreadExists", E::ThreadExists(text())),
        (
            "CheckpointError::OtherGraph",
            E::OtherGraph {
                thread: text(),
                graph: text(),
                owner: text(),
                act: "copied",
            },
        ),
        (
            "CheckpointError::Held",
            E::Held {
                thread: text(),
                waited: Duration::ZERO,
                until: std::time::SystemTime::UNIX_EPOCH,
            },
        ),
        (
            "CheckpointError::LeaseLost",
            E::LeaseLost { thread: text() },
        ),
        ("CheckpointError::NoLeases", E::NoLeases("waiting")),
        (
            "CheckpointError::NoAdministration",
            E::NoAdministration("deleting"),
        ),
        ("CheckpointError::NoThread", E::NoThread),
        ("CheckpointError::NoCheckpointer", E::NoCheckpointer(text())),
        (
            "CheckpointError::InvalidThread",
            E::InvalidThread {
                thread: text(),
                problem: text(),
            },
        ),
        (
            "CheckpointError::InterruptsUnkept",
            E::InterruptsUnkept(text()),
        ),
        (
            "CheckpointError::Conflict",
            E::Conflict {
                thread: text(),
                known: None,
                head: None,
            },
        ),
        ("CheckpointError::UnknownThread", E::UnknownThread(text())),
        (
            "CheckpointError::UnknownCheckpoint",
            E::UnknownCheckpoint { thread: text(), id },
        ),
        (
            "CheckpointError::NothingToResume",
            E::NothingToResume {
                thread: text(),
                key: text(),
                open: text(),
            },
        ),
        (
            "CheckpointError::AmbiguousResume",
            E::AmbiguousResume {
                thread: text(),
                key: text(),
                open: text(),
            },
        ),
        (
            "CheckpointError::UnknownNode",
            E::UnknownNode {
                thread: text(),
                node: text(),
                graph: text(),
                stored: 0,
                now: 0,
            },
        ),
        (
            "CheckpointError::BaseGone",
            E::BaseGone {
                thread: text(),
                base: CheckpointId::after(None),
            },
        ),
        (
            "CheckpointError::LongPath",
            E::LongPath {
                path: text(),
                bytes: 2_000,
            },
        ),
        (
            "CheckpointError::WrongType",
            E::WrongType {
                thread: text(),
                stored: text(),
                state: text(),
                graph: None,
                remedy: text(),
            },
        ),
        ("CheckpointError::EmptyUpdate", E::EmptyUpdate),
        ("CheckpointError::InvalidUpdate", E::InvalidUpdate(text())),
    ]
}

fn subgraphs() -> Vec<(&'static str, SubgraphError)> {
    use SubgraphError as E;
    let (thread, path) = (text, text);
    vec![
        ("SubgraphError::EmptyPath", E::EmptyPath { graph: text() }),
        (
            "SubgraphError::UnknownNode",
            E::UnknownNode {
                path: path(),
                node: "n".into(),
                graph: text(),
                known: Vec::new(),
            },
        ),
        ("SubgraphError::NoGraph", E::NoGraph { path: path() }),
        (
            "SubgraphError::WrongState",
            E::WrongState {
                path: path(),
                expected: "S",
                found: "T",
            },
        ),
        (
            "SubgraphError::KeepsNothing",
            E::KeepsNothing { path: path() },
        ),
        (
            "SubgraphError::SeveralTasks",
            E::SeveralTasks {
                thread: thread(),
                path: path(),
                tasks: 2,
            },
        ),
        (
            "SubgraphError::NoSuchTask",
            E::NoSuchTask {
                thread: thread(),
                path: path(),
                tasks: 2,
            },
        ),
        (
            "SubgraphError::NotStarted",
            E::NotStarted {
                thread: thread(),
                path: path(),
            },
        ),
        (
            "SubgraphError::Ended",
            E::Ended {
                thread: thread(),
                path: path(),
            },
        ),
        (
            "SubgraphError::NotOfACheckpoint",
            E::NotOfACheckpoint {
                thread: thread(),
                path: path(),
            },
        ),
        (
            "SubgraphError::PartOfThread",
            E::PartOfThread {
                thread: thread(),
                path: path(),
                method: "run",
            },
        ),
        ("SubgraphError::NotKept", E::NotKept { path: path() }),
    ]
}

/// The rows of the tables on errors of runs: the error, and the code of its kind.
fn rows() -> Vec<(&'static str, &'static str)> {
    let page = include_str!("../../../../../docs/errors.md");
    let rows = page.lines().filter_map(|line| {
        let mut cells = line.strip_prefix("| `")?.split(" | ");
        let name = cells.next()?.strip_suffix('`')?;
        let of_a_run = [
            "AgentError",
            "InvalidUpdate",
            "CheckpointError",
            "SubgraphError",
        ];
        let of_a_run = of_a_run.contains(&name.split("::").next()?);
        of_a_run.then(|| Some((name, cells.next()?.trim_matches('`'))))?
    });
    rows.collect()
}

#[test]
fn the_page_on_errors_says_the_kind_of_each() {
    let samples = samples();
    for (name, error) in &samples {
        let said: Vec<_> = rows().into_iter().filter(|row| row.0 == *name).collect();
        assert_eq!(said, [(*name, error.kind().code())]);
    }
    // Every variant has a row; so this finds one that has no sample.
    for (name, code) in rows() {
        let wraps =
            ["InvalidUpdate", "Checkpoint", "Subgraph"].map(|inner| format!("AgentError::{inner}"));
        let known = wraps.contains(&name.to_owned()) || samples.iter().any(|s| s.0 == name);
        assert!(known, "`{name}` ({code}) has no sample here");
    }
}

#[test]
fn the_page_on_errors_lists_the_kinds() {
    let page = include_str!("../../../../../docs/errors.md");
    let mut codes = Vec::new();
    for kind in KINDS {
        let retry = if kind.is_retryable() { "yes" } else { "no" };
        let row = format!("| `{}` | {} | {retry}", kind.code(), kind.http_status());
        assert!(page.contains(&row), "docs/errors.md lacks {row}");
        assert!(!codes.contains(&kind.code()), "{} twice", kind.code());
        codes.push(kind.code());
    }
}

#[test]
fn a_thread_of_another_graph_is_a_name_that_is_taken() {
    let wrong_type = |graph| CheckpointError::WrongType {
        thread: text(),
        stored: text(),
        state: text(),
        graph,
        remedy: text(),
    };
    // The graph is the same, so its program has changed: no caller can help that.
    assert_eq!(wrong_type(None).kind().http_status(), 500);
    let other = AgentError::from(wrong_type(Some(text())));
    assert_eq!(other.kind(), ErrorKind::AlreadyExists);
    assert_eq!(other.kind().http_status(), 409);
    assert!(!other.is_retryable());
}

#[test]
fn a_refused_answer_is_the_callers() {
    let refused = node(Interrupted::bad_answer("k", "is bad").into());
    assert_eq!(refused.kind(), ErrorKind::RefusedAnswer);
    assert_eq!(refused.kind().http_status(), 422);
    let waiting = node(Interrupted::waiting("k").into());
    assert_eq!(waiting.kind(), ErrorKind::Node);
}

#[test]
fn an_input_that_a_reducer_refuses_is_the_callers() {
    for writer in [WrittenBy::Input, WrittenBy::External] {
        let error = AgentError::from(reducer(writer));
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        assert_eq!(error.node(), None);
    }
    let error = AgentError::from(reducer(WrittenBy::Node("n".into())));
    assert_eq!(error.node().map(|node| &**node), Some("n"));
}

#[test]
fn a_retry_helps_where_the_node_failed_with_something_that_may_pass() {
    let reset = std::io::Error::from(std::io::ErrorKind::ConnectionReset);
    let error = node(reset.into());
    assert!(error.is_retryable() && !error.kind().is_retryable());
    assert!(!node(NodeError::msg("no")).is_retryable());
    assert_eq!(error.node().map(|node| &**node), Some("n"));
    assert_eq!(error.namespace(), ["outer".into()]);
}
