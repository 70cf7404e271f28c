//! When the records of a run are stored: at once, in the background, or at its end.

use std::sync::Arc;

use super::exit;
use crate::checkpoint::Durability;
use crate::error::{AgentError, NoRuntime};
use crate::log::{ExitBuffer, WriteBehind};
use crate::record::{Log, Snapshots};
use crate::state::State;
use crate::superstep::{End, Engine};

/// The log of a run, as its durability wants it.
pub(super) enum Storage<'a> {
    Sync(&'a Log),
    Async(Box<Log>, Arc<WriteBehind>),
    Exit(Box<Log>, Arc<ExitBuffer>),
}

impl<'a> Storage<'a> {
    pub(super) fn open(durability: Durability, log: &'a Log) -> Result<Self, AgentError> {
        match durability {
            Durability::Sync => Ok(Self::Sync(log)),
            Durability::Async => {
                NoRuntime::handle(|| {
                    let thread = &log.key.thread;
                    format!("storing thread `{thread}` in the background (`Durability::Async`)")
                })?;
                let behind = WriteBehind::new(Arc::clone(&log.saver), log.ending.clone());
                let behind = Arc::new(behind);
                let log = Log {
                    saver: Arc::<WriteBehind>::clone(&behind),
                    // The writer knows what is stored.
                    ending: None,
                    ..log.clone()
                };
                Ok(Self::Async(Box::new(log), behind))
            }
            Durability::Exit => {
                let buffer = Arc::new(ExitBuffer::new(Arc::clone(&log.saver)));
                let log = Log {
                    saver: Arc::<ExitBuffer>::clone(&buffer),
                    // The end has a snapshot; intermediate ones are useless.
                    snapshots: Snapshots::Never,
                    encodes: false,
                    // Until its end, nothing of the run is stored.
                    ending: None,
                    ..log.clone()
                };
                Ok(Self::Exit(Box::new(log), buffer))
            }
        }
    }

    pub(super) fn log(&self) -> &Log {
        match self {
            Self::Sync(log) => log,
            Self::Async(log, _) | Self::Exit(log, _) => log,
        }
    }

    /// Stores what is held back.
    ///
    /// It is boxed where it is long: the future of a run has room for it while its nodes work.
    pub(super) async fn close<S: State>(
        self,
        engine: &Engine<S>,
        ended: Result<End, AgentError>,
    ) -> Result<End, AgentError> {
        let stored = match self {
            Self::Sync(_) => return ended,
            Self::Async(_, behind) => Box::pin(behind.flush()).await.map_err(AgentError::from),
            Self::Exit(log, buffer) => Box::pin(exit::save(engine, &buffer, &log)).await,
        };
        end_of(ended, stored)
    }
}

/// Returns how a run has ended that has stored its last record. The error of the run takes precedence, except that it was
/// cancelled: the caller knows this.
pub(super) fn end_of(
    ended: Result<End, AgentError>,
    stored: Result<(), AgentError>,
) -> Result<End, AgentError> {
    match ended {
        Ok(_) | Err(AgentError::Cancelled) => stored.and(ended),
        failed => failed,
    }
}
