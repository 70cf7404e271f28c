//! Runs that go on without their client.

use std::time::Duration;

use futures_util::StreamExt as _;
use langgraph_http::{NotResumable, Replay, ReplayOptions, Sse};
use serde_json::Value;

use crate::support::{Counting, fields};

/// The number of a frame, and its value if it is a custom event.
async fn next(body: &mut Sse) -> (String, String, Value) {
    fields(&body.next().await.expect("the body has ended"))
}

async fn rest(body: Sse) -> Vec<String> {
    let numbers = body.map(|text| {
        let (id, event, _) = fields(&text);
        let (_, number) = id.rsplit_once(':').unwrap();
        format!("{number} {event}")
    });
    numbers.collect().await
}

fn code(result: Result<Sse, NotResumable>) -> (&'static str, u16) {
    let error = result.expect_err("it is resumable");
    (error.code(), error.http_status())
}

#[tokio::test(start_paused = true)]
async fn a_client_goes_on_where_it_was() {
    let counting = Counting::to(4);
    let replay = Replay::default();
    let mut body = replay.keep("t", counting.events());
    counting.go.add_permits(2);
    next(&mut body).await;
    let (last, _, value) = next(&mut body).await;
    assert_eq!(value["data"]["value"], 1);
    drop(body);
    // Meanwhile the run goes on.
    counting.go.add_permits(1);
    tokio::time::sleep(Duration::from_secs(5)).await;
    let again = replay.resume("t", &last).unwrap();
    counting.go.add_permits(1);
    assert_eq!(rest(again).await, ["2 custom", "3 custom", "4 end"]);
    assert!(!counting.was_dropped());
}

#[tokio::test(start_paused = true)]
async fn several_clients_see_one_run() {
    let counting = Counting::to(3);
    let replay = Replay::default();
    let first = replay.keep("t", counting.events());
    let second = replay.follow("t").unwrap();
    counting.go.add_permits(3);
    let (first, second) = tokio::join!(rest(first), rest(second));
    assert_eq!(first, ["0 custom", "1 custom", "2 custom", "3 end"]);
    assert_eq!(first, second);
    assert_eq!(rest(replay.follow("t").unwrap()).await, first);
}

#[tokio::test(start_paused = true)]
async fn a_run_without_a_reader_is_dropped_after_its_grace() {
    let options = ReplayOptions::default().grace(Duration::from_secs(10));
    let replay = Replay::new(options);
    let counting = Counting::to(3);
    let mut body = replay.keep("t", counting.events());
    counting.go.add_permits(1);
    let (last, ..) = next(&mut body).await;
    // A reader that is connected, however slow, keeps it alive.
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert!(!counting.was_dropped());
    drop(body);
    tokio::time::sleep(Duration::from_secs(9)).await;
    assert!(!counting.was_dropped());
    let body = replay.resume("t", &last).unwrap();
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert!(!counting.was_dropped());
    drop(body);
    tokio::time::sleep(Duration::from_secs(11)).await;
    assert!(counting.was_dropped());
    assert_eq!(replay.running(), 0);
    let mut body = replay.resume("t", &last).unwrap();
    let (_, event, data) = next(&mut body).await;
    assert_eq!(
        (event.as_str(), &data["code"]),
        ("error", &"cancelled".into())
    );
}

#[tokio::test(start_paused = true)]
async fn without_grace_a_run_stops_with_its_last_client() {
    let replay = Replay::new(ReplayOptions::default().grace(Duration::ZERO));
    let counting = Counting::to(2);
    let first = replay.keep("t", counting.events());
    let second = replay.follow("t").unwrap();
    drop(first);
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(!counting.was_dropped());
    drop(second);
    replay.idle().await;
    assert!(counting.was_dropped());
}

#[tokio::test(start_paused = true)]
async fn what_is_kept_is_bounded_and_a_run_waits_for_its_slowest_reader() {
    let options = ReplayOptions::default().frames(2);
    let replay = Replay::new(options.grace(Duration::from_secs(3600)));
    let counting = Counting::to(40);
    counting.go.add_permits(40);
    let mut slow = replay.keep("t", counting.events());
    let fast = replay.follow("t").unwrap();
    let fast = tokio::spawn(rest(fast));
    let (first, ..) = next(&mut slow).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(!fast.is_finished());
    assert_eq!(rest(slow).await.len(), 40);
    assert_eq!(fast.await.unwrap().len(), 41);
    // The last two are kept.
    assert_eq!(rest(replay.follow("t").unwrap()).await.len(), 2);
    assert_eq!(code(replay.resume("t", &first)), ("forgotten", 410));
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_resumed_says_why() {
    let options = ReplayOptions::default().keep(Duration::from_secs(60));
    let replay = Replay::new(options);
    let counting = Counting::to(1);
    counting.go.add_permits(1);
    let events = counting.events();
    let run = events.run_id().to_owned();
    rest(replay.keep("t", events)).await;
    assert_eq!(code(replay.resume("t", "7")), ("invalid_input", 400));
    assert_eq!(
        code(replay.resume("u", &format!("{run}:0"))),
        ("not_found", 404)
    );
    // The id of a run under another name leads nowhere.
    assert_eq!(code(replay.resume("t", "other:0")), ("not_found", 404));
    assert_eq!(
        code(replay.resume("t", &format!("{run}:1"))),
        ("ended", 204)
    );
    assert_eq!(
        code(replay.resume("t", &format!("{run}:9"))),
        ("forgotten", 410)
    );
    assert_eq!(
        rest(replay.resume("t", &format!("{run}:0")).unwrap()).await,
        ["1 end"]
    );
    tokio::time::sleep(Duration::from_secs(61)).await;
    assert_eq!(
        code(replay.resume("t", &format!("{run}:0"))),
        ("not_found", 404)
    );
    assert_eq!(code(replay.follow("t")), ("not_found", 404));
}

#[tokio::test(start_paused = true)]
async fn a_run_is_cancelled_by_its_name() {
    let replay = Replay::default();
    let counting = Counting::to(2);
    let mut body = replay.keep("t", counting.events());
    counting.go.add_permits(1);
    next(&mut body).await;
    assert_eq!(replay.running(), 1);
    assert!(replay.cancel("t"));
    assert_eq!(rest(body).await, ["1 error"]);
    assert!(counting.was_dropped());
    replay.idle().await;
    assert!(!replay.cancel("t") && !replay.cancel("u"));
}

#[tokio::test(start_paused = true)]
async fn the_next_run_takes_the_name() {
    let replay = Replay::default();
    let (old, new) = (Counting::to(1), Counting::to(1));
    let first = replay.keep("t", old.events());
    let second = replay.keep("t", new.events());
    old.go.add_permits(1);
    assert_eq!(rest(first).await, ["0 custom", "1 end"]);
    // The end of the old one does not forget the new one.
    tokio::time::sleep(Duration::from_secs(61)).await;
    assert!(replay.follow("t").is_ok());
    new.go.add_permits(1);
    assert_eq!(rest(second).await, ["0 custom", "1 end"]);
}
