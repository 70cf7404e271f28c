//! Runs of graphs, from the first input to the last answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::diary::{Diary, DiaryUpdate, ask, kept, log_of, writer, wrote};
use super::{Savers, administration};
use crate::case::{Problem, holds, same};
use langgraph::checkpoint::Durability;
use langgraph::error::{AgentError, CheckpointError, NodeError};
use langgraph::node::{Command, Send};
use langgraph::{END, START, StateGraph};

crate::case::cases! {
    Savers:
    a_thread_goes_on_where_it_was,
    an_interrupt_is_answered_by_another_graph_object,
    what_finished_before_a_failure_is_not_run_again,
    a_long_thread_is_read_at_every_checkpoint,
    a_run_goes_on_from_an_older_checkpoint,
    sent_items_and_states_come_back,
    a_subgraph_continues_where_it_was,
    every_durability_ends_alike,
    two_runs_at_once_conflict,
    odd_values_come_back,
}

async fn a_thread_goes_on_where_it_was(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut graph = StateGraph::<Diary>::new();
    graph.add_node("a", writer("a")).add_node("b", writer("b"));
    graph.add_sequence(&["a", "b"]);
    for (turn, thread) in [(1, "t"), (2, "t"), (1, "u"), (3, "t")] {
        // Built again each time, as a new process would.
        let graph = kept(&graph, &saver)?;
        let input = wrote(format!("turn {turn}"));
        let done = graph
            .run(input)
            .thread(thread)
            .metadata("turn", turn)
            .await?;
        let expected: Vec<_> = (1..=turn)
            .flat_map(|turn| [format!("turn {turn}"), "a".into(), "b".into()])
            .collect();
        same("the run", &done.state().log, &expected)?;
        same("the thread", log_of(&graph, thread).await?, expected)?;
    }
    let graph = kept(&graph, &saver)?;
    let history = graph.thread("t").history().await?;
    let steps: Vec<_> = history.iter().map(|snapshot| snapshot.step).collect();
    same(
        "the steps",
        steps,
        vec![10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, -1],
    )?;
    let turn = history
        .first()
        .and_then(|snapshot| snapshot.metadata.get("turn"));
    same("the metadata", turn, Some(&3.into()))
}

async fn an_interrupt_is_answered_by_another_graph_object(
    savers: &Savers<'_>,
) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut graph = StateGraph::<Diary>::new();
    graph
        .add_node("beside", writer("beside"))
        .add_node("ask", ask)
        .add_edge(START, "beside")
        .add_edge(START, "ask")
        .add_edge("ask", END)
        .add_edge("beside", END);
    let paused = kept(&graph, &saver)?.run(()).thread("t").await?;
    same("the interrupts", paused.interrupts().len(), 1)?;
    let again = kept(&graph, &saver)?;
    let snapshot = again.thread("t").state().await?;
    let waiting = snapshot.map(|snapshot| (snapshot.values.log, snapshot.interrupts));
    same(
        "what is stored",
        waiting,
        Some((vec!["beside".into()], paused.interrupts().to_vec())),
    )?;
    let wrong = again.thread("t").resume("other", "Ada").await;
    holds("an answer to nothing is refused", wrong.is_err())?;
    let done = again.thread("t").resume("name", "Ada").await?;
    same(
        "the run",
        done.state().log.join(" "),
        "beside Ada".to_owned(),
    )?;
    same(
        "the thread",
        log_of(&kept(&graph, &saver)?, "t").await?,
        done.state().log.clone(),
    )
}

async fn what_finished_before_a_failure_is_not_run_again(
    savers: &Savers<'_>,
) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let starts = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&starts);
    let mut graph = StateGraph::<Diary>::new();
    graph
        .add_node("works", writer("works"))
        .add_node("fails_twice", move |_: &Diary| {
            match counted.fetch_add(1, Ordering::Relaxed) {
                0 | 1 => Err(NodeError::msg("no")),
                _ => Ok(wrote("recovered")),
            }
        })
        .add_edge(START, "works")
        .add_edge(START, "fails_twice");
    let first = kept(&graph, &saver)?.run(()).thread("t").await;
    holds("the first run fails", first.is_err())?;
    holds(
        "so does the second",
        kept(&graph, &saver)?.thread("t").proceed().await.is_err(),
    )?;
    let graph = kept(&graph, &saver)?;
    let snapshot = graph.thread("t").state().await?;
    let next = snapshot.map(|snapshot| snapshot.next);
    same("what is left to do", next, Some(vec!["fails_twice".into()]))?;
    let done = graph.thread("t").proceed().await?;
    same(
        "the run",
        done.state().log.join(" "),
        "works recovered".to_owned(),
    )?;
    same("the starts", starts.load(Ordering::Relaxed), 3)
}

