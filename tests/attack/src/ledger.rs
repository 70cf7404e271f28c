//! A thread that keeps a list, and what rivals do to it.

use std::time::Duration;

use langgraph::State;
use langgraph::checkpoint::Durability;
use langgraph::error::CheckpointError;
use langgraph::prelude::*;
use langgraph::thread::{Keep, OnConflict};
use serde::{Deserialize, Serialize};

use crate::history::{Answer, Client, Ending, Operation, now};

/// Of a hundred operations these are runs; the last of them are dropped at a random moment.
const RUNS: u8 = 35;
const RUNS_TO_THEIR_END: u8 = 30;

/// The name of processes that read what a thread was three checkpoints ago.
pub(crate) const BEHIND: &str = "behind";

#[derive(State, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Ledger {
    #[reducer(append)]
    pub(crate) entries: Vec<u64>,
    seen: usize,
}

/// What the graph does with an entry; its input is in the state before.
async fn look(ledger: &Ledger) -> LedgerUpdate {
    // Long enough for another one to come between.
    tokio::task::yield_now().await;
    LedgerUpdate::default().seen(ledger.entries.len())
}

pub(crate) fn graph() -> CompiledStateGraph<Ledger> {
    let mut graph = StateGraph::<Ledger>::new();
    graph.set_name("ledger");
    graph.add_node("look", look).add_sequence(&["look"]);
    graph.compile().expect("it is a graph")
}

/// How a failed operation ended: without an effect, with an unknown one, or as it must not. One that stores a single
/// record has had none.
fn ending(operation: &Operation, is_run: bool, error: AgentError) -> Result<Ending, String> {
    let AgentError::Checkpoint(error) = error else {
        return Err(format!("{error:?}"));
    };
    match error {
        // The first record of a run may be stored.
        CheckpointError::Conflict { .. } | CheckpointError::LeaseLost { .. } if is_run => {
            Ok(Ending::Unknown)
        }
        CheckpointError::Conflict { .. }
        | CheckpointError::LeaseLost { .. }
        | CheckpointError::Held { .. }
        | CheckpointError::BaseGone { .. }
        | CheckpointError::UnknownCheckpoint { .. }
        | CheckpointError::UnknownThread(_)
        | CheckpointError::NothingToResume { .. } => Ok(Ending::Refused),
        other => Err(format!("{operation:?}: {other:?}")),
    }
}

pub(crate) async fn on_saver(
    graph: &CompiledStateGraph<Ledger>,
    name: &str,
    entry: u64,
    random: &mut fastrand::Rng,
    client: &mut Client,
) -> Result<(), String> {
    let thread = graph.thread(name);
    let policy = match random.u8(..4) {
        0 => OnConflict::Cancel,
        1 => OnConflict::Wait(Duration::from_secs(20)),
        _ => OnConflict::Reject,
    };
    let durability = [Durability::Sync, Durability::Async, Durability::Exit][random.usize(..3)];
    let input = LedgerUpdate::default().entries(vec![entry]);
    let dice = random.u8(..100);
    let began = now();
    let (operation, ended) = match dice {
        0..RUNS_TO_THEIR_END => {
            let run = thread.run(input).on_conflict(policy).durability(durability);
            let run = run
                .await
                .map(|outcome| Answer::Entries(outcome.into_state_so_far().entries));
            (Operation::Add(entry), run)
        }
        RUNS_TO_THEIR_END..RUNS => {
            // Dropped at a random moment.
            let run = thread.run(input).on_conflict(policy).durability(durability);
            let limit = Duration::from_micros(random.u64(..1_500));
            let Ok(ended) = tokio::time::timeout(limit, run.into_future()).await else {
                client.record(name, began, Operation::Add(entry), Ending::Unknown);
                return Ok(());
            };
            let ended = ended.map(|outcome| Answer::Entries(outcome.into_state_so_far().entries));
            (Operation::Add(entry), ended)
        }
        RUNS..50 => {
            let update = thread.update(input).as_node("look").on_conflict(policy);
            (
                Operation::Add(entry),
                update.create().await.map(|_| Answer::Done),
            )
        }
        50..75 => {
            let entries = if client.name.starts_with(BEHIND) {
                let history = thread.history().await;
                history.map(|history| history.get(3).map(|old| old.values.entries.clone()))
            } else {
                let state = thread.state().await;
                state.map(|state| state.map(|snapshot| snapshot.values.entries))
            };
            (
                Operation::Read,
                entries.map(|entries| Answer::Entries(entries.unwrap_or_default())),
            )
        }
        75..80 => {
            let copy = format!("copy of {name} {entry}");
            let copied = copied(graph, name, &copy).await;
            (Operation::Read, copied.map(Answer::Entries))
        }
        80..85 => {
            // Its effect is not seen: there is nothing to write down.
            let pruned = thread.prune(Keep::Newest(random.usize(1..8))).await;
            if let Err(error) = pruned {
                ending(&Operation::Read, false, error)?;
            }
            return Ok(());
        }
        85..95 => {
            let history = thread
                .history()
                .await
                .map_err(|error| format!("{error:?}"))?;
            let Some(old) = random.choice(&history) else {
                return Ok(());
            };
            let fork = thread.at(old.id).fork().on_conflict(policy).await;
            (
                Operation::Rewind(old.values.entries.clone()),
                fork.map(|_| Answer::Done),
            )
        }
        _ => (
            Operation::Delete,
            thread.delete().await.map(|()| Answer::Done),
        ),
    };
    let ending = match ended {
        Ok(answer) => Ending::Answered(answer),
        Err(error) => {
            let what = ending(&operation, dice < RUNS, error);
            what.map_err(|what| format!("thread `{name}`, {what}"))?
        }
    };
    client.record(name, began, operation, ending);
    Ok(())
}

/// The entries of a copy, which is deleted again.
async fn copied(
    graph: &CompiledStateGraph<Ledger>,
    name: &str,
    copy: &str,
) -> Result<Vec<u64>, AgentError> {
    graph.thread(name).copy(copy).await?;
    let copy = graph.thread(copy);
    let state = copy.state().await?;
    copy.delete().await?;
    Ok(state
        .map(|snapshot| snapshot.values.entries)
        .unwrap_or_default())
}
