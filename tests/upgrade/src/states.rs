//! The states to which the threads of a release are brought.

use langgraph_client::NewRun;
use serde_json::{Value, json};

use crate::api::{next, text};
use crate::threads::{AGENT, ASKING, CRON, DELAYED, DONE, ENTRYPOINT, MAP, QUEUED, RESTING};
use crate::{Api, Fallible, Kept, KeptRun};

/// How many items the map has, and how many of them are done.
const ITEMS: u32 = 6;
const FINISHED: usize = 3;

/// How many seconds a run is put off: longer than the program lives.
const DELAY: u32 = 30;

/// Does what clients do, until the server is in the middle of much.
pub(crate) async fn states(api: &Api, program: &str) -> Fallible<Kept> {
    let mut kept = Kept {
        program: program.to_owned(),
        ..Kept::default()
    };
    ended(api, &mut kept).await?;
    kept.assistant = assistant(api).await?;
    let item = json!({"namespace": ["people", "ada"], "key": "tea", "value": {"by": program}});
    api.client.put_item(item).await?;
    asking(api, &mut kept).await?;
    let chat = json!({"messages": [{"role": "user", "content": "what is moss?"}]});
    pause(api, AGENT, "agent", chat).await?;
    pause(api, ENTRYPOINT, "publish", json!({"input": "moss"})).await?;
    pause(api, RESTING, "rest", json!({})).await?;
    kept.cron = cron(api).await?;
    // From here on, the server is busy with the map.
    half_a_map(api, &mut kept).await?;
    kept.behind = start(api, MAP, &enqueued(run("map", json!({"items": 1})))).await?;
    for (thread, run) in [
        (QUEUED, run("note", json!({}))),
        (DELAYED, run("note", json!({})).with("after_seconds", DELAY)),
    ] {
        let run = KeptRun {
            run: start(api, thread, &run).await?,
            ..KeptRun::default()
        };
        kept.runs.insert(thread.to_owned(), run);
    }
    Ok(kept)
}

fn run(graph: &str, input: Value) -> NewRun {
    let run = NewRun::new(graph).input(input).create_thread().resumable();
    run.with("durability", "sync").stream_mode(&["updates"])
}

fn enqueued(run: NewRun) -> NewRun {
    run.with("multitask_strategy", "enqueue")
}

async fn start(api: &Api, thread: &str, run: &NewRun) -> Fallible<String> {
    text(&api.client.start(Some(thread), run).await?, "run_id")
}

/// Runs until it asks.
async fn pause(api: &Api, thread: &str, graph: &str, input: Value) -> Fallible<()> {
    let paused = api.client.wait(Some(thread), &run(graph, input)).await?;
    match paused["__interrupt__"].as_array() {
        Some(asked) if !asked.is_empty() => Ok(()),
        _ => Err(format!("`{graph}` does not ask: {paused}").into()),
    }
}

async fn ended(api: &Api, kept: &mut Kept) -> Fallible<()> {
    for _ in 0..2 {
        let run = run("note", json!({}));
        api.client.wait(Some(DONE), &run).await?;
    }
    let history = api.client.history(DONE, json!({"limit": 100})).await?;
    kept.history = serde_json::from_value(history)?;
    Ok(())
}

async fn assistant(api: &Api) -> Fallible<String> {
    let context = |tone: &str| json!({"context": {"tone": tone}});
    let new = json!({"graph_id": "style", "name": "stylist", "context": {"tone": "dry"}});
    let assistant = text(&api.client.create_assistant(new).await?, "assistant_id")?;
    for tone in ["warm", "cold"] {
        api.client
            .update_assistant(&assistant, context(tone))
            .await?;
    }
    let path = format!("/assistants/{assistant}/latest");
    api.post(&path, json!({"version": 2})).await?;
    Ok(assistant)
}

/// A run that asks. One client has read all of its events, another the first two.
async fn asking(api: &Api, kept: &mut Kept) -> Fallible<()> {
    let run = start(api, ASKING, &run("ask", json!({}))).await?;
    let events = api.events(ASKING, &run, "-1").await?;
    let last = events.get(1).ok_or("too few events")?.id.clone();
    let run = KeptRun { run, events, last };
    kept.runs.insert(ASKING.to_owned(), run);
    Ok(())
}

async fn cron(api: &Api) -> Fallible<String> {
    let cron = json!({"assistant_id": "tick", "schedule": "* * * * *", "input": {}});
    let thread = json!({"thread_id": CRON});
    api.client.create_thread(thread).await?;
    let made = api
        .post(&format!("/threads/{CRON}/runs/crons"), cron)
        .await?;
    text(&made, "cron_id")
}

/// A map of which some items are done. One client has read that, another has read that it plans.
async fn half_a_map(api: &Api, kept: &mut Kept) -> Fallible<()> {
    let run = start(api, MAP, &run("map", json!({"items": ITEMS}))).await?;
    let mut stream = api.client.join_stream(MAP, &run, Some("-1")).await?;
    let mut events = Vec::new();
    let (mut last, mut finished) = (None, 0);
    while finished < FINISHED {
        let event = next(&mut stream).await?;
        let event = event.ok_or("the map has ended")?;
        if event.data.get("plan").is_some() {
            last = Some(event.id.clone());
        }
        finished += usize::from(event.data.get("work").is_some());
        events.push(event);
    }
    let last = last.ok_or("the map has not been planned")?;
    let run = KeptRun { run, events, last };
    kept.runs.insert(MAP.to_owned(), run);
    Ok(())
}
