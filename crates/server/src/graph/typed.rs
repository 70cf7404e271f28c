//! A compiled graph behind [`ErasedGraph`].

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use langgraph::checkpoint::Checkpointer;
use langgraph::error::{AgentError, CheckpointError, SubgraphError};
use langgraph::graph::Topology;
use langgraph::run::Run;
use langgraph::stream::{Event, EventKind, EventTask};
use langgraph::thread::{Keep, OnConflict, Thread, Threads};
use langgraph::{CompiledStateGraph, Outcome, State};
use langgraph_store::{Store, WithStore as _};
use langgraph_testing::{ExportError, Exported, export};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::any_thread::AnyThread;
use super::checkpoint_place::{CheckpointPlace, EventOrigin};
use super::command::invalid;
use super::event::RunEventKind;
use super::inner_states::{name_inner, topology_at, topology_of};
use super::json::{InnerReader, event_kind, state_value};
use super::options::GraphOptions;
use super::streamed::streamed;
use super::view::View;
use super::{
    Change, ErasedGraph, EventSink, ExportSpec, Finished, Head, HistoryQuery, Invocation,
    Namespace, RunEvent, Schemas, StateQuery,
};
use crate::{DryStore, RunContext};

pub(super) struct Typed<S: State> {
    pub(super) graph: CompiledStateGraph<S>,
    pub(super) options: Arc<GraphOptions<S>>,
    /// What [`with_saver`](ErasedGraph::with_saver) begins with.
    held: Arc<CompiledStateGraph<S>>,
    /// Clients read why a node failed.
    shows_errors: bool,
}

impl<S: State> Typed<S> {
    /// Returns the threads of the server: its rows say which graph they belong to.
    fn all(&self) -> Threads<S> {
        self.graph.threads().of_all_graphs()
    }

    pub(super) fn new(
        graph: CompiledStateGraph<S>,
        options: GraphOptions<S>,
        shows_errors: bool,
    ) -> Self {
        Self {
            // The queue says which run has the thread.
            held: Arc::new(graph.clone().on_conflict(OnConflict::Reject)),
            graph,
            options: Arc::new(options),
            shows_errors,
        }
    }
}

impl<S> Typed<S>
where
    S: State,
    S::Update: Serialize + DeserializeOwned,
{
    /// Returns the run that an invocation asks for. It may write to the thread, and its record waits for a barrier.
    async fn begin_beside(
        &self,
        spec: &mut Invocation,
        sink: &mut dyn EventSink,
    ) -> Result<Run<S>, AgentError> {
        let mut begin = std::pin::pin!(self.begin(spec));
        loop {
            tokio::select! {
                biased;
                run = &mut begin => return run,
                () = sink.open_barrier() => {}
            }
        }
    }

    /// Returns an event as clients see it; `None` if they do not.
    fn event(&self, event: &Event<S>, thread: &str) -> Option<RunEvent> {
        let (unwritten, inner) = (&self.options.unwritten, &self.options.inner);
        let parent = event.parent.as_deref();
        let origin = EventOrigin { thread, parent };
        let mut kind = event_kind::<S>(&event.kind, origin, unwritten, inner)?;
        if let RunEventKind::Checkpoint(snapshot) = &mut kind
            && let Some(topology) = topology_of(self.graph.topology(), parent)
        {
            name_inner(snapshot, topology);
        }
        if !self.shows_errors {
            kind.hide_error();
        }
        Some(RunEvent {
            namespace: namespace(parent),
            task: event.task.as_ref().map(|task| task.id()),
            step: event.step,
            kind,
        })
    }

    /// Returns how clients see the thread.
    fn view(&self, thread: &str) -> View<'_> {
        View {
            place: CheckpointPlace::root(thread),
            unwritten: &self.options.unwritten,
            inner: &self.options.inner,
            topology: self.graph.topology(),
            shows_errors: self.shows_errors,
        }
    }

    /// Returns a subgraph of a thread, and how clients see it; `None` if it has not been called.
    ///
    /// # Errors
    ///
    /// [`AgentError::InvalidInput`] if the server does not know its state.
    pub(super) async fn inside(
        &self,
        thread: &Thread<S>,
        namespace: &Namespace,
    ) -> Result<Option<(Box<dyn AnyThread>, View<'_>)>, AgentError> {
        let path = namespace.path();
        let inner = self.options.inner.iter().map(InnerReader::unwritten);
        let unwritten = std::iter::once(&self.options.unwritten).chain(inner);
        for (open, unwritten) in self.options.open.iter().zip(unwritten) {
            let inside = match open(thread, path.clone()) {
                Ok(inside) => inside,
                Err(SubgraphError::WrongState { .. }) => continue,
                // A version of the graph that had such a subgraph may have called it.
                Err(
                    SubgraphError::UnknownNode { .. }
                    | SubgraphError::NoGraph { .. }
                    | SubgraphError::KeepsNothing { .. },
                ) => return Ok(None),
                Err(error) => return Err(error.into()),
            };
            let place = namespace.place(thread.id(), &inside.outer_checkpoints().await?);
            let topology = topology_at(self.graph.topology(), namespace.nodes());
            let seen = place.zip(topology).map(|(place, topology)| View {
                place,
                unwritten,
                topology,
                ..self.view(thread.id())
            });
            return Ok(seen.map(|view| (inside, view)));
        }
        Err(invalid(format!(
            "the server does not know the state of the subgraph `{path}`: \
             say it with `GraphHandle::subgraph_state`"
        )))
    }

    /// Returns a thread, or a subgraph of it, and how clients see it; `None` for a subgraph that has not been called.
    async fn opened(
        &self,
        thread: &str,
        namespace: Option<&Namespace>,
    ) -> Result<Option<(Box<dyn AnyThread>, View<'_>)>, AgentError> {
        let handle = self.graph.thread(thread);
        match namespace {
            Some(namespace) => self.inside(&handle, namespace).await,
            None => Ok(Some((Box::new(handle), self.view(thread)))),
        }
    }
}

