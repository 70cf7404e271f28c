//! What a breaking change says.

use std::fmt;

use super::change::{BreakingChange, Broken};
use crate::KeyKind;

/// How to go on without a change of the graph.
const KEEP: &str = "keep the old version of the graph beside this one until no thread waits on it: \
                    `Versions::new().add(old).add(new)` of `langgraph-versions`";

impl fmt::Display for BreakingChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(location) = self.location {
            write!(f, "{location}: ")?;
        }
        if !self.path.is_empty() {
            write!(f, "in subgraph `{}`: ", self.path.join("/"))?;
        }
        self.what.fmt(f)
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NodeGone { node, did_you_mean } => {
                write!(f, "a thread may wait for node `{node}`, which is gone: ")?;
                match did_you_mean {
                    Some(new) => write!(
                        f,
                        "if it is `{new}` now, write `#[node(alias = \"{node}\")]` on it; "
                    )?,
                    None => write!(
                        f,
                        "if another node has taken its place, write `#[node(alias = \"{node}\")]` on that; "
                    )?,
                }
                write!(f, "if not, {KEEP}")
            }
            Self::ItemChanged { node, stored, now } => write!(
                f,
                "a thread may wait for node `{node}` with {}, and it takes {} now: {KEEP}",
                Item(stored),
                Item(now)
            ),
            Self::SubgraphExchanged { node, stored } => write!(
                f,
                "a thread may wait in `{stored}`, which node `{node}` no longer runs: put the new one in a node of another name, and {KEEP}"
            ),
            Self::StateRenamed { stored, now } => write!(
                f,
                "threads hold states of type `{stored}`, and the state is called `{now}` now: if it is the same type, write `#[state(alias = \"{stored}\")]` on `{now}`; if not, {KEEP}"
            ),
            Self::VersionLowered { stored, now } => write!(
                f,
                "threads hold states of version {stored}, and this is version {now}: versions only rise, so give it version {stored} or a higher one by `#[state(version = …)]`"
            ),
            Self::FieldGone { field, version } => write!(
                f,
                "threads hold field `{field}`, which is gone: if it was renamed, write `#[state(alias = \"{field}\")]` on the new field; if not, {}",
                Migrate(*version)
            ),
            Self::FieldRetyped {
                field,
                stored,
                now,
                version,
            } => write!(
                f,
                "threads hold field `{field}` as `{stored}`, and it is `{now}` now: {}",
                Migrate(*version)
            ),
            Self::FieldReshaped {
                field,
                ty,
                change,
                version,
            } => write!(
                f,
                "threads hold field `{field}` as `{ty}`, of which {change}; otherwise, {}",
                Migrate(*version)
            ),
            Self::ReducerChanged {
                field,
                stored,
                now,
                version,
            } => write!(
                f,
                "threads have merged field `{field}` {}, and it is merged {} now: {}",
                Merged(stored),
                Merged(now),
                Migrate(*version)
            ),
            Self::InterruptChanged { .. }
            | Self::ApprovalGone { .. }
            | Self::OnceRenamed { .. }
            | Self::OnceRetyped { .. }
            | Self::TaskChanged { .. }
            | Self::ShapeChanged { .. } => self.of_key(f),
            Self::JoinChanged { sources, target } => write!(
                f,
                "a thread may have finished some of `[{}]` and wait for the others to start `{target}`, and no such join is left: keep the join, and put new nodes before its sources or after its target; otherwise, {KEEP}",
                sources.join(", ")
            ),
            Self::RouteGone { from, to } => write!(
                f,
                "a thread that waits at node `{from}` was to reach `{to}`, and cannot now: lead from `{from}` to `{to}`, also through new nodes; otherwise, {KEEP}"
            ),
        }
    }
}

/// An item of a worker in a message.
struct Item<'a>(&'a Option<String>);

impl fmt::Display for Item<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_deref() {
            None => f.write_str("no item"),
            Some("") => f.write_str("an item"),
            Some(item) => write!(f, "an item of type `{item}`"),
        }
    }
}

/// A reducer in a message.
struct Merged<'a>(&'a str);

impl fmt::Display for Merged<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            "" => f.write_str("without a reducer"),
            reducer => write!(f, "by `{reducer}`"),
        }
    }
}

/// What converts stored values.
struct Migrate(u32);

impl fmt::Display for Migrate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "convert what is stored by `#[state(version = {}, migrate = …)]` on the state",
            self.0
        )
    }
}

impl Broken {
    /// Writes the message about a call that threads remember by a key.
    fn of_key(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InterruptChanged {
                node,
                key,
                stored,
                now: Some(now),
            } => write!(
                f,
                "a thread may wait at node `{node}` for a `{stored}` as the answer to `{key}`, and the node takes a `{now}` now: ask under another key in a node of another name, and {KEEP}"
            ),
            Self::InterruptChanged { node, key, .. } if key.is_empty() => write!(
                f,
                "a thread may wait at node `{node}` for an answer under a key that is made at run time, and the node no longer asks for any: ask in the body of the node, or {KEEP}"
            ),
            Self::ApprovalGone { node, tool } => write!(
                f,
                "a thread may wait at node `{node}` for the approval of a call of `{tool}`, which the node no longer asks for, so that a rejection is lost: keep the approval, or {KEEP}"
            ),
            Self::InterruptChanged { node, key, .. } => write!(
                f,
                "a thread may wait at node `{node}` for an answer to `{key}`, which the node no longer asks for: ask for it in the body of the node, or {KEEP}"
            ),
            Self::OnceRenamed { node, key } => write!(
                f,
                "a thread that waits at node `{node}` may have stored the result of `{key}`, and the work has another key now, so that it runs again: keep the key"
            ),
            Self::OnceRetyped {
                node,
                key,
                stored,
                now,
            } => write!(
                f,
                "a thread that waits at node `{node}` may have stored a `{stored}` as the result of `{key}`, and the node takes a `{now}` now: {KEEP}"
            ),
            Self::TaskChanged {
                node,
                task,
                stored,
                now: Some(now),
            } => write!(
                f,
                "a thread that waits at node `{node}` may have stored a `{stored}` as the result of task `{task}`, which returns a `{now}` now: {KEEP}"
            ),
            Self::TaskChanged { node, task, .. } => write!(
                f,
                "a thread that waits at node `{node}` may have stored the result of task `{task}`, which the node no longer calls: if it is another function now, write `#[task(name = \"{task}\")]` on it; if not, {KEEP}"
            ),
            Self::ShapeChanged { .. } => self.of_shape(f),
            _ => Ok(()),
        }
    }

    /// Writes the message about a type of a key.
    fn of_shape(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::ShapeChanged {
            node,
            kind,
            key,
            ty,
            change,
        } = self
        else {
            return Ok(());
        };
        match kind {
            KeyKind::Interrupt | KeyKind::Approval => write!(
                f,
                "a thread may wait at node `{node}` for a `{ty}` as the answer to `{key}`"
            )?,
            KeyKind::Once => write!(
                f,
                "a thread that waits at node `{node}` may have stored a `{ty}` as the result of `{key}`"
            )?,
            KeyKind::Task => write!(
                f,
                "a thread that waits at node `{node}` may have stored a `{ty}` as the result of task `{key}`"
            )?,
        }
        write!(f, ", of which {change}; otherwise, {KEEP}")
    }
}
