//! Writes the files of `tests/golden` again. Read `langgraph_tests::golden` before you run it.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use langgraph::checkpoint::{Checkpointer, Formats, Json};
use langgraph_codecs::{Encrypted, Key, MessagePack, Zstd};
use langgraph_sqlite::SqliteSaver;
use langgraph_tests::ByteSaver;
use langgraph_tests::golden::{Fallible, dump, expected, folder, write};

#[tokio::main]
async fn main() -> ExitCode {
    match files(&folder()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// The key that the test reads with.
fn key() -> Key {
    Key::new("golden", &[7; 32])
}

async fn files(folder: &Path) -> Fallible<()> {
    for (name, formats) in [
        ("json", Formats::new(Json)),
        ("messagepack", Formats::new(MessagePack)),
        ("zstd", Formats::new(Zstd::new(Json))),
        ("encrypted", Formats::new(Encrypted::new(Json, key()))),
    ] {
        let bytes = Arc::new(ByteSaver::new(formats));
        let saver: Arc<dyn Checkpointer> = Arc::<ByteSaver>::clone(&bytes);
        write(&saver).await?;
        std::fs::write(folder.join(format!("{name}.jsonl")), dump(&bytes)?)?;
    }
    let file = folder.join("sqlite.db");
    if file.exists() {
        std::fs::remove_file(&file)?;
    }
    let saver: Arc<dyn Checkpointer> = Arc::new(SqliteSaver::open(&file)?);
    write(&saver).await?;
    drop(saver);
    // Reading continues the threads, so it uses a copy.
    let copies = tempfile::tempdir()?;
    let copy = copies.path().join("sqlite.db");
    std::fs::copy(&file, &copy)?;
    let saver: Arc<dyn Checkpointer> = Arc::new(SqliteSaver::open(&copy)?);
    std::fs::write(folder.join("expected.txt"), expected(&saver).await?)?;
    Ok(())
}
