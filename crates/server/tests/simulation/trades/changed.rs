//! A thread that is changed from outside.

use axum::http::Method;
use serde_json::json;

use crate::customer::{Customer, Stopped};

pub(super) async fn trade(customer: &mut Customer) -> Result<(), Stopped> {
    if customer.done.is_empty() {
        // A thread on which nothing has run has no graph.
        return Ok(());
    }
    let word = format!("{}/changed", customer.order());
    customer.site.world.record(format!("{word} is written"));
    let path = format!("{}/state", customer.thread);
    let body = json!({"values": {"done": [word]}});
    // Such a request has no key: a client that does not know what became of it looks first.
    loop {
        if customer.stored().await.last() == Some(&word) {
            break;
        }
        let answer = customer.client.try_once(Method::POST, &path, &body).await;
        if let Some((status, answer)) = answer
            && !status.is_success()
        {
            return Err(customer.violated(format!("{path} answers {status}: {answer}")));
        }
    }
    customer.done.push(word);
    Ok(())
}
