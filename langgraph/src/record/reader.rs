//! Values of a run from their stored form.

use std::borrow::Cow;
use std::sync::Arc;

use super::coder::{Coded, SentItem, TaskDone};
use super::coding::Coding;
use super::run_links::LinkList;
use super::whole::Whole;
use crate::checkpoint::{Encoded, Formats, Payload, ThreadKey};
use crate::error::{AgentError, CheckpointError, FormatError};
use crate::graph::NodeName;
use crate::graph::plan::Plan;
use crate::graph::routes::Routes;
use crate::node::{ErasedItem, NodeId, Output, StoredItem, Target, state};
use crate::state::decoded::{Decoded, Updates};
use crate::state::wire::{RoutesWire, UpdateIndex, WriteWire};
use crate::state::{State, StateCodec, TrackedState, Write, Writes, WrittenFields};
use crate::task::Finished;

/// Decodes the payloads of one log.
pub(crate) struct Reader<'a, S: State> {
    pub(crate) plan: &'a Plan<S>,
    pub(crate) codec: Option<StateCodec<S>>,
    pub(crate) formats: Option<&'a Formats>,
    pub(crate) key: &'a ThreadKey,
}

impl<S: State> Reader<'_, S> {
    /// The error of a value that a graph over another type has left in memory.
    fn wrong_type(&self, payload: &Payload) -> AgentError {
        CheckpointError::WrongType {
            thread: self.key.thread.clone(),
            stored: format!("`{}`", payload.state()),
            state: format!("`{}`", std::any::type_name::<S>()),
            graph: None,
            remedy: "a saver that keeps values converts none of them".to_owned(),
        }
        .into()
    }

    fn unreadable(&self, source: FormatError) -> AgentError {
        CheckpointError::Unreadable {
            thread: self.key.thread.clone(),
            source,
        }
        .into()
    }

    /// Returns the result of a task, and the graph that made it.
    fn task_done<'p>(
        &self,
        payload: &'p Payload,
    ) -> Result<(Cow<'p, TaskDone<S>>, &'p Plan<S>), AgentError> {
        if let Some((links, index)) = payload.get_at::<LinkList<S>>() {
            let linked = links.task_done(index);
            let (done, coder) = linked.ok_or_else(|| self.wrong_type(payload))?;
            return Ok((Cow::Owned(done), &coder.plan));
        }
        let coded = self.value::<TaskDone<S>>(payload)?;
        Ok((Cow::Borrowed(&coded.value), &coded.coder.plan))
    }

    fn value<'p, T: Coding<S>>(&self, payload: &'p Payload) -> Result<&'p Coded<S, T>, AgentError> {
        payload.get().ok_or_else(|| self.wrong_type(payload))
    }

    /// Converts the result of a task of another version of the graph: to names instead of indices,
    /// and to current names.
    fn of_another_graph(&self, task: TaskDone<S>, was: &Plan<S>) -> Finished<S> {
        let mut done = task.done;
        if was.fingerprint == self.plan.fingerprint {
            return done;
        }
        let rename = |name: &mut NodeName| *name = self.plan.renamed(name);
        done.output.jump.rename(&rename);
        let routers = was.node(task.node).into_iter();
        let routers = routers.flat_map(|node| &node.out.routers);
        for (routes, router) in done.routes.as_mut_slice().iter_mut().zip(routers) {
            name_routes(was, &router.arms, routes, &rename);
        }
        done
    }

    fn codec(&self) -> Result<(StateCodec<S>, &Formats), AgentError> {
        let state = std::any::type_name::<S>();
        let both = self.codec.zip(self.formats);
        both.ok_or_else(|| CheckpointError::NotStorable { state }.into())
    }

    fn wire_writes(&self, encoded: &Encoded) -> Result<Vec<WriteWire<S::Update>>, AgentError> {
        let (codec, formats) = self.codec()?;
        let wire = codec.decode_writes(encoded, formats);
        Ok(wire.map_err(|error| self.unreadable(error))?.writes)
    }

    /// Returns the writes of a task, without the rest of its result.
    pub(crate) fn written(&self, payload: &Payload) -> Result<Writes<S>, AgentError> {
        let Payload::Bytes(encoded) = payload else {
            let (task, _) = self.task_done(payload)?;
            return Ok(match task {
                Cow::Borrowed(task) => task.done.output.writes.clone(),
                Cow::Owned(task) => task.done.output.writes,
            });
        };
        let write = |wire| Write::from_wire(wire, &self.plan.initial);
        let mut writes = self.wire_writes(encoded)?;
        if writes.len() > 1 {
            return Ok(Writes::Many(writes.into_iter().map(write).collect()));
        }
        Ok(writes
            .pop()
            .map_or(Writes::None, |wire| Writes::One(write(wire))))
    }

    pub(crate) fn done(&self, payload: &Payload) -> Result<Finished<S>, AgentError> {
        let Payload::Bytes(encoded) = payload else {
            let (task, was) = self.task_done(payload)?;
            return Ok(self.of_another_graph(task.into_owned(), was));
        };
        let (codec, formats) = self.codec()?;
        let decoded = codec.decode(encoded, formats);
        let finished = decoded.and_then(|decoded| self.finished(decoded));
        finished.map_err(|error| self.unreadable(error))
    }

    fn finished(&self, mut decoded: Decoded<S>) -> Result<Finished<S>, FormatError> {
        let Plan { initial, .. } = self.plan;
        let rename = |name: NodeName| self.plan.renamed(&name);
        let cached = decoded.wire.cached;
        let routes = std::mem::take(&mut decoded.wire.routes);
        let routes = routes_of(routes, &mut decoded.updates, initial, &rename)?;
        let output = Output::from_wire(decoded, initial, &rename)?;
        Ok(Finished {
            routes: routes.into(),
            cached,
            ..Finished::new(output)
        })
    }

    pub(crate) fn writes(&self, payload: &Payload) -> Result<Vec<Write<S>>, AgentError> {
        let Payload::Bytes(encoded) = payload else {
            return Ok(self.value::<Vec<Write<S>>>(payload)?.value.clone());
        };
        let writes = self.wire_writes(encoded)?.into_iter();
        Ok(writes
            .map(|wire| Write::from_wire(wire, &self.plan.initial))
            .collect())
    }

    pub(crate) fn state(&self, payload: &Payload) -> Result<Arc<S>, AgentError> {
        Ok(self.state_seen(payload, |_| ())?.state)
    }

    /// Decodes a state; if it was bytes, `see` gets the update with all its fields.
    pub(crate) fn state_seen(
        &self,
        payload: &Payload,
        see: impl FnOnce(&S::Update),
    ) -> Result<TrackedState<S>, AgentError> {
        let Payload::Bytes(encoded) = payload else {
            return Ok(self.value::<Whole<S>>(payload)?.value.0.clone());
        };
        let (codec, formats) = self.codec()?;
        let wire = codec.decode_writes(encoded, formats);
        let wire = wire.map_err(|error| self.unreadable(error))?;
        let write = wire.writes.into_iter().next();
        let update = write.ok_or_else(|| self.unreadable(FormatError::new("a state is empty")))?;
        let update = update.into_update();
        see(&update);
        let initial = &self.plan.initial;
        let written = if wire.only_written {
            initial.written(&update).into()
        } else {
            WrittenFields::Unknown
        };
        Ok(TrackedState {
            state: Arc::new(state(update, initial)),
            written,
        })
    }

    pub(crate) fn item(&self, payload: &Payload) -> Result<Arc<dyn ErasedItem>, AgentError> {
        let Payload::Bytes(encoded) = payload else {
            let item = payload.get::<SentItem>();
            let item = item.ok_or_else(|| self.wrong_type(payload))?;
            return Ok(Arc::clone(&item.0));
        };
        let Some(formats) = self.formats else {
            return Err(self.wrong_type(payload));
        };
        let text = formats.decode::<String>(encoded);
        let text = text.map_err(|error| self.unreadable(error))?;
        Ok(Arc::new(StoredItem(text)))
    }
}

