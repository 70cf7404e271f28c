//! Threads as a list of them reads their rows.

use std::time::SystemTime;

use langgraph_core::checkpoint::{CheckpointId, Head, RunStatus, ThreadInfo};
use langgraph_core::error::CheckpointError;

use crate::column::unsigned;
use crate::owner::OwnerRow;

/// The row of a thread, for a list.
#[derive(Clone, Debug)]
pub struct ThreadRow {
    /// The thread.
    pub thread: String,
    /// Its head; `None` if the column holds no id.
    pub head: Option<CheckpointId>,
    /// The version of its log.
    pub version: i64,
    /// The code of its status.
    pub status: i64,
    /// When it was last written to.
    pub updated_at: SystemTime,
    /// When it is to be woken.
    pub wake_at: Option<SystemTime>,
    /// The key of its owner.
    pub owner_key: Option<i64>,
    /// The text of its owner.
    pub owner: Option<String>,
}

impl ThreadRow {
    /// Returns the information of the row. What cannot be read is in its
    /// [`damage`](ThreadInfo::damage), so that one row does not keep the others from the list.
    pub fn info(self) -> ThreadInfo {
        let mut damage = Vec::new();
        let owner = OwnerRow::read(self.owner_key, self.owner.as_deref());
        let owner = owner.unwrap_or_else(|error| {
            damage.push(match error {
                CheckpointError::Corrupt(what) => what,
                error => error.to_string(),
            });
            None
        });
        let status = RunStatus::from_code(self.status).unwrap_or_else(|| {
            damage.push(format!("no run has the status {}", self.status));
            RunStatus::Failed
        });
        let head = self.head.unwrap_or_else(|| {
            damage.push("its head is no id of a checkpoint".to_owned());
            CheckpointId::from_bytes([0; 16])
        });
        let head = Head::new(head, unsigned(self.version));
        let damage = (!damage.is_empty()).then(|| damage.join("; "));
        ThreadInfo::new(self.thread, head, owner, status, self.updated_at)
            .with_wake_at(self.wake_at)
            .with_damage(damage)
    }
}

/// The condition on the columns of a row whose status cannot be read.
pub const UNKNOWN_STATUS: &str = "status NOT BETWEEN 0 AND 6";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_condition_knows_every_status() {
        let last = RunStatus::ALL.len() - 1;
        assert_eq!(UNKNOWN_STATUS, format!("status NOT BETWEEN 0 AND {last}"));
    }
}
