//! The stream of a run: its events, from the graph to the readers of its feed.

mod barriers;
mod event;
mod feed;
mod ordered_saver;
mod publisher;
mod reader;
mod sink;
mod spending;
mod stored;

pub(crate) use barriers::{Barrier, Barriers};
pub(crate) use event::{
    EndStatus, OpenInterrupt, RecordedFrame, RunError, StreamEvent, StreamEventKind,
};
pub(crate) use feed::{Feed, Feeds};
pub(crate) use ordered_saver::OrderedSaver;
pub(crate) use publisher::Publisher;
pub(crate) use reader::FeedReader;
pub(crate) use sink::{Out, Publishing, Stored, Storing};
pub(crate) use spending::{Spending, Spent};
