//! The shortened story of a failure.

use super::event::{SimulationEvent, SimulationEventKind};

/// The maximum of events in a story.
const MAX_EVENTS: usize = 10;

/// Returns the events that say most about a failure, in their order.
pub(super) fn story(events: &[SimulationEvent], thread: Option<&str>) -> Vec<String> {
    let concerns = |event: &&SimulationEvent| {
        event.thread.is_empty() || thread.is_none_or(|thread| event.thread == thread)
    };
    let all: Vec<&SimulationEvent> = events.iter().filter(concerns).collect();
    let mut chosen: Vec<usize> = (0..all.len()).collect();
    // The last events are closest to the failure; of equal weight, they stay.
    chosen.sort_by_key(|index| {
        let weight = all.get(*index).map_or(u8::MAX, |event| weight(event));
        (weight, usize::MAX - index)
    });
    chosen.truncate(MAX_EVENTS);
    chosen.sort_unstable();
    let lines = chosen.into_iter().filter_map(|index| all.get(index));
    lines.map(ToString::to_string).collect()
}

/// Returns how little an event says: 0 is most.
fn weight(event: &SimulationEvent) -> u8 {
    match &event.kind {
        SimulationEventKind::Fault { .. } => 0,
        SimulationEventKind::Effect(_) => 1,
        SimulationEventKind::State { .. } => 2,
        SimulationEventKind::Answered { .. } => 3,
        SimulationEventKind::Ended { error: Some(_) } => 4,
        SimulationEventKind::Called { .. } => 5,
        SimulationEventKind::Interrupted { .. } => 6,
        SimulationEventKind::Started { .. } => 7,
        SimulationEventKind::ModelCalled { .. } => 8,
        SimulationEventKind::Returned { .. } => 9,
        SimulationEventKind::Written { .. } => 10,
        SimulationEventKind::Ended { error: None } => 11,
    }
}
