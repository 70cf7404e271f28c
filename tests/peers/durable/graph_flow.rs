//! `graph-flow` with its own PostgreSQL storage: a session for each chain, which is loaded before each task and
//! saved after it. A session is the newest state; it keeps no history.

mod clock;

use std::sync::Arc;

use graph_flow::{
    Context, ExecutionStatus, FlowRunner, GraphBuilder, NextAction, PostgresSessionStorage, Result,
    Session, SessionStorage, Task, TaskResult,
};

struct Step {
    id: String,
    last: bool,
}

#[async_trait::async_trait]
impl Task for Step {
    fn id(&self) -> &str {
        &self.id
    }

    async fn run(&self, cx: Context) -> Result<TaskResult> {
        cx.set("at", clock::step(cx.get("at").unwrap_or(0)))?;
        cx.set("text", clock::payload())?;
        let next = if self.last {
            NextAction::End
        } else {
            NextAction::Continue
        };
        Ok(TaskResult::new(None, next))
    }
}

fn main() {
    clock::runtime().block_on(async {
        let url = std::env::var("DATABASE_URL").unwrap();
        let connections = std::env::var("CONNECTIONS").unwrap();
        let pool =
            sqlx::postgres::PgPoolOptions::new().max_connections(connections.parse().unwrap());
        let pool = pool.connect(&url).await.unwrap();
        let storage = PostgresSessionStorage::with_pool(pool).await.unwrap();
        let storage: Arc<dyn SessionStorage> = Arc::new(storage);

        let mut graph = GraphBuilder::new("chain");
        let names: Vec<_> = (1..=clock::STEPS)
            .map(|step| format!("step{step}"))
            .collect();
        for id in &names {
            let last = Some(id) == names.last();
            graph = graph.add_task(Arc::new(Step {
                id: id.clone(),
                last,
            }));
        }
        for pair in names.windows(2) {
            graph = graph.add_edge(&*pair[0], &*pair[1]);
        }
        let runner = FlowRunner::new(Arc::new(graph.build().unwrap()), Arc::clone(&storage));
        clock::measure(move |name| {
            let (runner, storage) = (runner.clone(), Arc::clone(&storage));
            async move {
                let session = Session::new_from_task(name.clone(), "step1");
                storage.save(session).await.unwrap();
                for step in 1..=clock::STEPS {
                    let executed = runner.run(&name).await.unwrap();
                    let ended = matches!(executed.status, ExecutionStatus::Completed);
                    assert_eq!(ended, step == clock::STEPS);
                }
            }
        })
        .await;
    });
}
