//! Restate with its SDK for Rust: a call of a service for each chain, in which each step is a `ctx.run`. The service
//! and its callers are this process.

mod clock;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use restate_sdk::prelude::*;
use tokio::net::TcpListener;

struct Chain;

#[service]
impl Chain {
    #[handler]
    async fn run(&self, ctx: Context<'_>) -> HandlerResult<String> {
        let (mut text, at) = (String::new(), Arc::new(AtomicU64::new(0)));
        for number in 0..clock::STEPS {
            let at = Arc::clone(&at);
            let step = ctx.run(move || async move {
                at.store(clock::step(at.load(Ordering::Relaxed)), Ordering::Relaxed);
                Ok(clock::payload())
            });
            text = step.name(format!("step{number}")).await?;
        }
        Ok(text)
    }
}

fn main() {
    clock::runtime().block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let uri = format!("http://{}", listener.local_addr().unwrap());
        let server = HttpServer::new(Endpoint::builder().bind(Chain).build());
        tokio::spawn(server.serve(listener));

        let client = reqwest::Client::new();
        let admin = std::env::var("RESTATE_ADMIN_URL").unwrap();
        let deployments = client.post(format!("{admin}/deployments"));
        let body = serde_json::json!({"uri": uri, "force": true});
        let registered = deployments
            .header("content-type", "application/json")
            .body(body.to_string());
        registered.send().await.unwrap().error_for_status().unwrap();

        let ingress = std::env::var("RESTATE_URL").unwrap();
        clock::measure(move |_| {
            let call = client.post(format!("{ingress}/Chain/run"));
            async move {
                let answer = call.send().await.unwrap().error_for_status().unwrap();
                assert_eq!(
                    answer.bytes().await.unwrap().len(),
                    clock::payload().len() + 2
                );
            }
        })
        .await;
    });
}
