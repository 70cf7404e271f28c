//! Streams of events as HTTP bodies.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use futures_util::stream;
use langgraph_queue::Cancel;

use super::feed::Feed;
use super::submit::cancel;
use crate::app::App;

/// How often a silent stream says that it lives.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// Cancels a run when its client leaves before the end.
pub(crate) struct Disconnect(Option<(Arc<App>, String)>);

impl Disconnect {
    pub(crate) fn new(app: &Arc<App>, run: &str, cancels: bool) -> Self {
        Self(cancels.then(|| (Arc::clone(app), run.to_owned())))
    }

    /// The run has ended, or its client no longer matters.
    pub(crate) fn disarm(&mut self) {
        self.0 = None;
    }
}

impl Drop for Disconnect {
    fn drop(&mut self) {
        if let Some((app, run)) = self.0.take()
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            runtime.spawn(async move {
                if let Err(error) = cancel(&app, &run, Cancel::Interrupt).await {
                    tracing::error!(?error, "a run whose client left cannot be cancelled");
                }
            });
        }
    }
}

struct Streaming {
    feed: Arc<Feed>,
    next: usize,
    modes: Vec<String>,
    guard: Disconnect,
    left: bool,
}

/// The end of a stream whose run goes on: clients take it for a lost connection, and come again.
pub(crate) fn broken_off() -> io::Error {
    io::Error::new(
        io::ErrorKind::ConnectionAborted,
        "the run goes on elsewhere",
    )
}

/// Streams the events of a run from that number on.
pub(crate) fn streamed(
    feed: Arc<Feed>,
    from: usize,
    modes: Vec<String>,
    guard: Disconnect,
) -> Body {
    let start = Streaming {
        feed,
        next: from,
        modes,
        guard,
        left: false,
    };
    let frames = stream::unfold(start, |mut state| async move {
        loop {
            let frame = tokio::time::timeout(HEARTBEAT, state.feed.wait_for(state.next)).await;
            let frame = match frame {
                Err(_) => return Some((Ok(": heartbeat\r\n\r\n".to_owned()), state)),
                Ok(Some(frame)) => frame,
                Ok(None) => {
                    state.guard.disarm();
                    let goes_on = !state.left && state.feed.goes_on();
                    state.left = true;
                    return goes_on.then(|| (Err(broken_off()), state));
                }
            };
            state.next += 1;
            if frame.is_in(&state.modes) {
                return Some((Ok(frame.text(state.feed.resumable)), state));
            }
        }
    });
    Body::from_stream(frames)
}