/// A node that repeats until the log has this many lines.
fn counting(lines: usize) -> StateGraph<Diary> {
    let mut graph = StateGraph::<Diary>::new();
    graph
        .add_node("count", |diary: &Diary| {
            DiaryUpdate::default()
                .log(vec![format!("line {} of the diary", diary.log.len())])
                .mood(Some(
                    f64::from(u32::try_from(diary.log.len()).unwrap_or(0)) / 3.0,
                ))
        })
        .add_edge(START, "count")
        .add_conditional_edges(
            "count",
            move |diary: &Diary| {
                if diary.log.len() < lines {
                    "on"
                } else {
                    "enough"
                }
            },
            [("on", "count"), ("enough", END)],
        );
    graph
}

async fn a_long_thread_is_read_at_every_checkpoint(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let graph = counting(200);
    let done = kept(&graph, &saver)?.run(()).thread("t").await?;
    let graph = kept(&graph, &saver)?;
    same(
        "the thread",
        log_of(&graph, "t").await?,
        done.state().log.clone(),
    )?;
    let history = graph.thread("t").history().await?;
    same("how many checkpoints", history.len(), 202)?;
    for snapshot in history {
        let lines = usize::try_from(snapshot.step).unwrap_or(0);
        let expected = &done.state().log[..lines];
        holds("the state at a checkpoint", snapshot.values.log == expected)?;
    }
    Ok(())
}

async fn a_run_goes_on_from_an_older_checkpoint(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let graph = counting(6);
    kept(&graph, &saver)?.run(()).thread("t").await?;
    let graph = kept(&graph, &saver)?;
    let history = graph.thread("t").history().await?;
    let older = history.iter().find(|snapshot| snapshot.step == 3);
    let older = older
        .ok_or_else(|| Problem::Wrong("no step 3".to_owned()))?
        .id;
    let edited = graph.thread("t").at(older).update(wrote("edited")).await?;
    let branch = graph.thread("t").at(edited).state().await?;
    let branch = branch.map(|snapshot| snapshot.values.log.len());
    same("the edited state", branch, Some(4))?;
    let done = graph.thread("t").proceed().await?;
    same("the run", done.state().log.len(), 6)?;
    same(
        "with the edit",
        done.state().log.get(3).map(String::as_str),
        Some("edited"),
    )?;
    same(
        "the head",
        log_of(&graph, "t").await?,
        done.state().log.clone(),
    )?;
    let first = graph.thread("t").at(history[0].id).state().await?;
    let first = first.map(|snapshot| snapshot.values);
    same("the other branch", first.as_ref(), Some(&history[0].values))
}

async fn sent_items_and_states_come_back(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut graph = StateGraph::<Diary>::new();
    graph
        .add_node("fan", |_: &Diary| {
            let alone = Diary {
                log: vec!["alone".into()],
                mood: Some(0.1),
            };
            let sends = (0_i64..3).map(|n| Send::to("work", n));
            let sends = sends.chain([Send::state("look", alone)]);
            Command::<Diary>::goto(sends.collect::<Vec<_>>())
        })
        .add_node("look", |diary: &Diary| {
            wrote(format!("{:?} {:?}", diary.log, diary.mood))
        })
        .add_edge(START, "fan")
        .add_destinations("fan", ["work", "look"]);
    graph.add_worker("work", work);
    let paused = kept(&graph, &saver)?
        .run(())
        .thread("t")
        .interrupt_before(["work"])
        .await?;
    holds("it has stopped", !paused.is_done())?;
    let done = kept(&graph, &saver)?.thread("t").proceed().await?;
    let expected = ["item 0", "item 1", "item 2", "[\"alone\"] Some(0.1)"];
    same(
        "the run",
        done.state().log.clone(),
        expected.map(str::to_owned).to_vec(),
    )
}

async fn work(n: i64) -> DiaryUpdate {
    wrote(format!("item {n}"))
}

