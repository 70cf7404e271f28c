//! A run as a stream of events.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // helpers of tests are tests

mod accepted;
mod cost;
mod interop;
mod modes;
mod progress;
mod shared;
mod tokens;

use langgraph::interrupt::Interrupt;
use langgraph::prelude::*;
use langgraph::run::EventStream;

use langgraph_tests::fixtures::trail::Trail;

/// Reads a stream to its end: each event on a line, then how it ended.
async fn read(mut stream: EventStream<Trail>) -> Vec<String> {
    let mut lines = Vec::new();
    while let Some(event) = stream.next().await {
        match event {
            Ok(event) => {
                assert_eq!(event.seq, lines.len() as u64);
                lines.push(line(&event));
            }
            Err(error) => lines.push(format!("error: {error}")),
        }
    }
    lines
}

/// An event on a line: its namespace, its superstep, what it is.
fn line(event: &Event<Trail>) -> String {
    let path: Vec<String> = event
        .namespace
        .iter()
        .map(|name| format!("{name}/"))
        .collect();
    let visits = |state: &Trail| state.visits.join(" ");
    let writes = |writes: &[langgraph::state::Write<Trail>]| {
        let texts = writes
            .iter()
            .filter_map(|write| write.update()?.visits.clone());
        texts
            .map(|visits| visits.join(" "))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let asked = |interrupts: &[Interrupt]| {
        let keys: Vec<_> = interrupts.iter().map(|i| format!("{}?", i.key)).collect();
        keys.join(" ")
    };
    let text = match &event.kind {
        EventKind::Values(state) => format!("values [{}]", visits(state)),
        EventKind::Update {
            node,
            update: all,
            cached,
        } => {
            format!(
                "update {node} [{}]{}",
                writes(all),
                if *cached { " cached" } else { "" }
            )
        }
        EventKind::MessageChunk { node, chunk } => format!("chunk {node} {:?}", chunk.text),
        EventKind::Message { node, message } => format!("message {node} {:?}", message.text()),
        EventKind::Custom { node, value } => format!("custom {node} {value}"),
        EventKind::TaskStarted(task) => match &task.item {
            Some(item) => format!("start {}({item}) [{}]", task.node, visits(&task.input)),
            None => format!("start {} [{}]", task.node, visits(&task.input)),
        },
        EventKind::TaskFinished(task) => match (&task.error, task.interrupts.as_slice()) {
            (Some(error), _) => format!("finish {}: {error}", task.node),
            (None, []) => format!("finish {} [{}]", task.node, writes(&task.writes)),
            (None, interrupts) => format!("finish {} {}", task.node, asked(interrupts)),
        },
        EventKind::Checkpoint(snapshot) => {
            let next: Vec<_> = snapshot.next.iter().map(|name| &**name).collect();
            format!("checkpoint {} -> {}", snapshot.step, next.join(" "))
        }
        EventKind::Interrupt(interrupts) => format!("interrupt {}", asked(interrupts)),
        EventKind::CheckpointSaved(saved) => {
            let next: Vec<_> = saved.next.iter().map(|name| &**name).collect();
            format!("saved {} -> {}", saved.step, next.join(" "))
        }
        EventKind::Progress(map) => format!(
            "progress {} {}+{}/{}",
            map.node, map.done, map.failed, map.total
        ),
        EventKind::Inner(_) => "inner".to_owned(),
        _ => "new".to_owned(),
    };
    format!("{}{} {text}", path.concat(), event.step)
}
