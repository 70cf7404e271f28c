//! What is kept of a release.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Fallible, Kind};

/// What the clients of a release knew when it was killed. A field that an older release did not write is empty.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Kept {
    /// The name of the program, which its nodes have written into their results.
    pub program: String,
    /// The last run of each thread.
    pub runs: BTreeMap<String, KeptRun>,
    /// The run in the queue behind the map.
    pub behind: String,
    /// An assistant with three versions, of which the second is used.
    pub assistant: String,
    /// The cron.
    pub cron: String,
    /// The checkpoints of the thread that has ended, the newest first.
    pub history: Vec<Value>,
}

/// A run, and what its clients had received.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct KeptRun {
    /// Its id.
    pub run: String,
    /// The events that one client had received.
    pub events: Vec<KeptEvent>,
    /// The id of the last event that another client had read.
    pub last: String,
}

/// An event of a stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptEvent {
    /// Its id.
    pub id: String,
    /// Its name.
    pub event: String,
    /// Its content.
    pub data: Value,
}

impl Kept {
    /// Reads what a release knew.
    pub fn read(release: &Path, kind: Kind) -> Fallible<Self> {
        let text = std::fs::read_to_string(release.join(kind.known()))?;
        Ok(serde_json::from_str(&text)?)
    }

    pub(crate) fn write(&self, release: &Path, kind: Kind) -> Fallible<()> {
        let text = serde_json::to_string_pretty(self)? + "\n";
        Ok(std::fs::write(release.join(kind.known()), text)?)
    }
}

/// The folders of the releases, in the order of their names.
pub fn releases() -> Fallible<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(env!("CARGO_MANIFEST_DIR"))? {
        let path = entry?.path();
        if path.join(Kind::Sqlite.known()).exists() {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
