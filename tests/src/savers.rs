//! Savers by name.

use std::sync::Arc;

use langgraph::checkpoint::{Checkpointer, MemorySaver};

use crate::ByteSaver;

/// A saver, with what has to stay as long as it is used.
#[derive(Clone)]
pub struct Opened {
    /// The saver.
    pub saver: Arc<dyn Checkpointer>,
    /// Goes with the last of them.
    #[cfg(feature = "sqlite")]
    folder: Option<Arc<tempfile::TempDir>>,
}

impl Opened {
    fn new(saver: impl Checkpointer) -> Self {
        Self {
            saver: Arc::new(saver),
            #[cfg(feature = "sqlite")]
            folder: None,
        }
    }
}

impl std::fmt::Debug for Opened {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut opened = f.debug_struct("Opened");
        #[cfg(feature = "sqlite")]
        opened.field("folder", &self.folder);
        opened.finish_non_exhaustive()
    }
}

/// The saver of that name: `memory`, `bytes`, `sqlite` or `postgres`.
///
/// # Errors
///
/// When there is none, this build has none, or it cannot be opened.
pub async fn open_saver(name: &str) -> Result<Opened, String> {
    match name {
        "memory" => Ok(Opened::new(MemorySaver::new())),
        "bytes" => Ok(Opened::new(ByteSaver::default())),
        "sqlite" => sqlite(),
        "postgres" => postgres().await,
        other => Err(format!(
            "no saver `{other}`; there are `memory`, `bytes`, `sqlite` and `postgres`"
        )),
    }
}

#[cfg(feature = "sqlite")]
fn sqlite() -> Result<Opened, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let saver = langgraph_sqlite::SqliteSaver::open(folder.path().join("threads.db"));
    let mut opened = Opened::new(saver.map_err(|error| error.to_string())?);
    opened.folder = Some(Arc::new(folder));
    Ok(opened)
}

#[cfg(not(feature = "sqlite"))]
fn sqlite() -> Result<Opened, String> {
    Err("this build is without SQLite; add `--features sqlite`".to_owned())
}

#[cfg(feature = "postgres")]
async fn postgres() -> Result<Opened, String> {
    let url = std::env::var("DATABASE_URL");
    let url = url.map_err(|_| "`DATABASE_URL` names no server")?;
    let saver = langgraph_postgres::PostgresSaver::connect(&url).await;
    Ok(Opened::new(saver.map_err(|error| error.to_string())?))
}

#[cfg(not(feature = "postgres"))]
async fn postgres() -> Result<Opened, String> {
    Err("this build is without PostgreSQL; add `--features postgres`".to_owned())
}
