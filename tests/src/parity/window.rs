//! Chunks whose order is a race: those of the tasks that run side by side in one superstep.

use serde_json::Value;

/// A chunk, and the task that streamed it while it ran.
#[derive(Debug)]
pub(super) struct Chunk {
    pub(super) value: Value,
    /// Its superstep and the task's name; none when the loop itself streamed it, between the tasks.
    pub(super) task: Option<(usize, String)>,
}

/// The chunks in groups: those of several tasks in a row are one, any other is one of its own.
pub(super) fn groups(chunks: Vec<Chunk>) -> Value {
    let mut groups: Vec<Vec<Value>> = Vec::new();
    let mut window: Vec<Chunk> = Vec::new();
    for chunk in chunks {
        if let Some((step, _)) = chunk.task {
            let open = window.last().and_then(|last| last.task.as_ref());
            if open.is_some_and(|(open, _)| *open != step) {
                close(&mut window, &mut groups);
            }
            window.push(chunk);
        } else {
            close(&mut window, &mut groups);
            groups.push(vec![chunk.value]);
        }
    }
    close(&mut window, &mut groups);
    groups.into_iter().map(Value::from).collect()
}

fn close(window: &mut Vec<Chunk>, groups: &mut Vec<Vec<Value>>) {
    let first = window.first().and_then(|chunk| chunk.task.clone());
    let several = window.iter().any(|chunk| chunk.task != first);
    let values = window.drain(..).map(|chunk| chunk.value);
    if several {
        groups.push(values.collect());
    } else {
        groups.extend(values.map(|value| vec![value]));
    }
}
