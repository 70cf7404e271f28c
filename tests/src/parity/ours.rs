//! Our own answers, where we decided differently from Python.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

/// The meaning of each tag of `differs`.
const DECISIONS: &[(&str, &str)] = &[
    (
        "step-limit-exact",
        "the step limit counts supersteps exactly: reaching it is an error only if tasks remain, and a resume has the same limit as a run",
    ),
    (
        "defer-waits-for-sends",
        "a deferred node waits for pending sends too",
    ),
    ("joins-cleared", "a new input clears half-filled joins"),
    (
        "unknown-targets-are-errors",
        "a router, goto or send to a node that does not exist is an error",
    ),
    (
        "no-poisoned-threads",
        "after writes that do not fit together the thread can be read, and a continue runs the tasks again",
    ),
    (
        "router-error-is-the-node's",
        "a router's error is its node's error, and a continue asks the router again",
    ),
    (
        "no-rerun-without-answer",
        "a waiting task runs again only when it has a new answer",
    ),
    (
        "nothing-to-resume-is-an-error",
        "an answer that nothing waits for is refused",
    ),
    (
        "answer-at-checkpoint",
        "the answer that is given wins over one that the checkpoint remembers",
    ),
    (
        "retry-resumes-subgraph",
        "a retried subgraph node goes on inside where it failed",
    ),
    (
        "command-update-stays",
        "`update_state` writes on top of what its checkpoint shows, an update of a command included",
    ),
    (
        "resume-null",
        "null is an answer, and so is an empty object",
    ),
    (
        "overwrite-sets",
        "an overwrite of a field without a reducer sets it",
    ),
    (
        "empty-name-refused",
        "a node needs a name that is not empty",
    ),
    (
        "no-reserved-internals",
        "no names are reserved but those of START and END",
    ),
    ("no-reserved-fields", "no field names are reserved"),
    (
        "all-interrupts-shown",
        "tasks that ask side by side show all their interrupts",
    ),
    (
        "changed-course-is-an-error",
        "a task that finds the record of another call is an error that names both, and gives no wrong result",
    ),
    (
        "fresh-output",
        "a run that waits has no output, and not that of the run before",
    ),
    (
        "kept-tasks-are-quiet",
        "a task whose result is kept begins no task",
    ),
    (
        "routers-have-no-names",
        "a node may have any number of routers",
    ),
];

/// The tag for what exists in Python only.
pub(super) const PYTHON_ONLY: &str = "python-only";

fn path(name: &str) -> PathBuf {
    let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("parity/ours");
    ours.join(format!("{name}.json"))
}

/// Reads our answers to the case of that name, if there are any.
///
/// # Errors
///
/// When the file is no answer, or names no decision.
pub(super) fn read(name: &str) -> Result<Option<Value>, String> {
    let Ok(text) = std::fs::read_to_string(path(name)) else {
        return Ok(None);
    };
    let ours: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    match ours.get("decision").and_then(Value::as_str) {
        Some(_) => Ok(Some(ours)),
        None => Err("our answers name no decision".to_owned()),
    }
}

/// Writes our answers to the case of that name, with the decisions behind them.
///
/// # Errors
///
/// When the file cannot be written, or a tag stands for nothing.
pub(super) fn bless(name: &str, tags: &[String], answers: &Value) -> Result<(), String> {
    let decision = |tag: &String| {
        let known = DECISIONS.iter().find(|(known, _)| known == tag);
        let (tag, decision) = known.ok_or_else(|| format!("nothing is decided on `{tag}`"))?;
        Ok(format!("{tag}: {decision}"))
    };
    let decisions: Result<Vec<_>, String> = tags.iter().map(decision).collect();
    let mut ours = Map::from_iter([("decision".to_owned(), decisions?.join("; ").into())]);
    ours.extend(answers.as_object().cloned().unwrap_or_default());
    let text = format!("{:#}\n", Value::Object(ours));
    let path = path(name);
    let parent = path.parent().unwrap_or(&path);
    std::fs::create_dir_all(parent)
        .and_then(|()| std::fs::write(&path, text))
        .map_err(|error| format!("{}: {error}", path.display()))
}

/// Removes our answers to a case that answers as Python does.
///
/// # Errors
///
/// When they are there and cannot be removed.
pub(super) fn forget(name: &str) -> Result<(), String> {
    let path = path(name);
    if path.exists() {
        std::fs::remove_file(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(())
}
