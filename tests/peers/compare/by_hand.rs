//! Loops over boxed futures, without a library: the same nodes, the same merging of the same updates.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use langgraph::prelude::*;
use tokio::task::JoinSet;

use crate::state::{
    Chat, ChatUpdate, Counter, CounterUpdate, count, model, question, tool, wants_tool,
};
use crate::workload::{Chain, FanOut, Loop, React, Stored, Work, Workload, new_thread, work};

pub fn make(workload: Workload, size: usize) -> Option<Work> {
    Some(match workload {
        Chain => chain(size),
        Loop => turns(size),
        FanOut => fan_out(size),
        React => agent(size, None),
        Stored => agent(size, Some(Arc::default())),
    })
}

type Done<'a, U> = Pin<Box<dyn Future<Output = U> + Send + 'a>>;
type Step<S, U> = Box<dyn for<'a> Fn(&'a S) -> Done<'a, U> + Send + Sync>;

fn steps(nodes: usize) -> Arc<[Step<Counter, CounterUpdate>]> {
    (0..nodes)
        .map(|_| -> Step<Counter, CounterUpdate> { Box::new(|state| Box::pin(count(state))) })
        .collect()
}

fn chain(nodes: usize) -> Work {
    let steps = steps(nodes);
    work(move || {
        let steps = Arc::clone(&steps);
        async move {
            let mut state = Counter::default();
            for step in &*steps {
                let update = step(&state).await;
                state.try_merge(update).unwrap();
            }
            state.total
        }
    })
}

fn turns(turns: usize) -> Work {
    let steps = steps(1);
    let more: Arc<dyn Fn(&Counter) -> bool + Send + Sync> =
        Arc::new(move |state| state.total < turns);
    work(move || {
        let (steps, more) = (Arc::clone(&steps), Arc::clone(&more));
        async move {
            let mut state = Counter::default();
            loop {
                let update = steps[0](&state).await;
                state.try_merge(update).unwrap();
                if !more(&state) {
                    return state.total;
                }
            }
        }
    })
}

fn fan_out(width: usize) -> Work {
    let steps = steps(width + 2);
    work(move || {
        let steps = Arc::clone(&steps);
        async move {
            let mut state = Counter::default();
            let update = steps[width](&state).await;
            state.try_merge(update).unwrap();
            let shared = Arc::new(state);
            let mut running = JoinSet::new();
            for index in 0..width {
                let (steps, state) = (Arc::clone(&steps), Arc::clone(&shared));
                running.spawn(async move { (index, steps[index](&state).await) });
            }
            let mut updates: Vec<Option<CounterUpdate>> = (0..width).map(|_| None).collect();
            while let Some(joined) = running.join_next().await {
                let (index, update) = joined.unwrap();
                updates[index] = Some(update);
            }
            let mut state = Arc::into_inner(shared).unwrap();
            for update in updates.into_iter().flatten() {
                state.try_merge(update).unwrap();
            }
            let update = steps[width + 1](&state).await;
            state.try_merge(update).unwrap();
            state.total
        }
    })
}

/// The updates of each thread.
type Log = Mutex<HashMap<String, Vec<ChatUpdate>>>;

fn agent(turns: usize, log: Option<Arc<Log>>) -> Work {
    let steps: Arc<[Step<Chat, ChatUpdate>; 2]> = Arc::new([
        Box::new(move |state| Box::pin(model(state, turns))),
        Box::new(|state| Box::pin(tool(state))),
    ]);
    work(move || {
        let (steps, log) = (Arc::clone(&steps), log.clone());
        async move {
            let thread = new_thread();
            let mut state = Chat::default();
            let merge = |state: &mut Chat, mut update: ChatUpdate| {
                state.prepare(&mut update);
                if let Some(log) = &log {
                    let mut log = log.lock().unwrap();
                    match log.get_mut(&thread) {
                        Some(updates) => updates.push(update.clone()),
                        None => drop(log.insert(thread.clone(), vec![update.clone()])),
                    }
                }
                state.try_merge(update).unwrap();
            };
            merge(&mut state, question());
            loop {
                let update = steps[0](&state).await;
                merge(&mut state, update);
                if !wants_tool(&state) {
                    return state.messages.len();
                }
                let update = steps[1](&state).await;
                merge(&mut state, update);
            }
        }
    })
}
