//! The routers of the builder and of `graph!`, in one form.

use super::NodeName;
use super::routes::{ErasedRouter, RouterCall, Routes};
use crate::error::NodeError;
use crate::node::IntoTargets as _;
use crate::node::{Context, IntoRouter, RouterRun, Send, Target};
use crate::state::State;

/// The arm that a `match` of `graph!` picks.
pub struct Pick<S: State>(pub(crate) Routes<S>);

impl<S: State> Pick<S> {
    /// Picks the arm at `index`.
    pub const fn arm(index: usize) -> Self {
        Self(Routes::Arm(index))
    }

    /// Picks the map at `index`, with its sends.
    pub fn each(_index: usize, sends: impl IntoIterator<Item = Send<S>>) -> Self {
        Self(Routes::Targets(
            sends.into_iter().map(Target::Send).collect(),
        ))
    }
}

impl_debug!([S: State] Pick<S>);

/// A router that returns names and sends.
pub(super) struct Named<R, K>(R, std::marker::PhantomData<fn() -> K>);

impl<R, K> Named<R, K> {
    pub(super) fn new(router: R) -> Self {
        Self(router, std::marker::PhantomData)
    }
}

impl<S: State, K: 'static, R: IntoRouter<S, K>> ErasedRouter<S> for Named<R, K> {
    fn call<'a>(&'a self, state: &'a S, cx: &'a Context) -> RouterCall<'a, S> {
        let run = self.0.route(state, cx);
        RouterCall::of(run.map(|answer| Ok(Routes::Targets(answer.into_targets()))))
    }
}

/// A router that returns keys of a path map.
pub(super) struct Mapped<R, K> {
    router: Named<R, K>,
    keys: Vec<String>,
}

impl<R, K> Mapped<R, K> {
    pub(super) fn new(router: R, keys: Vec<String>) -> Self {
        let router = Named::new(router);
        Self { router, keys }
    }
}

impl<S: State, K: 'static, R: IntoRouter<S, K>> ErasedRouter<S> for Mapped<R, K> {
    fn call<'a>(&'a self, state: &'a S, cx: &'a Context) -> RouterCall<'a, S> {
        RouterCall::of(self.router.0.route(state, cx).map(|answer| {
            let mut picked = Vec::new();
            for target in answer.into_targets() {
                match target {
                    Target::Send(send) => picked.push(Routes::Targets(vec![Target::Send(send)])),
                    Target::Node(key) => match self.keys.iter().position(|known| **known == *key) {
                        Some(index) => picked.push(Routes::Arm(index)),
                        None => {
                            return Err(NodeError::from(UnknownKey {
                                key,
                                known: self.keys.clone(),
                            }));
                        }
                    },
                }
            }
            Ok(match picked.len() {
                1 => picked.pop().unwrap_or(Routes::Several(Vec::new())),
                _ => Routes::Several(picked),
            })
        }))
    }
}

/// The error of a router that returned a key outside its path map.
#[derive(Debug, thiserror::Error)]
#[error("the router answered `{key}`, which is not a key of its path map ({})", known.join(", "))]
pub(crate) struct UnknownKey {
    pub(crate) key: NodeName,
    known: Vec<String>,
}

/// A function that returns the sends to a worker.
pub(super) struct Each<F>(pub(super) F);

impl<S, F> ErasedRouter<S> for Each<F>
where
    S: State,
    F: for<'a> Fn(&'a S, &'a Context) -> RouterRun<'a, Vec<Send<S>>> + std::marker::Send + Sync,
{
    fn call<'a>(&'a self, state: &'a S, cx: &'a Context) -> RouterCall<'a, S> {
        RouterCall::of((self.0)(state, cx).map(|sends| {
            Ok(Routes::Targets(
                sends.into_iter().map(Target::Send).collect(),
            ))
        }))
    }
}

/// A decision of `graph!`.
pub(super) struct Switch<F>(pub(super) F);

impl<S, F> ErasedRouter<S> for Switch<F>
where
    S: State,
    F: for<'a> Fn(&'a S, &'a Context) -> RouterRun<'a, Pick<S>> + std::marker::Send + Sync,
{
    fn call<'a>(&'a self, state: &'a S, cx: &'a Context) -> RouterCall<'a, S> {
        picked((self.0)(state, cx))
    }
}

/// Returns the arm, if it is known at once.
#[inline]
fn picked<S: State>(run: RouterRun<'_, Pick<S>>) -> RouterCall<'_, S> {
    RouterCall::of(run.map(|pick| Ok(pick.0)))
}

/// A router that may leave the decision to the next one.
pub(crate) type Test<S> = Box<
    dyn for<'a> Fn(&'a S, &'a Context) -> RouterRun<'a, Option<Pick<S>>> + std::marker::Send + Sync,
>;

/// A router that always decides.
pub(crate) type Last<S> =
    Box<dyn for<'a> Fn(&'a S, &'a Context) -> RouterRun<'a, Pick<S>> + std::marker::Send + Sync>;

/// The routers of an `if` with an `else if`: each runs only if those before it have not decided.
pub(super) struct InTurn<S: State> {
    pub(super) tests: Vec<Test<S>>,
    pub(super) last: Last<S>,
}

impl<S: State> ErasedRouter<S> for InTurn<S> {
    fn call<'a>(&'a self, state: &'a S, cx: &'a Context) -> RouterCall<'a, S> {
        picked(call_in_turn(&self.tests, &self.last, state, cx))
    }
}

fn call_in_turn<'a, S: State>(
    tests: &'a [Test<S>],
    last: &'a Last<S>,
    state: &'a S,
    cx: &'a Context,
) -> RouterRun<'a, Pick<S>> {
    match tests.split_first() {
        None => last(state, cx),
        Some((first, rest)) => first(state, cx).then(move |picked| match picked {
            Some(pick) => RouterRun::ready(Ok(pick)),
            None => call_in_turn(rest, last, state, cx),
        }),
    }
}
