//! `dbos`: a workflow for each chain, which returns what its last step has returned.

mod clock;

use dbos::{Config, DBOS, RunOptions, step};

async fn chain(_: ()) -> dbos::Result<String> {
    let (mut text, mut at) = (String::new(), 0);
    for number in 0..clock::STEPS {
        let name = format!("step{number}");
        text = step(&name, || {
            at = clock::step(at);
            async { dbos::Result::Ok(clock::payload()) }
        })
        .await?;
    }
    Ok(text)
}

fn main() {
    let url = std::env::var("DATABASE_URL").unwrap();
    let connections = std::env::var("CONNECTIONS").unwrap();
    let config = Config {
        app_version: Some("1".to_owned()),
        max_connections: connections.parse().unwrap(),
        ..Config::new("durable-chain", url)
    };
    clock::runtime().block_on(async {
        let dbos = DBOS::new(config);
        let workflow = dbos.register_workflow("chain", chain).unwrap();
        dbos.launch().await.unwrap();
        clock::measure(move |name| {
            let workflow = workflow.clone();
            async move {
                let options = RunOptions {
                    workflow_id: Some(&name),
                    ..RunOptions::default()
                };
                workflow.run_with((), options).await.unwrap();
            }
        })
        .await;
    });
}
