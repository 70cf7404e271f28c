//! An order, with a question or without.

use serde_json::json;

use crate::customer::{Customer, Stopped};

pub(super) async fn trade(customer: &mut Customer) -> Result<(), Stopped> {
    let world = customer.site.world.clone();
    let steps = u32::try_from(world.below(5)).unwrap_or_default();
    let asks = world.below(2) == 0;
    let placed = customer.order(steps, asks);
    let order = &placed.name;
    let input = json!({"input": placed.input()});
    let first = customer.run(order, &input).await;
    customer.ends(&first, &["success"])?;
    let mut events = first.events;
    let mut answer = None;
    let mut wanted = Vec::new();
    if asks {
        let state = customer.state().await;
        if state["next"] != json!(["ask"]) {
            return Err(customer.violated(format!("{order} does not ask: {state}")));
        }
        world.record(format!("{order} is approved"));
        answer = Some("yes");
        let mut command = json!({"resume": answer});
        // What is added at once with an answer.
        if world.below(3) == 0 {
            let word = format!("{order}/word");
            command["update"] = json!({"done": [word]});
            wanted.push(word);
        }
        let key = format!("{order}/answer");
        let second = customer.run(&key, &json!({"command": command})).await;
        customer.ends(&second, &["success"])?;
        events.extend(second.events);
    }
    let all = placed.expected(answer);
    let acts = |what: &&String| what.ends_with("/paid") || what.contains("/parcel ");
    for what in all.iter().filter(acts) {
        if customer.site.ledger.times(what) == 0 {
            return Err(customer.violated(format!("{what} was not done")));
        }
    }
    for what in all.iter().filter(|what| what.contains("/step ")) {
        let shows =
            |(_, kind, data): &(String, String, String)| kind == "custom" && data.contains(&**what);
        if !events.iter().any(shows) {
            return Err(customer.violated(format!("no client has seen {what}, but {events:?}")));
        }
    }
    // The steps come before the question, and so before a word with its answer.
    let steps = all.iter().filter(|what| what.contains("/step ")).count();
    let (before, behind) = all.split_at(steps);
    customer.done.extend_from_slice(before);
    customer.done.extend(wanted);
    customer.done.extend_from_slice(behind);
    Ok(())
}
