//! Stream modes.

use langgraph::stream::{StreamMode, StreamModes};
use serde::{Deserialize, Serialize};

/// A stream mode of the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Mode {
    Values,
    Updates,
    /// Messages as they are so far.
    Messages,
    /// Messages as chunks.
    MessagesTuple,
    Custom,
    Tasks,
    Checkpoints,
    Debug,
}

impl Mode {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Values => "values",
            Self::Updates => "updates",
            Self::Messages => "messages",
            Self::MessagesTuple => "messages-tuple",
            Self::Custom => "custom",
            Self::Tasks => "tasks",
            Self::Checkpoints => "checkpoints",
            Self::Debug => "debug",
        }
    }

    /// Returns true if it shows messages.
    pub(crate) fn shows_messages(self) -> bool {
        matches!(self, Self::Messages | Self::MessagesTuple)
    }

    /// Returns true if it shows tasks.
    pub(crate) fn shows_tasks(self) -> bool {
        matches!(self, Self::Tasks | Self::Debug)
    }

    fn of_graph(self) -> StreamModes {
        match self {
            Self::Values => StreamMode::Values.into(),
            Self::Updates => StreamMode::Updates.into(),
            Self::Messages | Self::MessagesTuple => StreamMode::Messages.into(),
            Self::Custom => StreamMode::Custom.into(),
            Self::Tasks => StreamMode::Tasks.into(),
            Self::Checkpoints => StreamMode::Checkpoints.into(),
            Self::Debug => StreamModes::DEBUG,
        }
    }
}

/// Returns the modes in which the graph has to stream.
pub(crate) fn graph_modes(modes: &[Mode], subgraphs: bool) -> StreamModes {
    let mut set = StreamModes::NONE;
    for mode in modes {
        set |= mode.of_graph();
    }
    let has_messages = modes.iter().any(|mode| mode.shows_messages());
    if subgraphs || has_messages {
        // Namespaces, and the metadata of messages, hold the ids of tasks.
        set |= StreamModes::from(StreamMode::Tasks);
    }
    set
}
