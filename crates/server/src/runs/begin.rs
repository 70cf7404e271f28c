//! How a run begins, or goes on where an earlier attempt has stopped.

use std::sync::Arc;
use std::time::Duration;

use langgraph::checkpoint::ThreadKey;
use langgraph::error::AgentError;
use serde_json::{Value, json};

use super::attach::load;
use super::before::Before;
use super::invocation::invocation;
use super::session::Session;
use crate::error::ApiResult;
use crate::graph::{ErasedGraph, Finished, Head, Invocation, Start, StateQuery};
use crate::queue::{Cancel, ClaimedWith};
use crate::rows::{Base, Run, merge};
use crate::stream::{
    OrderedSaver, Out, Publisher, Publishing, Spending, Spent, Stored, Storing, StreamEvent,
    StreamEventKind,
};
use crate::wire::usage::Usages;

/// How long the database may be away before a run that publishes events is put back.
const PATIENCE: Duration = Duration::from_secs(10);

/// A run whose graph is next, and what it needs.
pub(super) struct Prepared {
    pub(super) graph: Arc<dyn ErasedGraph>,
    /// The saver of the graph.
    pub(super) ordered: Arc<OrderedSaver>,
    pub(super) publishing: Publishing,
    /// Where the thread was before the run.
    pub(super) base: Base,
    pub(super) next: Result<Next, AgentError>,
}

/// What is left to do.
pub(super) enum Next {
    Run(Box<Invocation>),
    /// An earlier attempt has come to the end of the graph.
    Nothing(Finished),
}

impl Session {
    /// Begins the run; `None` if another process has it.
    pub(super) async fn begin(&self, row: &Run) -> ApiResult<Option<Box<Prepared>>> {
        let Self { app, live } = self;
        let graph = self.graph(row)?;
        self.begin_events().await?;
        let place = self.place(row, &*graph).await?;
        // The claim may have been lost before this took the thread: then the thread belongs to the run's new worker,
        // which takes it again.
        let Some(begun) = self.mark(row, &place).await? else {
            live.revoke();
            return Ok(None);
        };
        // It may have been cancelled after it was claimed, and before this process could know.
        if let Some(action) = begun.cancel {
            live.cancel(action);
        }
        let mut out = self.out();
        let started = StreamEventKind::Started {
            run_id: row.run_id.clone(),
            attempt: live.claim.attempt,
        };
        out.push(StreamEvent::new(started)).await;
        let (ordered, barriers) = OrderedSaver::new(self.saver());
        let graph = graph.with_saver(Arc::clone(&ordered) as _);
        let spent = Spent::from_wire(&row.metadata["usage_metadata"]);
        let publisher = Publisher::new(
            row.kwargs.stream_mode.clone(),
            metadata(row),
            begun.usages,
            Spending::new(Arc::clone(&app.prices), spent),
        );
        let next = match place {
            // What an earlier attempt has begun to take back is not gone on with.
            Ok(_) if live.action() == Some(Cancel::Rollback) => Err(AgentError::Cancelled),
            Ok(place) => self.next(row, &*graph, place, &begun.base).await?,
            // The thread of another graph, say.
            Err(error) => Err(error),
        };
        Ok(Some(Box::new(Prepared {
            graph,
            ordered,
            publishing: Publishing {
                publisher,
                out,
                barriers,
            },
            base: begun.base,
            next,
        })))
    }

    /// Reads what an earlier attempt has published, so that the numbers of this one follow.
    async fn begin_events(&self) -> ApiResult<()> {
        let feed = &self.live.feed;
        if feed.is_stored && self.live.claim.with == ClaimedWith::Nothing {
            let _one = feed.reading().await;
            load(&self.app, feed).await?;
        }
        feed.set_local(true);
        Ok(())
    }

    /// Returns where the thread is now.
    async fn place(
        &self,
        row: &Run,
        graph: &dyn ErasedGraph,
    ) -> ApiResult<Result<Place, AgentError>> {
        if matches!(self.live.claim.with, ClaimedWith::NewThread { .. }) {
            return Ok(Ok(Place::default()));
        }
        let head = match graph.head(&row.thread_id).await {
            Ok(head) => head,
            Err(error) => return Ok(Err(error)),
        };
        let mut base = Base::default();
        if let Some(head) = &head {
            base.checkpoint = head.id.to_string();
        }
        // Answers, and a command, are stored with the checkpoint that waits for them: no new one says that an
        // earlier attempt has stored them, but the log is longer.
        if row.kwargs.command.is_some() {
            let log = ThreadKey::root(&row.thread_id);
            let head = self.app.saver.plain().head(&log).await?;
            base.version = head.and_then(|head| i64::try_from(head.version).ok());
        }
        // What the run answers, and what its tasks do then, is stored with a checkpoint of before.
        if head.as_ref().is_some_and(|head| !head.is_done) || base.version.is_some() {
            let before = Before::of(&self.app, &row.thread_id).await?;
            base.before = Some(serde_json::to_string(&before)?);
        }
        Ok(Ok(Place { head, base }))
    }

