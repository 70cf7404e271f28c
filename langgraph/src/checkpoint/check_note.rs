//! What a changed graph reads otherwise than the graph that wrote a thread.

use std::fmt;

use langgraph_topology::NodeName;

use super::StateType;
use crate::state::State;

/// What a changed state type reads otherwise than the one that wrote the thread; see
/// [`Thread::check`](crate::thread::Thread::check).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CheckNote {
    /// A field that the thread does not have: it has its default.
    DefaultField {
        /// The path of nodes to the graph; empty for the thread's own.
        path: Vec<NodeName>,
        /// The field.
        field: String,
        /// The stored fields that no field reads; one of them may be its former name.
        unread: Vec<String>,
    },
    /// A stored field that no field reads.
    UnreadField {
        /// The path of nodes to the graph; empty for the thread's own.
        path: Vec<NodeName>,
        /// The field.
        field: String,
    },
}

impl CheckNote {
    /// Compares the fields of a state with those that are stored.
    pub(crate) fn of_fields<S: State>(
        initial: &S,
        stored: &StateType,
        path: &[NodeName],
    ) -> Vec<Self> {
        let version = S::version();
        let is_migrated = stored.version < version.number && version.migrate.is_some();
        if stored.fields.is_empty() || is_migrated {
            return Vec::new();
        }
        let fields = initial.fields().iter();
        let fields: Vec<_> = fields.filter(|field| !field.is_untracked()).collect();
        let stored = stored.fields.iter().map(|(name, _)| name);
        let unread = stored
            .clone()
            .filter(|name| !fields.iter().any(|field| field.is_called(name)));
        let unread: Vec<_> = unread.cloned().collect();
        let new = fields
            .iter()
            .filter(|field| !stored.clone().any(|name| field.is_called(name)));
        let new: Vec<_> = new
            .map(|field| Self::DefaultField {
                path: path.to_vec(),
                field: field.name().to_owned(),
                unread: unread.clone(),
            })
            .collect();
        if !new.is_empty() {
            return new;
        }
        let unread = unread.into_iter();
        unread
            .map(|field| Self::UnreadField {
                path: path.to_vec(),
                field,
            })
            .collect()
    }
}

impl fmt::Display for CheckNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::DefaultField { path, .. } | Self::UnreadField { path, .. }) = self;
        if !path.is_empty() {
            write!(f, "in `{}`, ", path.join("/"))?;
        }
        match self {
            Self::UnreadField { field, .. } => {
                write!(
                    f,
                    "field `{field}` is stored, and the state has no such field"
                )
            }
            Self::DefaultField { field, unread, .. } => {
                write!(f, "field `{field}` is not stored, and has its default")?;
                for (index, name) in unread.iter().enumerate() {
                    let start = if index == 0 {
                        "; if it was called"
                    } else {
                        " or"
                    };
                    write!(f, "{start} `{name}`")?;
                }
                if let Some(name) = unread.first() {
                    write!(f, ", put `#[state(alias = \"{name}\")]` on it")?;
                }
                Ok(())
            }
        }
    }
}