fn routes_of<S: State>(
    wires: Vec<RoutesWire<UpdateIndex>>,
    updates: &mut Updates<S>,
    initial: &S,
    rename: &dyn Fn(NodeName) -> NodeName,
) -> Result<Vec<Routes<S>>, FormatError> {
    let mut routes = Vec::with_capacity(wires.len());
    for wire in wires {
        routes.push(match wire {
            RoutesWire::Targets(wires) => {
                Routes::Targets(Target::all_from_wire(wires, updates, initial, rename)?)
            }
            RoutesWire::Several(wires) => {
                Routes::Several(routes_of(wires, updates, initial, rename)?)
            }
        });
    }
    Ok(routes)
}

/// Converts the arms of another graph to names.
fn name_routes<S: State>(
    was: &Plan<S>,
    arms: &[Box<[NodeId]>],
    routes: &mut Routes<S>,
    rename: &dyn Fn(&mut NodeName),
) {
    match routes {
        Routes::Arm(arm) => {
            let nodes = arms.get(*arm).into_iter().flatten();
            let targets = nodes.map(|node| {
                let mut name = was.name(*node);
                rename(&mut name);
                Target::Node(name)
            });
            *routes = Routes::Targets(targets.collect());
        }
        Routes::Targets(targets) => targets.iter_mut().for_each(|target| target.rename(rename)),
        Routes::Several(several) => {
            for routes in several {
                name_routes(was, arms, routes, rename);
            }
        }
    }
}
