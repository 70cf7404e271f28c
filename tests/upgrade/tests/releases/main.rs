//! What each release has stored is gone on with: a copy of each folder of `tests/upgrade` is opened by the server of
//! today, on SQLite and on PostgreSQL.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test fails by panicking

mod opened;

use langgraph_client::NewRun;
use langgraph_upgrade::threads::{
    AGENT, ASKING, CRON, DELAYED, DONE, ENTRYPOINT, MAP, QUEUED, RESTING,
};
use langgraph_upgrade::{Fallible, KeptEvent};
use opened::{Opened, lines};
use serde_json::{Value, json};

/// Each on both databases.
macro_rules! on_both {
    ($($name:ident)*) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                super::opened::each(langgraph_upgrade::Kind::Sqlite, super::$name).await;
            })*
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $name() {
                super::opened::each(langgraph_upgrade::Kind::Postgres, super::$name).await;
            })*
        }
    };
}

on_both! {
    r5_an_answer_goes_on_and_work_of_once_is_not_repeated
    r5_an_agent_goes_on_within_its_sub_agent
    r5_an_entrypoint_goes_on_after_its_finished_task
    r5_a_half_done_map_runs_only_what_is_left
    r5_runs_in_the_queue_are_carried_out
    r5_events_of_a_run_that_has_ended_are_read_on
    r5_events_of_a_run_that_was_killed_are_read_on
    r5_a_cron_fires
    r5_a_thread_that_rests_is_woken
    r5_an_assistant_has_its_versions
    r5_an_item_of_the_store_is_found
    r5_a_thread_that_has_ended_has_its_history_and_a_next_run
}

async fn r5_an_answer_goes_on_and_work_of_once_is_not_repeated(old: &Opened) -> Fallible<()> {
    let values = old.answer(ASKING, "ask", json!(true)).await?;
    let price = old.before("12.5");
    let expected = [old.before("noted"), format!("{price}: true, by now")];
    assert_eq!(lines(&values)?, expected);
    Ok(())
}

async fn r5_an_agent_goes_on_within_its_sub_agent(old: &Opened) -> Fallible<()> {
    let asked = old.api.client.state(AGENT).await?;
    assert_eq!(asked["interrupts"][0]["value"]["topic"], "moss", "{asked}");
    let values = old.answer(AGENT, "agent", json!("Ada")).await?;
    let messages = values["messages"].as_array().ok_or("no messages")?;
    let last = messages.last().map(|message| &message["content"]);
    assert_eq!(last, Some(&json!("at last: heard: Ada knows, says now")));
    let file = &values["middleware"].to_string();
    assert!(
        file.contains("/plan.md") && file.contains("ask first"),
        "{file}"
    );
    Ok(())
}

async fn r5_an_entrypoint_goes_on_after_its_finished_task(old: &Opened) -> Fallible<()> {
    let values = old.answer(ENTRYPOINT, "publish", json!("well")).await?;
    let expected = format!("{}, well by now", old.before("moss"));
    assert_eq!(values["output"], expected, "{values}");
    Ok(())
}

async fn r5_a_half_done_map_runs_only_what_is_left(old: &Opened) -> Fallible<()> {
    let mut expected = vec![old.before("noted")];
    expected.extend((0..3).map(|item| old.before(&format!("item {item}"))));
    expected.extend((3..6).map(|item| format!("item {item} by now")));
    expected.push("noted by now".to_owned());
    assert_eq!(old.done(MAP, &old.run(MAP).run).await?, expected);
    // The run behind it begins when it has ended.
    expected.extend(["noted by now", "item 0 by now", "noted by now"].map(str::to_owned));
    assert_eq!(old.done(MAP, &old.kept.behind).await?, expected);
    Ok(())
}

async fn r5_runs_in_the_queue_are_carried_out(old: &Opened) -> Fallible<()> {
    for thread in [QUEUED, DELAYED] {
        let run = &old.run(thread).run;
        assert_eq!(old.done(thread, run).await?, ["noted by now"]);
        let row = old.api.client.run(thread, run).await?;
        assert_eq!(row["status"], "success", "{row}");
    }
    Ok(())
}

/// The part of the events after the last one that the client had read.
fn unread<'a>(events: &'a [KeptEvent], last: &str) -> &'a [KeptEvent] {
    let read = events.iter().position(|event| event.id == last);
    &events[read.expect("the client has read one of them") + 1..]
}

async fn r5_events_of_a_run_that_has_ended_are_read_on(old: &Opened) -> Fallible<()> {
    let kept = old.run(ASKING);
    let rest = old.api.events(ASKING, &kept.run, &kept.last).await?;
    assert_eq!(rest, unread(&kept.events, &kept.last));
    assert!(!rest.is_empty());
    Ok(())
}

