//! Streams of events as HTTP bodies.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use futures_core::Stream;
use futures_util::stream;

use super::frame::Frame;
use super::queue::{CancelAction, Live, cancel};
use crate::app::App;

/// How often a silent stream says that it lives.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// How many events are read from the database at once.
const PAGE: usize = 100;

/// Cancels a run when its client leaves before the end.
pub(crate) struct Disconnect(Option<(Arc<App>, Arc<Live>)>);

impl Disconnect {
    pub(crate) fn new(app: &Arc<App>, live: &Arc<Live>, cancels: bool) -> Self {
        Self(cancels.then(|| (Arc::clone(app), Arc::clone(live))))
    }

    /// The run has ended, or its client no longer matters.
    pub(crate) fn disarm(&mut self) {
        self.0 = None;
    }
}

impl Drop for Disconnect {
    fn drop(&mut self) {
        if let Some((app, live)) = self.0.take()
            && cancel(&app, &live, CancelAction::Interrupt).is_err()
        {
            tracing::error!("a run whose client left cannot be cancelled");
        }
    }
}

struct Streaming {
    live: Arc<Live>,
    next: usize,
    modes: Vec<String>,
    guard: Disconnect,
}

/// Streams the events of a run from that number on.
pub(crate) fn streamed(
    live: Arc<Live>,
    from: usize,
    modes: Vec<String>,
    guard: Disconnect,
) -> Body {
    let start = Streaming {
        live,
        next: from,
        modes,
        guard,
    };
    body(stream::unfold(start, |mut state| async move {
        loop {
            let frame = tokio::time::timeout(HEARTBEAT, state.live.log.wait_for(state.next)).await;
            let frame = match frame {
                Err(_) => return Some((": heartbeat\r\n\r\n".to_owned(), state)),
                Ok(Some(frame)) => frame,
                Ok(None) => {
                    state.guard.disarm();
                    return None;
                }
            };
            state.next += 1;
            if frame.is_in(&state.modes) {
                return Some((frame.text(state.live.resumable), state));
            }
        }
    }))
}

/// Replays the events of a run that has ended, page by page.
pub(crate) fn joined(app: Arc<App>, run: String, after: i64, modes: Vec<String>) -> Body {
    body(stream::unfold(Some(after), move |after| {
        let page = after.map(|after| app.rows.events(&run, Some(after), PAGE));
        let next = match page {
            Some(Ok(frames)) if !frames.is_empty() => {
                let last = frames.last().map(|frame| frame.seq);
                let shown = frames.iter().filter(|frame| frame.is_in(&modes));
                Some((shown.map(|frame: &Frame| frame.text(true)).collect(), last))
            }
            Some(Err(error)) => {
                tracing::error!(%error, "the events of a run cannot be read");
                None
            }
            _ => None,
        };
        std::future::ready(next)
    }))
}

fn body(frames: impl Stream<Item = String> + Send + 'static) -> Body {
    use futures_util::StreamExt;
    Body::from_stream(frames.map(Ok::<_, Infallible>))
}
