//! The saver is held to the suite of the library.

use std::sync::{Arc, Mutex};

use langgraph::checkpoint::{Checkpointer, conformance};
use langgraph_postgres::{Database, PostgresSaver};
use support::{Schema, url};

mod support;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_saver_conforms() {
    let schemas = Mutex::new(Vec::new());
    let report = conformance::run(async || {
        let schema = Schema::new();
        let url = url();
        let connecting = Database::connect_with(&url, schema.options());
        schemas.lock().unwrap().push(schema);
        Ok(Arc::new(PostgresSaver::new(connecting.await?)) as Arc<dyn Checkpointer>)
    });
    report.await.assert_ok();
}
