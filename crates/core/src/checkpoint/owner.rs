//! What a log belongs to.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::CheckpointError;

/// What a log belongs to: a graph, and the type of its state.
///
/// A saver keeps one per log: the last one that a batch has named. It is not
/// part of the records, so a superstep does not pay for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// The name of the graph whose run wrote last.
    pub graph: String,
    /// The type of the state.
    pub state: StateType,
}

/// The type of a state, as a thread stores it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateType {
    /// Its name, without modules.
    pub name: String,
    /// Its version.
    pub version: u32,
    /// Its stored fields: their names, and the texts of their types.
    pub fields: Vec<(String, String)>,
}

impl Owner {
    /// Fails unless values of this state, to which `thread` belongs, are values of the state of `ours`,
    /// maybe of an older or newer version. `former` are the former names of that state, and `has` says
    /// whether it has a field of that name and type.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::WrongType`], which names both types.
    pub fn check(
        &self,
        thread: &str,
        ours: &Self,
        former: &[&str],
        has: impl Fn(&str, &str) -> bool,
    ) -> Result<(), CheckpointError> {
        let (stored, now) = (&self.state, &ours.state);
        if stored == now {
            return Ok(());
        }
        let refused = |remedy: String| CheckpointError::WrongType {
            thread: thread.to_owned(),
            stored: stored.to_string(),
            state: now.to_string(),
            graph: (self.graph != ours.graph).then(|| self.graph.clone()),
            remedy,
        };
        if stored.name != now.name && !former.contains(&&*stored.name) {
            return Err(refused(format!(
                "if `{}` was renamed, put `#[state(alias = \"{}\")]` on it",
                now.name, stored.name
            )));
        }
        // Another version says that fields have changed.
        let known = stored.version != now.version
            || stored.fields.is_empty()
            || now.fields.is_empty()
            || stored.fields.iter().any(|(name, ty)| has(name, ty));
        if known {
            return Ok(());
        }
        Err(refused(
            "if it is the same type, give it the next `#[state(version = …)]`".to_owned(),
        ))
    }
}

impl fmt::Display for StateType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {{", self.name)?;
        for (index, (name, ty)) in self.fields.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            let colon = if ty.is_empty() { "" } else { ": " };
            write!(f, "{comma} {name}{colon}{ty}")?;
        }
        f.write_str(" }")?;
        match self.version {
            0 => Ok(()),
            version => write!(f, ", version {version}"),
        }
    }
}
