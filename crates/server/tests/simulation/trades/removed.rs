//! A thread that is removed, maybe while a run has it.

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::customer::{Customer, Stopped};

pub(super) async fn trade(customer: &mut Customer) -> Result<(), Stopped> {
    let world = customer.site.world.clone();
    let order = customer.order();
    let input = json!({"order": order, "steps": 2, "asks": false});
    customer.begin(&order, &json!({"input": input})).await;
    tokio::time::sleep(world.up_to(600)).await;
    let thread = customer.thread.clone();
    world.record(format!("{order} is thrown away with its thread"));
    let (status, text) = customer
        .client
        .ask(Method::DELETE, &thread, None, &Value::Null)
        .await;
    // An earlier attempt may have removed it.
    if status != StatusCode::NO_CONTENT && status != StatusCode::NOT_FOUND {
        return Err(customer.violated(format!("{thread} is not removed: {status}, {text}")));
    }
    // Nothing that still runs brings it back.
    for _ in 0..4 {
        tokio::time::sleep(world.up_to(2_000)).await;
        for path in [thread.clone(), format!("{thread}/state")] {
            let (status, text) = customer
                .client
                .ask(Method::GET, &path, None, &Value::Null)
                .await;
            if status != StatusCode::NOT_FOUND {
                let text = format!("{path} was removed, and answers {status}: {text}");
                return Err(customer.violated(text));
            }
        }
    }
    customer.open_thread().await;
    Ok(())
}
