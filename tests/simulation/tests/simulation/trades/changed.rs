//! A thread that is changed from outside, by one client or by two at a time.

use std::time::Duration;

use axum::http::{Method, StatusCode};
use serde_json::json;

use crate::customer::{Customer, Stopped};

pub(super) async fn trade(customer: &mut Customer) -> Result<(), Stopped> {
    if customer.done.is_empty() {
        // A thread on which nothing has run has no graph.
        return Ok(());
    }
    let order = customer.order_name();
    let one = format!("{order}/changed by one");
    if customer.site.world.below(3) == 0 {
        write(customer, &one).await?;
        customer.done.push(one);
        return Ok(());
    }
    for time in 0..=customer.site.world.below(4) {
        let words = ["one", "another"].map(|who| format!("{order}/changed by {who}, {time}"));
        write_both(customer, words).await?;
    }
    Ok(())
}

/// Lets two clients write a word each, at a time.
async fn write_both(customer: &mut Customer, mut words: [String; 2]) -> Result<(), Stopped> {
    let [one, other] = &words;
    let (wrote, other_wrote) = tokio::join!(write(customer, one), write(customer, other));
    wrote.and(other_wrote)?;
    let stored = customer.stored().await;
    // Which of them came first is open.
    if stored.get(customer.done.len()) == words.last() {
        words.reverse();
    }
    customer.done.extend(words);
    Ok(())
}

/// Writes a word. Such a request has no key: a client that does not know what became of it looks first.
async fn write(customer: &Customer, word: &String) -> Result<(), Stopped> {
    customer.site.world.record(format!("{word} is written"));
    let path = format!("{}/state", customer.thread);
    let body = json!({"values": {"done": [word]}});
    while !customer.stored().await.contains(word) {
        customer.client.pause().await;
        // A process that stands still between two calls of its database comes back too late.
        let world = &customer.site.world;
        if world.below(3) == 0 {
            world.is_delicate_for(Duration::from_millis(60));
        }
        let answer = customer.client.try_now(Method::POST, &path, &body).await;
        match answer {
            // The other one was faster.
            Some((StatusCode::CONFLICT, _)) | None => {}
            Some((status, _)) if status.is_success() => {}
            Some((status, answer)) => {
                return Err(customer.violated(format!("{path} answers {status}: {answer}")));
            }
        }
    }
    Ok(())
}