async fn r5_events_of_a_run_that_was_killed_are_read_on(old: &Opened) -> Fallible<()> {
    let kept = old.run(MAP);
    let rest = old.api.events(MAP, &kept.run, &kept.last).await?;
    let all = old.api.events(MAP, &kept.run, "-1").await?;
    assert_eq!(all[..kept.events.len()], kept.events);
    assert_eq!(rest, unread(&all, &kept.last));
    let number = |event: &KeptEvent| event.id.rsplit('-').next()?.parse::<u64>().ok();
    assert!(
        all.is_sorted_by(|one, next| number(one) < number(next)),
        "{all:#?}"
    );
    // The next attempt sends what the one before had finished again, marked, and the rest once.
    let next = all[kept.events.len()..].iter();
    let attempts = next.clone().filter(|event| event.event == "metadata");
    let attempts: Vec<_> = attempts.map(|event| &event.data["attempt"]).collect();
    assert_eq!(attempts, [2], "{all:#?}");
    let (again, now): (Vec<_>, Vec<_>) = next
        .filter(|event| event.data.get("work").is_some())
        .partition(|event| event.data["__metadata__"]["cached"] == true);
    assert_eq!(
        items(&again),
        [0, 1, 2].map(|item| old.before(&format!("item {item}")))
    );
    assert_eq!(
        items(&now),
        [3, 4, 5].map(|item| format!("item {item} by now"))
    );
    Ok(())
}

/// The results of items in events, in the order of the items.
fn items(events: &[&KeptEvent]) -> Vec<String> {
    let results = events
        .iter()
        .filter_map(|event| event.data["work"]["done"][0].as_str());
    let mut results: Vec<_> = results.map(str::to_owned).collect();
    results.sort();
    results
}

async fn r5_a_cron_fires(old: &Opened) -> Fallible<()> {
    let found = old.api.client.search_crons(json!({})).await?;
    assert_eq!(found[0]["cron_id"], old.kept.cron, "{found}");
    old.program.has_ticked().await;
    let done = old.newest(CRON).await?;
    assert_eq!(done.last().map(String::as_str), Some("ticked by now"));
    Ok(())
}

async fn r5_a_thread_that_rests_is_woken(old: &Opened) -> Fallible<()> {
    old.program.has_rested().await;
    assert_eq!(old.newest(RESTING).await?, ["rested by now"]);
    Ok(())
}

async fn r5_an_assistant_has_its_versions(old: &Opened) -> Fallible<()> {
    let assistant = &old.kept.assistant;
    let versions = old.api.versions(assistant).await?;
    let versions = versions.as_array().ok_or("no versions")?;
    let versions = versions.iter();
    let versions: Vec<_> = versions
        .map(|version| {
            (
                version["version"].as_u64(),
                version["context"]["tone"].as_str(),
            )
        })
        .collect();
    let tones = [(3, "cold"), (2, "warm"), (1, "dry")];
    assert_eq!(
        versions,
        tones.map(|(version, tone)| (Some(version), Some(tone)))
    );
    let run = NewRun::new(assistant.as_str()).input(json!({}));
    assert_eq!(lines(&old.api.client.wait(None, &run).await?)?, ["warm"]);
    let change = json!({"context": {"tone": "wry"}});
    let changed = old.api.client.update_assistant(assistant, change).await?;
    assert_eq!(changed["version"], 4, "{changed}");
    Ok(())
}

async fn r5_an_item_of_the_store_is_found(old: &Opened) -> Fallible<()> {
    let item = old.api.client.item(&["people", "ada"], "tea").await?;
    assert_eq!(item["value"]["by"], old.kept.program.as_str(), "{item}");
    Ok(())
}

/// What a checkpoint of a history is known by.
fn known(checkpoint: &Value) -> Value {
    let fields = [
        "checkpoint",
        "parent_checkpoint",
        "values",
        "next",
        "created_at",
    ];
    json!(fields.map(|field| &checkpoint[field]))
}

async fn r5_a_thread_that_has_ended_has_its_history_and_a_next_run(old: &Opened) -> Fallible<()> {
    let history = old.api.client.history(DONE, json!({"limit": 100})).await?;
    let history: Vec<_> = history
        .as_array()
        .ok_or("no history")?
        .iter()
        .map(known)
        .collect();
    let expected: Vec<_> = old.kept.history.iter().map(known).collect();
    assert_eq!(history, expected);
    let run = NewRun::new("note").input(json!({}));
    let values = old.api.client.wait(Some(DONE), &run).await?;
    let noted = old.before("noted");
    assert_eq!(lines(&values)?, [&*noted, &*noted, "noted by now"]);
    Ok(())
}