async fn a_subgraph_continues_where_it_was(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let starts = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&starts);
    let mut inner = StateGraph::<Diary>::new();
    inner
        .add_node("before", move |_: &Diary| {
            counted.fetch_add(1, Ordering::Relaxed);
            wrote("before")
        })
        .add_node("ask", ask)
        .add_sequence(&["before", "ask"]);
    let inner = inner.compile();
    let inner = inner.map_err(|errors| Problem::Wrong(format!("the subgraph: {errors}")))?;
    let mut graph = StateGraph::<Diary>::new();
    graph
        .add_node("inner", inner.storable())
        .add_node("after", writer("after"))
        .add_sequence(&["inner", "after"]);
    let paused = kept(&graph, &saver)?.run(()).thread("t").await?;
    same("the interrupts", paused.interrupts().len(), 1)?;
    same(
        "the logs",
        administration(&saver)?.logs("t").await?.len(),
        2,
    )?;
    let done = kept(&graph, &saver)?.thread("t").answer("Ada").await?;
    same(
        "the run",
        done.state().log.join(" "),
        "before Ada after".to_owned(),
    )?;
    same(
        "how often the first node ran",
        starts.load(Ordering::Relaxed),
        1,
    )
}

async fn every_durability_ends_alike(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let graph = kept(&counting(30), &saver)?;
    let mut seen = Vec::new();
    for (thread, durability) in [
        ("sync", Durability::Sync),
        ("async", Durability::Async),
        ("exit", Durability::Exit),
    ] {
        let done = graph.run(()).thread(thread).durability(durability).await?;
        same(
            "the thread",
            log_of(&graph, thread).await?,
            done.state().log.clone(),
        )?;
        seen.push(administration(&saver)?.usage(thread).await?.checkpoints);
        let done = graph
            .run(wrote("more"))
            .thread(thread)
            .durability(durability)
            .await?;
        same(
            "the thread, later",
            log_of(&graph, thread).await?,
            done.state().log.clone(),
        )?;
        same("what was added", done.state().log.len(), 32)?;
    }
    same("the checkpoints", seen, vec![32, 32, 1])
}

async fn two_runs_at_once_conflict(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let mut graph = StateGraph::<Diary>::new();
    graph
        .add_node("slow", async |_: &Diary| {
            tokio::time::sleep(std::time::Duration::from_millis(200)).await;
            wrote("slow")
        })
        .add_node("b", writer("b"))
        .add_sequence(&["slow", "b"]);
    let graph = kept(&graph, &saver)?;
    graph.run(()).thread("t").await?;
    let runs = (0..4).map(|n| {
        let run = graph.run(wrote(format!("run {n}"))).thread("t");
        tokio::spawn(async move { run.await })
    });
    let mut done = Vec::new();
    for run in runs.collect::<Vec<_>>() {
        let run = run
            .await
            .map_err(|error| Problem::Wrong(error.to_string()))?;
        match run {
            Ok(outcome) => done.push(outcome.into_state_so_far().log),
            Err(AgentError::Checkpoint(
                CheckpointError::Conflict { .. } | CheckpointError::Held { .. },
            )) => {}
            Err(error) => return Err(Problem::Wrong(format!("the wrong error: {error}"))),
        }
    }
    // Inputs of the other runs may be there, but no writes of their nodes.
    let log = log_of(&graph, "t").await?;
    same("who came to the end", done, vec![log.clone()])?;
    let slow = log.iter().filter(|line| *line == "slow").count();
    let last = log.iter().rev().take(2).map(String::as_str);
    same("what is on the thread", last.collect(), vec!["b", "slow"])?;
    same("how many runs wrote", slow, 2)
}

async fn odd_values_come_back(savers: &Savers<'_>) -> Result<(), Problem> {
    let saver = savers.open().await?;
    let odd = [
        "",
        "quotes \" ' \\ and \n\t\r\u{0}\u{1f}\u{7f}",
        "日本 🦀 \u{2028}\u{feff}",
        "{\"json\": [1]}",
    ];
    let mut graph = StateGraph::<Diary>::new();
    graph
        .add_node("write", move |_: &Diary| {
            let lines = odd.map(str::to_owned).to_vec();
            DiaryUpdate::default().log(lines).mood(Some(0.1 + 0.2))
        })
        .add_sequence(&["write"]);
    let graph = kept(&graph, &saver)?;
    graph.run(()).thread("t").await?;
    let found = graph
        .thread("t")
        .state()
        .await?
        .map(|snapshot| snapshot.values);
    let expected = Diary {
        log: odd.map(str::to_owned).to_vec(),
        mood: Some(0.1 + 0.2),
    };
    same("the state", found, Some(expected))
}
