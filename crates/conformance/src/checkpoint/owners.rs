//! What a thread belongs to.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::log::{Log, checkpoint, finished};
use super::{Savers, administration};
use crate::case::{Problem, holds, same};
use langgraph::checkpoint::{
    Batch, Checkpointer, Fold, Head, Owner, Prune, RunStatus, StateType, ThreadFilter, ThreadKey,
};
use langgraph::error::{AgentError, CheckpointError, ErrorKind};
use langgraph::graph::CompiledStateGraph;
use langgraph::{State, StateGraph};
use serde_json::json;

crate::case::cases! {
    Savers:
    a_log_without_an_owner_has_none,
    a_log_keeps_its_owner_until_another_is_named,
    a_refused_batch_names_no_owner,
    logs_of_a_thread_have_owners_of_their_own,
    an_owner_survives_copies_and_pruning,
    a_graph_over_another_state_is_refused,
    a_renamed_state_is_known_by_its_alias,
    recovery_leaves_the_threads_of_other_graphs_alone,
}

fn owner(graph: &str) -> Arc<Owner> {
    Arc::new(Owner {
        graph: graph.to_owned(),
        state: StateType {
            name: "Diary<\"ß\">".to_owned(),
            version: 7,
            fields: vec![("log".to_owned(), "Vec<String>".to_owned())],
        },
    })
}

/// Fails unless every way to read the log returns that owner.
async fn belongs(log: &Log, expected: Option<Arc<Owner>>) -> Result<(), Problem> {
    let chain = log.saver.load(&log.key, None).await?;
    let owner = chain.and_then(|chain| chain.owner);
    same("the chain's", owner, expected.clone())?;
    let position = log.saver.load_state(&log.key, None, &mut |_| ()).await?;
    let owner = position.and_then(|position| position.owner);
    same("the state's", owner, expected.clone())?;
    if !log.key.namespace.is_empty() {
        return Ok(());
    }
    if let Some(administration) = log.saver.administration() {
        let threads = administration.threads(ThreadFilter::default()).await?;
        let info = threads
            .into_iter()
            .find(|info| info.thread == log.key.thread);
        let owner = info.and_then(|info| info.owner);
        same("the list's", owner, expected)?;
    }
    Ok(())
}

async fn a_log_without_an_owner_has_none(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut log = Log::root(&saver, "t");
    log.grow(2).await?;
    belongs(&log, None).await
}

async fn a_log_keeps_its_owner_until_another_is_named(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut log = Log::root(&saver, "t");
    log.put(Batch {
        checkpoints: vec![checkpoint(log.next_id(), None)],
        owner: Some(owner("first")),
        ..Batch::default()
    })
    .await?;
    belongs(&log, Some(owner("first"))).await?;
    log.step(|_| ()).await?;
    log.put(Batch::default()).await?;
    belongs(&log, Some(owner("first"))).await?;
    let at = log.newest()?;
    log.put(Batch {
        tasks: vec![finished(at, 0, &json!(1))],
        owner: Some(owner("second")),
        ..Batch::default()
    })
    .await?;
    log.step(|_| ()).await?;
    belongs(&log, Some(owner("second"))).await?;
    let mut other = Log::root(&saver, "u");
    other.grow(1).await?;
    belongs(&other, None).await
}

async fn a_refused_batch_names_no_owner(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut log = Log::root(&saver, "t");
    log.put(Batch {
        checkpoints: vec![checkpoint(log.next_id(), None)],
        owner: Some(owner("first")),
        ..Batch::default()
    })
    .await?;
    let batch = Batch {
        head: Some(Head::new(log.newest()?, 99)),
        owner: Some(owner("second")),
        ..Batch::default()
    };
    holds(
        "the batch is refused",
        saver.put(&log.key, batch).await.is_err(),
    )?;
    belongs(&log, Some(owner("first"))).await
}

