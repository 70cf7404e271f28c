//! The saver is held to the suite of the library.

use std::sync::{Arc, Mutex, PoisonError};

use langgraph::checkpoint::{Checkpointer, Formats};
use langgraph_codecs::{Encrypted, Key, MessagePack};
use langgraph_conformance::checkpoint;
use langgraph_postgres::{Database, PostgresSaver};
use support::{Schema, url};

mod support;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_saver_conforms() {
    conforms(Formats::default()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_saver_conforms_in_a_secret_binary_format() {
    let format = Encrypted::new(MessagePack, Key::new("k", &[7; 32]));
    conforms(Formats::new(format)).await;
}

async fn conforms(formats: Formats) {
    let schemas = Mutex::new(Vec::new());
    let report = checkpoint::run(async || {
        let schema = Schema::new();
        let url = url();
        let connecting = Database::connect_with(&url, schema.options());
        schemas
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(schema);
        let saver = PostgresSaver::new(connecting.await?).with_formats(formats.clone());
        Ok(Arc::new(saver) as Arc<dyn Checkpointer>)
    });
    let report = report.await;
    report.assert_ok();
    assert!(report.skipped.is_empty(), "{report}");
}
