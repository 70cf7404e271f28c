//! The frames of one run.

use futures_util::stream::{self, Stream, StreamExt};
use langgraph_http::{BrokenOff, Frame};

use crate::encode::Encoder;
use crate::runs::Disconnect;
use crate::stream::FeedReader;

/// What makes the frames of a run.
struct Encoding<E> {
    events: FeedReader,
    encoder: E,
    guard: Disconnect,
}

/// Returns the frames of a run. The guard is dropped with them.
pub(super) fn encoded(
    events: FeedReader,
    encoder: impl Encoder + 'static,
    guard: Disconnect,
) -> impl Stream<Item = Result<Frame, BrokenOff>> + Send + 'static {
    // It is moved for each event, and the stream has room for it several times.
    let start = Some(Box::new(Encoding {
        events,
        encoder,
        guard,
    }));
    let batches = stream::unfold(start, |encoding| async move {
        let mut encoding = encoding?;
        Some(match encoding.events.next().await {
            Ok(Some(event)) => {
                let frames = encoding.encoder.encode(&event).into_iter();
                (frames.map(Ok).collect::<Vec<_>>(), Some(encoding))
            }
            Ok(None) => {
                encoding.guard.disarm();
                (Vec::new(), None)
            }
            Err(broken_off) => {
                Box::pin(encoding.guard.broken_off()).await;
                (vec![Err(broken_off)], None)
            }
        })
    });
    batches.flat_map(stream::iter)
}
