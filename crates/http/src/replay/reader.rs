//! A client of a run that is kept.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream;

use super::NotResumable;
use super::run_frames::RunFrames;
use crate::Frame;

/// Reads the frames of a run that is kept. The run goes on while there is one.
pub(super) struct Reader {
    run: Arc<RunFrames>,
    id: u64,
}

impl Reader {
    /// Reads from the frame of that number on.
    pub(super) fn new(run: &Arc<RunFrames>, next: u64) -> Self {
        Self {
            id: run.enter(next),
            run: Arc::clone(run),
        }
    }

    /// Reads what follows the frame of that number.
    pub(super) fn after(
        run: &Arc<RunFrames>,
        seen: u64,
    ) -> Result<Self, impl Fn(&str) -> NotResumable + use<>> {
        // A reader first: what is kept now is kept from here on.
        let reader = Self::new(run, seen.saturating_add(1));
        let (first, end, ended) = run.range();
        let next = seen.saturating_add(1);
        let forgotten = next < first || next > end;
        if forgotten || ended && next == end {
            return Err(move |id: &str| {
                let id = id.to_owned();
                if forgotten {
                    NotResumable::Forgotten { id }
                } else {
                    NotResumable::Ended { id }
                }
            });
        }
        Ok(reader)
    }
}

impl Stream for Reader {
    type Item = Frame;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Frame>> {
        self.run.poll_read(self.id, cx)
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.run.leave(self.id);
    }
}
