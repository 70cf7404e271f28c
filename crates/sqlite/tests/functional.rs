//! An entrypoint whose process ends between its runs: the file is opened anew.

#![allow(clippy::unwrap_used)] // clippy does not know that helpers of tests are tests

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use langgraph::prelude::*;
use langgraph_functional::{EntrypointExt, Final, entrypoint, task};
use langgraph_sqlite::SqliteSaver;

#[derive(Debug, Default)]
struct World {
    written: AtomicUsize,
    failed: AtomicUsize,
}

#[task]
async fn write(topic: String, cx: &Context) -> Result<String, NodeError> {
    let world = cx.resource::<World>()?;
    world.written.fetch_add(1, Ordering::Relaxed);
    Ok(format!("On {topic}."))
}

/// Fails when it runs for the first time.
#[task]
async fn send(text: String, cx: &Context) -> Result<(), NodeError> {
    let world = cx.resource::<World>()?;
    if world.failed.fetch_add(1, Ordering::Relaxed) == 0 {
        return Err(NodeError::msg(format!("`{text}` cannot be sent")));
    }
    Ok(())
}

#[entrypoint]
async fn publish(
    topic: String,
    cx: &Context,
    previous: Option<&u32>,
) -> Result<Final<String, u32>, NodeError> {
    let number = previous.copied().unwrap_or_default() + 1;
    let (title, text) = tokio::try_join!(
        write(format!("the title of {topic}")).on(cx),
        write(topic).on(cx)
    )?;
    let id = cx.uuid().await?;
    let shown: String = cx.interrupt("publish?", &format!("{title} {text}"))?;
    send(shown.clone()).on(cx).await?;
    Ok(Final::new(format!("{number} {shown} {}", id.get_version_num())).save(number))
}

fn opened(file: &Path, world: &Arc<World>) -> Thread<PublishState> {
    let graph = publish.compile().unwrap().resource(Arc::clone(world));
    let saver = SqliteSaver::open(file).unwrap();
    graph.checkpointer(Arc::new(saver)).thread("t")
}

#[tokio::test]
async fn an_entrypoint_goes_on_in_a_file_that_is_opened_anew() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("threads.db");
    let world = Arc::new(World::default());
    for number in 1..=2 {
        let paused = opened(&file, &world).run(publish("moss".to_owned())).await;
        let payload = paused.unwrap().interrupts()[0].payload.clone();
        assert_eq!(payload, "On the title of moss. On moss.");

        let sent = opened(&file, &world).resume("publish?", "moss!").await;
        assert_eq!(sent.is_err(), number == 1, "{sent:?}");
        if number == 1 {
            let error = sent.unwrap_err().to_string();
            assert!(error.contains("`moss!` cannot be sent"), "{error}");
            opened(&file, &world).proceed().await.unwrap();
        }

        let state = opened(&file, &world).state().await.unwrap().unwrap();
        let output = state.values.output.as_deref();
        assert_eq!(output, Some(&*format!("{number} moss! 4")));
        // Two texts in each run, and none of them again.
        assert_eq!(world.written.load(Ordering::Relaxed), 2 * number);
    }
}
