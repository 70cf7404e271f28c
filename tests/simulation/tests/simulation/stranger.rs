//! A stranger on the network of the queue: it sends rubbish, and messages in the name of a worker that is not there.

use langgraph_nats::link::{Link, Packet};
use serde_json::{Value, json};

use crate::site::Site;
use crate::worker::QUEUE;

/// Sends such messages to drivers and workers whose names it has heard.
pub(crate) async fn disturb(site: Site) {
    let machine = site.network.link("a stranger");
    let subject = |rest: &str| format!("langgraph.{QUEUE}.{rest}");
    let Ok(mut heard) = machine.listen(subject("all")).await else {
        return;
    };
    while let Some(packet) = heard.recv().await {
        let Some(to) = sender(&packet) else { continue };
        for _ in 0..site.world.below(4) {
            tokio::time::sleep(site.world.up_to(300)).await;
            let message = message(&site);
            site.world.record(format!("a stranger says {message}"));
            let message = message.into_bytes().into();
            let _ = machine.send(subject(&to), None, message).await;
        }
    }
}

/// Returns the end of the subject of who has sent an announcement.
fn sender(packet: &Packet) -> Option<String> {
    let said: Value = serde_json::from_slice(packet.payload.as_ref()?).ok()?;
    let driver = said["work"]["driver"].as_str();
    let worker = said["hello"]["worker"].as_str();
    let driver = driver.map(|driver| format!("driver.{driver}"));
    driver.or_else(|| worker.map(|worker| format!("worker.{worker}")))
}

/// Returns a message. The stranger has no task.
fn message(site: &Site) -> String {
    let world = &site.world;
    let task = world.below(20);
    let of_nobody = |what: &str, mut said: Value| {
        said["worker"] = "nobody".into();
        json!({what: said}).to_string()
    };
    match world.below(6) {
        0 => "rubbish".to_owned(),
        1 => of_nobody(
            "done",
            json!({"tasks": [{"task": task, "reply": {"inline": {}}}]}),
        ),
        2 => of_nobody("pong", json!({"number": task, "tasks": [task]})),
        3 => of_nobody("report", json!({"task": task, "report": "rubbish"})),
        _ => {
            let objects = site.network.objects(QUEUE);
            let last = objects.last().map_or("state-0", |name| name);
            of_nobody(
                "done",
                json!({"tasks": [{"task": task, "reply": {"stored": last}}]}),
            )
        }
    }
}