/// Returns `node:task` for a task and for those around it, outermost first.
fn namespace(task: Option<&EventTask>) -> Vec<String> {
    let around = std::iter::successors(task, |task| task.parent());
    let mut path: Vec<String> = around
        .map(|task| format!("{}:{}", task.node(), task.id()))
        .collect();
    path.reverse();
    path
}

/// Returns true if a run can go on where this one has ended: behind the last node, a breakpoint leaves nothing to do.
fn is_left_off<S>(outcome: &Outcome<S>) -> bool {
    match outcome {
        Outcome::Interrupted {
            next, interrupts, ..
        } => !next.is_empty() || !interrupts.is_empty(),
        outcome => !outcome.is_done(),
    }
}

#[async_trait]
impl<S> ErasedGraph for Typed<S>
where
    S: State,
    S::Update: Serialize + DeserializeOwned,
{
    fn topology(&self) -> &Topology {
        self.graph.topology()
    }

    fn state_name(&self) -> String {
        S::name()
    }

    fn schemas(&self) -> &Schemas {
        &self.options.schemas
    }

    fn check_context(&self, context: &RunContext) -> Result<(), String> {
        self.options.check.map_or(Ok(()), |check| check(context))
    }

    async fn run(
        &self,
        mut spec: Box<Invocation>,
        sink: &mut dyn EventSink,
    ) -> Result<Finished, AgentError> {
        let run = Box::pin(self.begin_beside(&mut spec, sink)).await?;
        let (thread, mut events) = streamed(self.topology(), run, spec);
        let mut published = BTreeSet::new();
        let mut last_step = 0;
        loop {
            let event = tokio::select! {
                // The events before a barrier are taken before it.
                biased;
                event = events.next() => event,
                () = sink.open_barrier() => continue,
            };
            // An event is large: none lives while the next one is waited for, or its sink takes it.
            let shown = {
                let Some(event) = event.transpose()? else {
                    break;
                };
                last_step = event.step;
                if let EventKind::Interrupt(interrupts) = &event.kind {
                    published.extend(interrupts.iter().map(|interrupt| interrupt.id.clone()));
                }
                self.event(&event, &thread)
            };
            if let Some(event) = shown {
                sink.take(event).await;
            }
        }
        let written = events.written();
        let outcome = Box::pin(events.finish()).await?;
        // Those of an earlier run that are open still.
        let open = outcome.interrupts().iter();
        let open: Vec<_> = open
            .filter(|one| !published.contains(&one.id))
            .cloned()
            .collect();
        if !open.is_empty() {
            let event = RunEvent {
                namespace: Vec::new(),
                task: None,
                step: last_step,
                kind: RunEventKind::Interrupts(open),
            };
            sink.take(event).await;
        }
        Ok(Finished {
            values: state_value(outcome.state(), written.as_ref(), &self.options.unwritten),
            paused: is_left_off(&outcome),
            drained: matches!(outcome, Outcome::Drained { .. }),
            interrupts: outcome.interrupts().to_vec(),
        })
    }

    async fn state(&self, thread: &str, query: &StateQuery) -> Result<Option<Value>, AgentError> {
        let opened = self.opened(thread, query.namespace.as_ref()).await?;
        let Some((thread, view)) = opened else {
            return Ok(None);
        };
        thread.state(query.at, query.subgraphs, &view).await
    }

    async fn history(&self, thread: &str, query: &HistoryQuery) -> Result<Vec<Value>, AgentError> {
        let opened = self.opened(thread, query.namespace.as_ref()).await?;
        let Some((thread, view)) = opened else {
            return Ok(Vec::new());
        };
        thread.history(query, &view).await
    }

    async fn update(&self, thread: &str, change: Change) -> Result<Option<Value>, AgentError> {
        let opened = self.opened(thread, change.namespace.as_ref()).await?;
        let Some((thread, view)) = opened else {
            return Ok(None);
        };
        let made = thread.change(change).await?;
        Ok(Some(view.place.checkpoint(made)))
    }

    async fn head(&self, thread: &str) -> Result<Option<Head>, AgentError> {
        let snapshot = self.graph.thread(thread).state().await?;
        Ok(snapshot.map(|snapshot| Head {
            id: snapshot.id,
            run: snapshot
                .metadata
                .get("run_id")
                .and_then(Value::as_str)
                .map(str::to_owned),
            is_done: snapshot.next.is_empty() && snapshot.interrupts.is_empty(),
        }))
    }

    fn with_saver(&self, saver: Arc<dyn Checkpointer>) -> Arc<dyn ErasedGraph> {
        Arc::new(Self {
            graph: CompiledStateGraph::clone(&self.held).checkpointer(saver),
            options: Arc::clone(&self.options),
            held: Arc::clone(&self.held),
            shows_errors: self.shows_errors,
        })
    }

    async fn copy(&self, thread: &str, to: &str) -> Result<bool, AgentError> {
        match self.all().thread(thread).copy(to).await {
            // Nothing has run there, or what has was taken back.
            Err(AgentError::Checkpoint(CheckpointError::UnknownThread(_))) => Ok(false),
            copied => copied.map(|()| true),
        }
    }

    async fn prune(&self, thread: &str) -> Result<(), AgentError> {
        match self.all().thread(thread).prune(Keep::Newest(1)).await {
            // Nothing has run there.
            Err(AgentError::Checkpoint(CheckpointError::UnknownThread(_))) => Ok(()),
            pruned => pruned.map(|_| ()),
        }
    }

    async fn delete(&self, thread: &str) -> Result<(), AgentError> {
        self.all().thread(thread).delete().await
    }

    async fn export(
        &self,
        thread: &str,
        spec: ExportSpec,
        store: Arc<dyn Store>,
    ) -> Result<Exported, ExportError> {
        let saver = self.graph.threads().saver().cloned();
        let saver = saver.map_err(|source| ExportError::Thread {
            thread: thread.to_owned(),
            source: Box::new(source),
        })?;
        let graph = self.graph.clone().store(Arc::new(DryStore::new(store)));
        let contexts = spec.contexts;
        let mut export = export(saver, &graph, thread)
            .keep(spec.keep)
            .ignore(spec.ignore)
            .run_tools(spec.run_tools)
            .replay(move |replay| {
                let contexts = contexts.clone();
                replay.run_resource(move |metadata| contexts.of_run(metadata))
            });
        if let Some(code) = spec.code {
            export = export.graph(code);
        }
        if let Some(mistake) = spec.mistake {
            export = export.mistake(mistake);
        }
        if !self.shows_errors {
            export = export.hide_errors();
        }
        for secret in spec.secrets {
            export = export.secret(secret);
        }
        export.await
    }
}