async fn logs_of_a_thread_have_owners_of_their_own(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut root = Log::root(&saver, "t");
    let subgraph = ThreadKey {
        thread: "t".to_owned(),
        namespace: vec!["inner".to_owned()],
    };
    let mut subgraph = Log::at(&saver, subgraph);
    for (log, name) in [(&mut root, "outer"), (&mut subgraph, "inner")] {
        log.put(Batch {
            checkpoints: vec![checkpoint(log.next_id(), None)],
            owner: Some(owner(name)),
            ..Batch::default()
        })
        .await?;
    }
    belongs(&root, Some(owner("outer"))).await?;
    belongs(&subgraph, Some(owner("inner"))).await
}

async fn an_owner_survives_copies_and_pruning(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut log = Log::root(&saver, "t");
    let ids = log.grow(3).await?;
    log.put(Batch {
        owner: Some(owner("first")),
        ..Batch::default()
    })
    .await?;
    let (Some(gone), Some(kept)) = (ids.get(..3), ids.get(3)) else {
        return Ok(());
    };
    let prune = Prune {
        fold: vec![Fold {
            id: *kept,
            snapshot: super::log::payload(&json!(0)),
            ran: Vec::new(),
            joined: Vec::new(),
        }],
        delete: gone.to_vec(),
    };
    administration(&saver)?.prune(&log.key, prune).await?;
    belongs(&log, Some(owner("first"))).await?;
    administration(&saver)?.copy_thread("t", "u").await?;
    belongs(&Log::root(&saver, "u"), Some(owner("first"))).await?;
    administration(&saver)?.delete_thread("t").await?;
    belongs(&Log::root(&saver, "u"), Some(owner("first"))).await
}

#[derive(State, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Apples {
    pub(super) count: i64,
}

#[derive(State, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Pears {
    count: i64,
}

/// What `Apples` is called later.
#[derive(State, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[state(alias = "Apples")]
struct Fruit {
    count: i64,
}

/// Another type of the same name.
mod other {
    use super::{Deserialize, Serialize, State};

    #[derive(State, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
    pub(super) struct Apples {
        pub(super) names: Vec<String>,
    }
}

pub(super) fn graph<S: State + Default>(
    name: &str,
    saver: &Arc<dyn Checkpointer>,
) -> Result<CompiledStateGraph<S>, Problem>
where
    S::Update: Serialize + serde::de::DeserializeOwned,
{
    let mut graph = StateGraph::<S>::new();
    graph
        .set_name(name)
        .add_node("work", |_: &S| S::Update::default())
        .add_sequence(&["work"]);
    let graph = graph.compile();
    let graph = graph.map_err(|errors| Problem::Wrong(format!("a graph: {errors}")))?;
    Ok(graph.checkpointer(Arc::clone(saver)))
}

/// Fails unless the error names the thread and both types.
fn is_wrong_type<T>(
    what: &str,
    result: Result<T, AgentError>,
    [stored, now]: [&str; 2],
) -> Result<(), Problem> {
    match result {
        Ok(_) => Err(Problem::Wrong(format!("{what}: accepted"))),
        Err(AgentError::Checkpoint(error @ CheckpointError::WrongType { .. })) => {
            let text = error.to_string();
            let names = ["thread `t`", stored, now];
            let named = names.iter().all(|name| text.contains(name));
            holds(&format!("{what}: it names them: {text}"), named)
        }
        Err(error) => Err(Problem::Wrong(format!("{what}: the wrong error: {error}"))),
    }
}

