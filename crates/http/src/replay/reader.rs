//! A client of a run that is kept.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;

use super::NotResumable;
use super::run_frames::RunFrames;
use crate::{Backlog, BacklogReader, Frame, Read};

/// Reads the frames of a run that is kept. The run goes on while there is one.
pub(super) struct Reader(BacklogReader<Frame>);

impl Reader {
    /// Reads from the frame of that number on.
    pub(super) fn new(run: &RunFrames, next: u64) -> Self {
        Self(Backlog::reader(&run.frames, next))
    }

    /// Reads what follows the frame of that number.
    pub(super) fn after(
        run: &RunFrames,
        seen: u64,
    ) -> Result<Self, impl Fn(&str) -> NotResumable + use<>> {
        let next = seen.saturating_add(1);
        // A reader first: what is kept now is kept from here on.
        let reader = Self::new(run, next);
        let frames = &run.frames;
        let (first, end, ended) = (frames.first(), frames.next(), frames.has_ended());
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
        let this = self.get_mut();
        loop {
            match this.0.poll_next(cx) {
                Poll::Ready(Read::Item(frame)) => return Poll::Ready(Some(frame)),
                // Frames that were dropped between the request and its first read are gone.
                Poll::Ready(Read::Missed { first }) => this.0.seek(first),
                Poll::Ready(Read::Ended) => return Poll::Ready(None),
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}