    /// Marks the thread as busy, and notes where it was before the run; `None` if another process has the run.
    async fn mark(
        &self,
        row: &Run,
        place: &Result<Place, AgentError>,
    ) -> ApiResult<Option<Beginning>> {
        let Self { app, live } = self;
        let (claim, stores_events) = (&live.claim, live.feed.is_stored);
        let mut usages = Usages::default();
        let has_begun = match claim.with {
            ClaimedWith::NewThread { has_numbers } => has_numbers || !stores_events,
            ClaimedWith::Nothing | ClaimedWith::Submission => false,
        };
        let (base, cancel) = if has_begun {
            let Some(held) = app.rows.held(&claim.run, claim.fence).await? else {
                return Ok(None);
            };
            (Base::default(), held.cancel)
        } else {
            let now = place.as_ref().ok().map(|place| &place.base);
            let Some(begun) = app.rows.begin(claim, now, stores_events).await? else {
                return Ok(None);
            };
            usages.read(&begun.thread.values);
            (begun.base, begun.cancel)
        };
        usages.read(&row.kwargs.input);
        if let Some(command) = &row.kwargs.command {
            usages.read(&command.update);
        }
        Ok(Some(Beginning {
            base,
            cancel,
            usages,
        }))
    }

    /// Returns where the events of the run go.
    fn out(&self) -> Out {
        let live = &self.live;
        if live.feed.has_end() {
            return Out::AlreadyPublished;
        }
        if !live.feed.is_stored {
            return Out::Unstored(Arc::clone(&live.feed));
        }
        let stopped = Arc::clone(live);
        Out::stored(Storing {
            rows: Arc::clone(&self.app.rows),
            claim: live.claim.without_payload(),
            feed: Arc::clone(&live.feed),
            stop: Box::new(move |stored| match stored {
                Stored::Revoked => stopped.revoke(),
                _ => stopped.token.cancel(),
            }),
            patience: PATIENCE,
        })
    }

    /// Returns what is left to do for the graph, after an earlier attempt.
    async fn next(
        &self,
        row: &Run,
        graph: &dyn ErasedGraph,
        place: Place,
        base: &Base,
    ) -> ApiResult<Result<Next, AgentError>> {
        let Self { app, live } = self;
        let mut invocation = invocation(row, live.token.clone(), &app.limits)?;
        if let Some(head) = place.head
            && (head.run.as_ref() == Some(&row.run_id) || is_behind(base, &place.base))
        {
            // An earlier attempt has begun: its input, and its command, are in the thread.
            invocation.start = Start::Recover;
            invocation.update = None;
            invocation.goto = None;
            invocation.at = None;
            invocation.inner = None;
            if head.is_done {
                let state = graph.state(&row.thread_id, &StateQuery::default()).await?;
                return Ok(Ok(Next::Nothing(Finished {
                    values: state.unwrap_or_default()["values"].clone(),
                    ..Finished::default()
                })));
            }
        }
        Ok(Ok(Next::Run(Box::new(invocation))))
    }
}

/// Returns the metadata of the messages and the tasks of a run; null if its stream shows none.
fn metadata(row: &Run) -> Value {
    let modes = &row.kwargs.stream_mode;
    let mut modes = modes.iter();
    if !modes.any(|mode| mode.shows_messages() || mode.shows_tasks()) {
        return Value::Null;
    }
    let mut metadata = row.metadata.clone();
    if let Some(fields) = metadata.as_object_mut() {
        // What the whole run has used, in an earlier attempt.
        fields.remove("usage_metadata");
    }
    let own = json!({"run_id": row.run_id, "thread_id": row.thread_id});
    merge(&mut metadata, &own);
    metadata
}

/// Where a thread is.
#[derive(Default)]
struct Place {
    head: Option<Head>,
    /// The same, as it is noted before a run.
    base: Base,
}

/// What is known of a run that begins.
struct Beginning {
    /// Where the thread was before the run.
    base: Base,
    /// A request to cancel it.
    cancel: Option<Cancel>,
    /// What the messages of the thread have cost so far.
    usages: Usages,
}

/// Returns true if something was stored behind the checkpoint at which a run began.
fn is_behind(base: &Base, now: &Base) -> bool {
    base.checkpoint == now.checkpoint && base.version.is_some_and(|_| base.version < now.version)
}
