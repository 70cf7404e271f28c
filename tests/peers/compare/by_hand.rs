//! Loops over boxed futures, without a library: the same nodes, the same merging of the same updates.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use langgraph::prelude::*;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::state::{
    Chat, ChatUpdate, Counter, CounterUpdate, count, model, question, tool, wants_tool,
};
use crate::workload::{
    Chain, FanOut, Loop, Observed, React, Stored, Work, Workload, new_thread, work,
};

pub fn make(workload: Workload, size: usize) -> Option<Work> {
    Some(match workload {
        Chain => chain(size),
        Loop => turns(size),
        FanOut => fan_out(size),
        React => unobserved(size),
        Observed => observed(size),
        Stored => stored(size),
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

type Agent = Arc<[Step<Chat, ChatUpdate>; 2]>;

fn agent(turns: usize) -> Agent {
    Arc::new([
        Box::new(move |state| Box::pin(model(state, turns))),
        Box::new(|state| Box::pin(tool(state))),
    ])
}

/// Lets the model and the tool take turns. Each update is `noted` before it is merged.
async fn converse(steps: Agent, noted: impl Fn(&ChatUpdate)) -> usize {
    let mut state = Chat::default();
    let merge = |state: &mut Chat, mut update: ChatUpdate| {
        state.prepare(&mut update);
        noted(&update);
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

fn unobserved(turns: usize) -> Work {
    let steps = agent(turns);
    work(move || converse(Arc::clone(&steps), |_| {}))
}

/// A reader takes a copy of each update from a channel.
fn observed(turns: usize) -> Work {
    let steps = agent(turns);
    work(move || {
        let (copies, mut reader) = mpsc::unbounded_channel();
        let run = converse(Arc::clone(&steps), move |update| {
            copies.send(update.clone()).unwrap()
        });
        let read = async move {
            let mut updates = 0;
            while reader.recv().await.is_some() {
                updates += 1;
            }
            updates
        };
        async {
            // The first one is the input.
            tokio::join!(run, read).1 - 1
        }
    })
}

/// The updates of each thread.
type Log = Mutex<HashMap<String, Vec<ChatUpdate>>>;

fn stored(turns: usize) -> Work {
    let (steps, log) = (agent(turns), Arc::<Log>::default());
    work(move || {
        let (thread, log) = (new_thread(), Arc::clone(&log));
        converse(Arc::clone(&steps), move |update| {
            let mut log = log.lock().unwrap();
            match log.get_mut(&thread) {
                Some(updates) => updates.push(update.clone()),
                None => drop(log.insert(thread.clone(), vec![update.clone()])),
            }
        })
    })
}
