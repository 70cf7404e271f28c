//! A thread that is removed, maybe while a run has it, and while another client changes it.

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::customer::{Customer, Stopped};

pub(super) async fn trade(customer: &mut Customer) -> Result<(), Stopped> {
    let world = customer.site.world.clone();
    if customer.done.is_empty() || world.below(2) == 0 {
        let order = customer.order(2, false);
        let asks = json!({"input": order.input()});
        customer.begin(&order.name, &asks).await;
        tokio::time::sleep(world.up_to(600)).await;
    }
    let thread = customer.thread.clone();
    world.record(format!("{thread} is removed"));
    let remove = customer
        .client
        .ask(Method::DELETE, &thread, None, &Value::Null);
    let ((status, text), ()) = tokio::join!(remove, change(customer));
    // An earlier attempt may have removed it.
    if status != StatusCode::NO_CONTENT && status != StatusCode::NOT_FOUND {
        return Err(customer.violated(format!("{thread} is not removed: {status}, {text}")));
    }
    stays_removed(customer).await?;
    if world.below(2) == 0 {
        customer.open_thread().await;
    } else {
        world.record(format!("{thread} is opened again"));
        customer.reopen_thread().await;
    }
    Ok(())
}

/// Changes the thread, whether it is still there or not.
async fn change(customer: &Customer) {
    let path = format!("{}/state", customer.thread);
    for _ in 0..customer.site.world.below(4) {
        tokio::time::sleep(customer.site.world.up_to(20)).await;
        let body = json!({"values": {"done": ["what comes too late"]}});
        customer.client.try_now(Method::POST, &path, &body).await;
    }
}

/// Checks that nothing that still runs brings the thread back.
pub(super) async fn stays_removed(customer: &Customer) -> Result<(), Stopped> {
    let thread = &customer.thread;
    for _ in 0..4 {
        tokio::time::sleep(customer.site.world.up_to(2_000)).await;
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
    Ok(())
}
