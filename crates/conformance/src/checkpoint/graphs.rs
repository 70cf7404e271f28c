//! Runs of graphs, from the first input to the last answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::{Deserialize, Serialize};

use super::{Problem, World, administration, holds, same};
use langgraph::checkpoint::{Checkpointer, Durability};
use langgraph::error::{AgentError, CheckpointError, NodeError};
use langgraph::graph::CompiledStateGraph;
use langgraph::message::Message;
use langgraph::node::{Command, Context, Send};
use langgraph::{END, START, State, StateGraph};

super::cases! {
    a_thread_goes_on_where_it_was,
    a_question_is_answered_by_another_graph_object,
    what_finished_beside_a_failure_is_not_run_again,
    a_long_thread_is_read_at_every_checkpoint,
    a_run_goes_on_from_an_older_checkpoint,
    sent_items_and_states_come_back,
    a_graph_inside_goes_on_where_it_was,
    a_chat_is_read_as_it_was_written,
    every_durability_ends_alike,
    two_runs_at_once_conflict,
    odd_values_come_back,
}

#[derive(State, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Diary {
    #[reducer(append)]
    log: Vec<String>,
    mood: Option<f64>,
}

fn wrote(line: impl Into<String>) -> DiaryUpdate {
    DiaryUpdate::default().log(vec![line.into()])
}

/// A node that writes its name.
fn writer(name: &'static str) -> impl Fn(&Diary) -> DiaryUpdate + Clone {
    move |_| wrote(name)
}

async fn ask(_: &Diary, cx: &Context) -> Result<DiaryUpdate, NodeError> {
    let answer: String = cx.interrupt("name", "who?")?;
    Ok(wrote(answer))
}

fn kept(
    graph: &StateGraph<Diary>,
    saver: &Arc<dyn Checkpointer>,
) -> Result<CompiledStateGraph<Diary>, Problem> {
    let graph = graph.compile();
    let graph = graph.map_err(|errors| Problem::Wrong(format!("a graph: {errors}")))?;
    Ok(graph.checkpointer(Arc::clone(saver)))
}

async fn log_of(graph: &CompiledStateGraph<Diary>, thread: &str) -> Result<Vec<String>, Problem> {
    let snapshot = graph.thread(thread).state().await?;
    Ok(snapshot
        .map(|snapshot| snapshot.values.log)
        .unwrap_or_default())
}

async fn a_thread_goes_on_where_it_was(world: &World<'_>) -> Result<(), Problem> {
    let saver = world.saver().await?;
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

async fn a_question_is_answered_by_another_graph_object(world: &World<'_>) -> Result<(), Problem> {
    let saver = world.saver().await?;
    let mut graph = StateGraph::<Diary>::new();
    graph
        .add_node("beside", writer("beside"))
        .add_node("ask", ask)
        .add_edge(START, "beside")
        .add_edge(START, "ask")
        .add_edge("ask", END)
        .add_edge("beside", END);
    let paused = kept(&graph, &saver)?.run(()).thread("t").await?;
    same("the questions", paused.interrupts().len(), 1)?;
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

async fn what_finished_beside_a_failure_is_not_run_again(world: &World<'_>) -> Result<(), Problem> {
    let saver = world.saver().await?;
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

async fn a_long_thread_is_read_at_every_checkpoint(world: &World<'_>) -> Result<(), Problem> {
    let saver = world.saver().await?;
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

async fn a_run_goes_on_from_an_older_checkpoint(world: &World<'_>) -> Result<(), Problem> {
    let saver = world.saver().await?;
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

async fn sent_items_and_states_come_back(world: &World<'_>) -> Result<(), Problem> {
    let saver = world.saver().await?;
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

async fn a_graph_inside_goes_on_where_it_was(world: &World<'_>) -> Result<(), Problem> {
    let saver = world.saver().await?;
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
    let inner = inner.map_err(|errors| Problem::Wrong(format!("the graph inside: {errors}")))?;
    let mut graph = StateGraph::<Diary>::new();
    graph
        .add_node("inner", inner.storable())
        .add_node("after", writer("after"))
        .add_sequence(&["inner", "after"]);
    let paused = kept(&graph, &saver)?.run(()).thread("t").await?;
    same("the questions", paused.interrupts().len(), 1)?;
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

#[derive(State, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Chat {
    #[reducer(add_messages)]
    messages: Vec<Message>,
    turn: usize,
}

/// Adds, repeats, edits and removes messages, in all orders.
fn talk(chat: &Chat) -> ChatUpdate {
    let id = |back: usize| {
        let place = chat.messages.len().checked_sub(back)?;
        chat.messages.get(place)?.id.clone()
    };
    let said = Message::user(format!("turn {}", chat.turn));
    let mut messages = vec![said.clone()];
    match (chat.turn % 7, id(2)) {
        (1, Some(id)) => messages.push(Message::assistant("edited").with_id(id)),
        (2, Some(id)) => messages.insert(0, Message::remove(id)),
        // A message with the former id of another, and two with the same id.
        (3, _) => {
            messages = vec![
                said.clone().with_id("given"),
                Message::user("again").with_id("given"),
            ];
        }
        (4, _) => messages.push(Message::remove("given")),
        (5, _) => messages.extend(chat.messages.last().cloned()),
        _ => {}
    }
    ChatUpdate::default().messages(messages).turn(chat.turn + 1)
}

async fn a_chat_is_read_as_it_was_written(world: &World<'_>) -> Result<(), Problem> {
    let saver = world.saver().await?;
    let mut graph = StateGraph::<Chat>::new();
    graph
        .add_node("talk", talk)
        .add_edge(START, "talk")
        .add_conditional_edges(
            "talk",
            |chat: &Chat| {
                if chat.turn.is_multiple_of(30) {
                    "enough"
                } else {
                    "on"
                }
            },
            [("on", "talk"), ("enough", END)],
        );
    let graph = graph.compile();
    let graph = graph.map_err(|errors| Problem::Wrong(format!("a graph: {errors}")))?;
    let graph = graph.checkpointer(saver);
    let mut states = Vec::new();
    let mut events = graph
        .run(())
        .thread("t")
        .stream(langgraph::stream::StreamMode::Values);
    while let Some(event) = events.next().await {
        if let langgraph::stream::EventKind::Values(state) = event?.kind {
            states.push(state);
        }
    }
    drop(events);
    let history = graph.thread("t").history().await?;
    let read: Vec<_> = history
        .into_iter()
        .rev()
        .map(|snapshot| snapshot.values)
        .collect();
    for state in states {
        holds(
            "a state that was seen is in the history",
            read.contains(&state),
        )?;
    }
    let oldest = graph.thread("t").history().await?.into_iter().rev().nth(12);
    let oldest = oldest
        .ok_or_else(|| Problem::Wrong("a short history".to_owned()))?
        .id;
    let again = graph.thread("t").proceed().at(oldest).await?;
    let found = graph
        .thread("t")
        .state()
        .await?
        .map(|snapshot| snapshot.values);
    same("the other branch", found.as_ref(), Some(again.state()))
}

async fn every_durability_ends_alike(world: &World<'_>) -> Result<(), Problem> {
    let saver = world.saver().await?;
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

async fn two_runs_at_once_conflict(world: &World<'_>) -> Result<(), Problem> {
    let saver = world.saver().await?;
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
            Ok(outcome) => done.push(outcome.into_state().log),
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

async fn odd_values_come_back(world: &World<'_>) -> Result<(), Problem> {
    let saver = world.saver().await?;
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
