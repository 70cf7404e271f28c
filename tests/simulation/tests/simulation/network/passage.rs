//! What becomes of what is sent.

use std::time::Duration;

use crate::world::World;

/// The way of a request, an answer, a part of a stream or a message.
pub(super) struct Passage {
    pub(super) late: Duration,
    pub(super) is_lost: bool,
}

impl Passage {
    pub(super) fn draw(world: &World) -> Self {
        Self {
            late: world.up_to(20),
            is_lost: world.happens(25),
        }
    }
}

/// Draws whether a connection is cut with a part of what it carries.
pub(super) fn is_cut(world: &World) -> bool {
    world.happens(60)
}
