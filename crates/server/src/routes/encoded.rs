//! The frames of one run.

use futures_util::stream::{self, Stream, StreamExt};
use langgraph_http::{BrokenOff, Frame};

use crate::encode::Encoder;
use crate::runs::Disconnect;
use crate::stream::FeedReader;

/// Returns the frames of a run. The guard is dropped with them.
pub(super) fn encoded(
    events: FeedReader,
    encoder: impl Encoder + 'static,
    guard: Disconnect,
) -> impl Stream<Item = Result<Frame, BrokenOff>> + Send + 'static {
    let start = Some((events, encoder, guard));
    let batches = stream::unfold(start, |state| async move {
        let (mut events, mut encoder, mut guard) = state?;
        Some(match events.next().await {
            Ok(Some(event)) => {
                let frames: Vec<_> = encoder.encode(&event).into_iter().map(Ok).collect();
                (frames, Some((events, encoder, guard)))
            }
            Ok(None) => {
                guard.disarm();
                (Vec::new(), None)
            }
            Err(broken_off) => {
                Box::pin(guard.broken_off()).await;
                (vec![Err(broken_off)], None)
            }
        })
    });
    batches.flat_map(stream::iter)
}