async fn a_graph_over_another_state_is_refused(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let apples = graph::<Apples>("apples", &saver)?;
    apples.run(Apples { count: 7 }).thread("t").await?;
    let before = saver.head(&ThreadKey::root("t")).await?;

    let pears = graph::<Pears>("pears", &saver)?;
    let thread = pears.thread("t");
    let names = ["`Apples` { count: i64 }", "`Pears` { count: i64 }"];
    is_wrong_type("state", thread.state().await, names)?;
    is_wrong_type("history", thread.history().await, names)?;
    is_wrong_type("lineage", thread.lineage().await, names)?;
    is_wrong_type("run", thread.run(Pears { count: 1 }).await, names)?;
    is_wrong_type("proceed", thread.proceed().await, names)?;
    is_wrong_type("resume", thread.resume("a", 1).await, names)?;
    let update = PearsUpdate::default().count(8);
    is_wrong_type("update", thread.update(update.clone()).await, names)?;
    is_wrong_type("add_input", thread.add_input(update).await, names)?;
    is_wrong_type("fork", thread.fork().await, names)?;
    if let Some(before) = before {
        is_wrong_type("at", thread.at(before.id).proceed().await, names)?;
    }
    let kind = pears
        .thread("t")
        .state()
        .await
        .map_err(|error| error.kind());
    same("its kind", kind.err(), Some(ErrorKind::AlreadyExists))?;
    let namesake = graph::<other::Apples>("apples", &saver)?;
    let names = ["{ count: i64 }", "{ names: Vec<String> }"];
    is_wrong_type("a namesake", namesake.thread("t").state().await, names)?;
    let kind = namesake
        .thread("t")
        .state()
        .await
        .map_err(|error| error.kind());
    same(
        "the kind of a namesake's",
        kind.err(),
        Some(ErrorKind::StoredData),
    )?;

    let head = saver.head(&ThreadKey::root("t")).await?;
    same("nothing is stored", head, before)?;
    let state = apples.thread("t").state().await?;
    same("the state", state.map(|state| state.values.count), Some(7))
}

async fn a_renamed_state_is_known_by_its_alias(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    // Values in memory need no aliases: they end with the program that has the type.
    if saver.formats().is_none() {
        return Ok(());
    }
    let apples = graph::<Apples>("fruit", &saver)?;
    apples.run(Apples { count: 7 }).thread("t").await?;
    let fruit = graph::<Fruit>("fruit", &saver)?;
    let state = fruit.thread("t").state().await?;
    same("the state", state.map(|state| state.values.count), Some(7))?;
    fruit.run(()).thread("t").await?;
    // Now it is stored under its new name.
    let names = ["`Fruit` { count: i64 }", "`Apples` { count: i64 }"];
    is_wrong_type("the old type", apples.thread("t").state().await, names)
}

async fn recovery_leaves_the_threads_of_other_graphs_alone(
    savers: &Savers<'_>,
) -> Result<(), Problem> {
    let saver = savers.open().await?;
    super::leases(&saver)?;
    administration(&saver)?;
    let apples = graph::<Apples>("apples", &saver)?;
    let pears = graph::<Pears>("pears", &saver)?;
    apples.run(Apples { count: 7 }).thread("t").await?;
    pears.run(Pears { count: 8 }).thread("u").await?;
    for thread in ["t", "u"] {
        let key = ThreadKey::root(thread);
        let vanished = Batch {
            head: saver.head(&key).await?,
            status: RunStatus::Running,
            ..Batch::default()
        };
        saver.put(&key, vanished).await?;
    }
    // Later than what was stored.
    tokio::time::sleep(Duration::from_millis(2)).await;
    let resumed = pears.threads().resume_pending(Duration::ZERO).await?;
    let names: Vec<_> = resumed.iter().map(|one| &*one.thread).collect();
    same("what is resumed", names, vec!["u"])?;
    // A graph of that name over another state says why it does not resume.
    let namesake = graph::<Pears>("apples", &saver)?;
    for one in namesake.threads().resume_pending(Duration::ZERO).await? {
        let names = ["`Apples` { count: i64 }", "`Pears` { count: i64 }"];
        is_wrong_type(&one.thread, one.outcome, names)?;
    }
    let resumed = apples.threads().resume_pending(Duration::ZERO).await?;
    let names: Vec<_> = resumed.iter().map(|one| &*one.thread).collect();
    same("what is resumed then", names, vec!["t"])
}
