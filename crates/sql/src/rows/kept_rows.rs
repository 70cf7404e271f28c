//! The rows of a checkpoint that stay when its log is rewound.

use super::RowKind;
use langgraph_core::checkpoint::Rewind;

/// Separates the rows of a checkpoint that stay, when its log is rewound to it, from those that go.
#[derive(Clone, Debug)]
pub struct KeptRows {
    /// How many more of its records about tasks stay.
    tasks: usize,
    /// How many more of its updates from outside stay.
    entries: usize,
    /// True if the last one stays.
    keeps_entry: bool,
}

impl KeptRows {
    /// Begins before the first row of the checkpoint.
    pub fn of(rewind: &Rewind) -> Self {
        Self {
            tasks: rewind.tasks,
            entries: rewind.entries,
            keeps_entry: false,
        }
    }

    /// Takes the next row, in the order of storage, and returns true if it stays.
    pub fn keeps(&mut self, kind: RowKind) -> bool {
        match kind {
            RowKind::Checkpoint | RowKind::Argument => true,
            RowKind::Task => one_of(&mut self.tasks),
            RowKind::Entry => {
                self.keeps_entry = one_of(&mut self.entries);
                self.keeps_entry
            }
            RowKind::EntryArgument => self.keeps_entry,
        }
    }
}

fn one_of(left: &mut usize) -> bool {
    let is_left = *left > 0;
    *left = left.saturating_sub(1);
    is_left
}
