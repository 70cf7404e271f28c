//! The tasks of a superstep: their place in a run, their memory, their results and their events.

mod added_messages;
mod changes;
mod events;
mod followed;
mod footprint;
mod interrupt_ids;
mod joins;
mod merge;
mod pending;
mod plain_done;
mod position;
mod progress;
mod routing;
mod run_task;
#[allow(clippy::module_inception)] // the type has the name of the module
mod task;
mod task_result;
mod writer;

pub(crate) use added_messages::note_messages_of_update;
pub(crate) use changes::Changes;
pub(crate) use events::{RoomFuture, push_success};
pub(crate) use followed::Followed;
pub(crate) use footprint::{Footprint, overwritten};
pub(crate) use interrupt_ids::InterruptIds;
pub(crate) use joins::{JoinProgress, unfilled_joins};
pub(crate) use merge::merge;
pub(crate) use pending::Pending;
pub(crate) use plain_done::PlainDone;
pub(crate) use position::Position;
pub(crate) use progress::Progress;
pub(crate) use routing::{Routing, call_routers, route_on_view, routes_on_view, view};
pub(crate) use run_task::{run_node, run_task};
pub(crate) use task::{Task, TaskMemory};
pub(crate) use task_result::{Finished, TaskResult, classify, normalize_input, without_interrupt};
pub(crate) use writer::Writer;
