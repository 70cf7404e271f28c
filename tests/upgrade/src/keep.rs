//! Keeping what a release stores.

use std::path::Path;

use crate::process::Process;
use crate::states::states;
use crate::{Api, Fallible, Kind, Storage};

/// Runs this program as that of a release, and keeps what it has stored in the folder, whose name is that of the
/// release.
///
/// # Errors
///
/// If the folder exists: what a release has stored does not change.
pub async fn keep(release: &Path) -> Fallible<()> {
    let name = release.file_name().and_then(|name| name.to_str());
    let name = name.ok_or("the folder of a release has its name")?;
    std::fs::create_dir(release).map_err(|error| format!("{}: {error}", release.display()))?;
    let kept = both(release, name).await;
    if kept.is_err() {
        std::fs::remove_dir_all(release)?;
    }
    kept
}

async fn both(release: &Path, name: &str) -> Fallible<()> {
    for kind in [Kind::Sqlite, Kind::Postgres] {
        let folder = tempfile::tempdir()?;
        let storage = Storage::empty(kind, folder.path()).await?;
        let process = Process::start(&storage, name)?;
        let kept = states(&Api::new(&process.url)?, name).await?;
        // It is killed while the map is half done.
        drop(process);
        kept.write(release, kind)?;
        storage.dump(release)?;
        storage.remove().await?;
    }
    Ok(())
}
