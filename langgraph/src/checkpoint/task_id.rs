//! The ids of tasks.

use langgraph_topology::hash::Fnv;
use uuid::{Builder, Uuid};

use super::CheckpointId;

/// Returns the id of a task of the superstep after a checkpoint.
pub(crate) fn of(checkpoint: CheckpointId, index: usize, node: &str) -> Uuid {
    derived(&checkpoint.to_bytes(), &[index], node)
}

/// Returns the same id for the same arguments, and another one for others.
pub(crate) fn derived(around: &[u8; 16], numbers: &[usize], node: &str) -> Uuid {
    let half = |salt: u8| {
        let mut fnv = Fnv::new();
        fnv.byte(salt);
        for byte in around {
            fnv.byte(*byte);
        }
        for number in numbers {
            for byte in (*number as u64).to_le_bytes() {
                fnv.byte(byte);
            }
        }
        for byte in node.as_bytes() {
            fnv.byte(*byte);
        }
        fnv.finish()
    };
    let bytes = (u128::from(half(0)) << 64) | u128::from(half(1));
    Builder::from_custom_bytes(bytes.to_be_bytes()).into_uuid()
}
