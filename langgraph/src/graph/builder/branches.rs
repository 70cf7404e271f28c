//! Routers and maps of a graph that is being built.

use std::sync::Arc;

use super::StateGraph;
use crate::graph::routers::{Each, InTurn, Last, Mapped, Named, Pick, Switch, Test};
use crate::graph::routes::ErasedRouter;
use crate::graph::{Arm, Branch, NodeName, PathMapEntry};
use crate::node::{Context, IntoRouter, Item, RouterRun, Send, Worker};
use crate::state::State;

impl<S: State> StateGraph<S> {
    /// Calls `router` after `source` and follows its answer through a path map: pairs of a key and
    /// a node, or nodes that are their own keys. A node may be [`END`](crate::END).
    ///
    /// A key that is not in the map is an error of the run, which names the node and the key.
    ///
    /// # Examples
    ///
    /// ```
    /// use langgraph::prelude::*;
    ///
    /// let mut graph = StateGraph::<i64>::new();
    /// graph
    ///     .add_node("halve", |n: &i64| n / 2)
    ///     .add_edge(START, "halve")
    ///     .add_conditional_edges(
    ///         "halve",
    ///         |n: &i64| if *n > 1 { "again" } else { "done" },
    ///         [("again", "halve"), ("done", END)],
    ///     );
    /// ```
    pub fn add_conditional_edges<K>(
        &mut self,
        source: impl AsRef<str>,
        router: impl IntoRouter<S, K>,
        paths: impl IntoIterator<Item = impl PathMapEntry>,
    ) -> &mut Self
    where
        K: 'static,
    {
        let arms: Vec<Arm> = paths
            .into_iter()
            .map(PathMapEntry::entry)
            .map(|(label, target)| Arm {
                label,
                targets: vec![target],
                map: false,
            })
            .collect();
        let keys = arms.iter().map(|arm| arm.label.clone()).collect();
        self.push_branch(
            source.as_ref().into(),
            Some(arms),
            Arc::new(Mapped::new(router, keys)),
        )
    }

    /// Calls `router` after `source` and goes to the targets that it returns: nodes by name,
    /// [`END`](crate::END), [`Send`]s, several of these, or none.
    ///
    /// The targets are not known in advance, so they are not checked, and drawings show that.
    pub fn add_router<K>(
        &mut self,
        source: impl AsRef<str>,
        router: impl IntoRouter<S, K>,
    ) -> &mut Self
    where
        K: 'static,
    {
        self.push_branch(source.as_ref().into(), None, Arc::new(Named::new(router)))
    }

    /// Runs `worker` once per item after `source`, in parallel.
    ///
    /// The successors of the worker wait for all of them.
    pub fn add_map<T: Item, I>(
        &mut self,
        source: impl AsRef<str>,
        items: impl Fn(&S) -> I + std::marker::Send + Sync + 'static,
        worker: &Worker<T>,
    ) -> &mut Self
    where
        I: IntoIterator<Item = T>,
    {
        let target = worker.clone();
        self.add_each(&[source.as_ref()], worker.name(), move |state, _| {
            RouterRun::ready(Ok(items(state)
                .into_iter()
                .map(|item| Send::to(&target, item))
                .collect()))
        })
    }

    /// The general form of [`add_map`](Self::add_map), where a router returns the sends to
    /// `worker`.
    pub(crate) fn add_each(
        &mut self,
        sources: &[&str],
        worker: &str,
        sends: impl for<'a> Fn(&'a S, &'a Context) -> RouterRun<'a, Vec<Send<S>>>
        + std::marker::Send
        + Sync
        + 'static,
    ) -> &mut Self {
        let arm = Arm {
            label: String::new(),
            targets: vec![worker.into()],
            map: true,
        };
        self.push_branches(sources, &[arm], &(Arc::new(Each(sends)) as _))
    }

    /// Adds a router after each of `sources` whose answer picks one of `arms`.
    pub(crate) fn add_switch(
        &mut self,
        sources: &[&str],
        arms: &[Arm],
        router: impl for<'a> Fn(&'a S, &'a Context) -> RouterRun<'a, Pick<S>>
        + std::marker::Send
        + Sync
        + 'static,
    ) -> &mut Self {
        self.push_branches(sources, arms, &(Arc::new(Switch(router)) as _))
    }

    /// As [`add_switch`](Self::add_switch), with other routers before the last one.
    pub(crate) fn add_switch_in_turn(
        &mut self,
        sources: &[&str],
        arms: &[Arm],
        tests: Vec<Test<S>>,
        last: Last<S>,
    ) -> &mut Self {
        self.push_branches(sources, arms, &(Arc::new(InTurn { tests, last }) as _))
    }

    /// Adds a branch after each of `sources`; they share the router.
    fn push_branches(
        &mut self,
        sources: &[&str],
        arms: &[Arm],
        router: &Arc<dyn ErasedRouter<S>>,
    ) -> &mut Self {
        for source in sources {
            self.push_branch((*source).into(), Some(arms.to_vec()), Arc::clone(router));
        }
        self
    }

    fn push_branch(
        &mut self,
        source: NodeName,
        arms: Option<Vec<Arm>>,
        router: Arc<dyn ErasedRouter<S>>,
    ) -> &mut Self {
        self.topology.branches.push(Branch { source, arms });
        self.routers.push(router);
        self
    }
}
