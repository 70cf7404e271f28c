//! A note in the store.

use axum::http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::customer::{Customer, Stopped};

pub(super) async fn trade(customer: &mut Customer) -> Result<(), Stopped> {
    let label = format!("customer-{}", customer.number);
    let path = "/store/items";
    let read = format!("{path}?namespace={label}&key=note");
    for number in 0..=customer.site.world.below(3) {
        customer
            .site
            .world
            .record(format!("{label} notes {number}"));
        let body = json!({"namespace": [label], "key": "note", "value": {"number": number}});
        let (status, answer) = customer.client.ask(Method::PUT, path, None, &body).await;
        if status != StatusCode::NO_CONTENT {
            return Err(customer.violated(format!("{path} answers {status}: {answer}")));
        }
        let found = customer.client.get(&read).await;
        if found["value"]["number"] != json!(number) {
            return Err(customer.violated(format!("{label} finds {found} and not {number}")));
        }
    }
    let body = json!({"namespace": [label], "key": "note"});
    customer.client.ask(Method::DELETE, path, None, &body).await;
    let (status, found) = customer
        .client
        .ask(Method::GET, &read, None, &Value::Null)
        .await;
    if status != StatusCode::NOT_FOUND && !found.is_null() {
        return Err(customer.violated(format!("{label} finds {found}, which it deleted")));
    }
    Ok(())
}
