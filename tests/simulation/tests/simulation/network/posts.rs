//! The messages of the queue, and their fate.

use std::time::Duration;

use langgraph_simulation::Weather;

use super::passage::Passage;
use crate::world::World;

/// The most bytes of a message: in half of the seeds, larger states go through the store.
const LIMITS: [usize; 2] = [4_096, 1 << 20];

/// The network of the queue.
#[derive(Clone, Debug)]
pub(super) struct Posts {
    world: World,
    limit: usize,
}

impl Posts {
    pub(super) fn new(world: &World) -> Self {
        Self {
            world: world.clone(),
            limit: if world.below(2) == 0 {
                LIMITS[0]
            } else {
                LIMITS[1]
            },
        }
    }
}

impl Weather for Posts {
    fn now(&self) -> Duration {
        self.world.elapsed()
    }

    fn lateness(&self) -> Option<Duration> {
        let passage = Passage::draw(&self.world);
        (!passage.is_lost).then_some(passage.late)
    }

    fn limit(&self) -> usize {
        self.limit
    }

    fn storing(&self) -> Duration {
        self.world.up_to(200)
    }
}
