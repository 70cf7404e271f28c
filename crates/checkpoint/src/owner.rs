//! What a log belongs to.

use std::fmt;

use serde::{Deserialize, Serialize};

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
