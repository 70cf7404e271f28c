//! A whole run, written down so that two can be compared.

use std::sync::Arc;

use langgraph::checkpoint::{MemorySaver, Snapshot};
use langgraph::interrupt::Interrupt;
use langgraph::prelude::*;
use langgraph::stream::{StreamModes, StreamOptions};

use super::schedule::Schedule;
use super::shape::World;

/// Everything that must not depend on who finishes first.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Played {
    /// How each run of the thread ended.
    pub(super) ends: Vec<String>,
    /// The events of each superstep: those of its tasks in sorted order, then the others in theirs.
    pub(super) events: Vec<Vec<String>>,
    /// The thread's checkpoints, newest first.
    pub(super) history: Vec<String>,
}

pub(super) async fn play(
    graph: &StateGraph<World>,
    schedule: &Arc<Schedule>,
    concurrency: usize,
    buffer: usize,
) -> Played {
    let graph = graph.compile().unwrap();
    let graph = graph.checkpointer(Arc::new(MemorySaver::new()));
    let mut played = Played {
        ends: Vec::new(),
        events: Vec::new(),
        history: Vec::new(),
    };
    let mut run = graph.run(()).thread("t");
    for _ in 0..8 {
        let run_now = run
            .resource(Arc::clone(schedule))
            .limit(40)
            .max_concurrency(concurrency);
        let options = StreamOptions::new(StreamModes::ALL)
            .subgraphs()
            .buffer(buffer);
        let mut stream = run_now.stream(options);
        let mut events = Grouped::default();
        let mut end = None;
        let mut expected_seq = 0;
        while let Some(event) = stream.next().await {
            match event {
                Ok(event) => {
                    assert_eq!(event.seq, expected_seq);
                    expected_seq += 1;
                    events.add(&event);
                }
                Err(error) => end = Some(format!("{error} / {error:?}")),
            }
        }
        played.events.extend(events.finish());
        let questions = match stream.outcome() {
            Some(outcome) => {
                let questions: Vec<_> = outcome.interrupts().iter().map(question).collect();
                end = Some(format!("{:?} {questions:?}", outcome.state()));
                outcome.interrupts().to_vec()
            }
            None => Vec::new(),
        };
        played
            .ends
            .push(end.expect("a run ends in a state or an error"));
        if questions.is_empty() {
            break;
        }
        let answers = questions
            .into_iter()
            .map(|i| (i.id, format!("answer to {}", i.payload)));
        run = graph.thread("t").resume_all(answers);
    }
    let history = graph.thread("t").history().await.unwrap();
    let ids: Vec<_> = history.iter().map(|snapshot| snapshot.id).collect();
    played.history = history
        .iter()
        .map(|snapshot| {
            let parent = snapshot
                .parent
                .and_then(|id| ids.iter().position(|known| *known == id));
            format!("{} parent {parent:?}", shown(snapshot))
        })
        .collect();
    played
}

fn question(interrupt: &Interrupt) -> String {
    format!(
        "{:?}/{} {} {}",
        interrupt.namespace, interrupt.node, interrupt.key, interrupt.payload
    )
}

fn shown(snapshot: &Snapshot<World>) -> String {
    let tasks: Vec<_> = snapshot
        .tasks
        .iter()
        .map(|task| {
            let questions: Vec<_> = task.interrupts.iter().map(question).collect();
            format!(
                "{} {:?} {:?} {questions:?}",
                task.node, task.result, task.error
            )
        })
        .collect();
    format!(
        "{} {:?} {:?} next {:?} tasks {tasks:?}",
        snapshot.step, snapshot.source, snapshot.values, snapshot.next
    )
}

/// The events of a run, superstep by superstep.
#[derive(Default)]
struct Grouped {
    steps: Vec<Vec<String>>,
    step: Option<usize>,
    of_tasks: Vec<String>,
    concluding: Vec<String>,
}

impl Grouped {
    fn add(&mut self, event: &Event<World>) {
        if event.namespace.is_empty() {
            let goes_on = self.step.is_none_or(|step| step <= event.step);
            assert!(goes_on, "superstep {} after {:?}", event.step, self.step);
            if self.step != Some(event.step) {
                self.close();
                self.step = Some(event.step);
            }
        }
        let text = format!("{:?}#{} {}", event.namespace, event.step, text(&event.kind));
        let concludes = matches!(event.kind, EventKind::Values(_) | EventKind::Checkpoint(_));
        if event.namespace.is_empty() && concludes {
            self.concluding.push(text);
        } else {
            assert!(
                self.concluding.is_empty(),
                "{text} comes after {:?}",
                self.concluding
            );
            self.of_tasks.push(text);
        }
    }

    fn close(&mut self) {
        self.of_tasks.sort();
        let mut step = std::mem::take(&mut self.of_tasks);
        step.append(&mut self.concluding);
        if !step.is_empty() {
            self.steps.push(step);
        }
    }

    fn finish(mut self) -> Vec<Vec<String>> {
        self.close();
        self.steps
    }
}

fn text(kind: &EventKind<World>) -> String {
    match kind {
        EventKind::Values(state) => format!("values {state:?}"),
        EventKind::Update {
            node,
            update,
            cached,
        } => format!("update {node} {update:?} {cached}"),
        EventKind::Custom { node, value } => format!("custom {node} {value}"),
        EventKind::TaskStarted(task) => {
            format!("started {} {:?} {:?}", task.node, task.input, task.item)
        }
        EventKind::TaskFinished(task) => {
            let questions: Vec<_> = task.interrupts.iter().map(question).collect();
            format!(
                "finished {} {:?} {:?} {questions:?}",
                task.node, task.writes, task.error
            )
        }
        EventKind::Checkpoint(snapshot) => format!("checkpoint {}", shown(snapshot)),
        EventKind::Interrupt(interrupts) => {
            format!(
                "interrupt {:?}",
                interrupts.iter().map(question).collect::<Vec<_>>()
            )
        }
        _ => "other".to_owned(),
    }
}
