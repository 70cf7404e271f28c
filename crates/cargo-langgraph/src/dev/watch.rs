//! Watches the files of a package.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};

use super::DevError;
use crate::project::Project;

/// How long no file may change before a change counts: an editor writes several files.
const SETTLE: Duration = Duration::from_millis(30);

pub(super) struct Watch {
    changes: Receiver<Vec<PathBuf>>,
    /// It ends when it is dropped.
    watcher: RecommendedWatcher,
    /// The folders of the packages.
    sources: Vec<PathBuf>,
    /// The folder that Cargo builds into.
    target: PathBuf,
}

impl Watch {
    /// Watches the packages of a project: all their files but those in `target` and in hidden folders.
    pub(super) fn new(project: &Project) -> Result<Self, DevError> {
        Self::over(project.sources.clone(), project.target.clone())
    }

    fn over(sources: Vec<PathBuf>, target: PathBuf) -> Result<Self, DevError> {
        let (sender, changes) = mpsc::channel();
        let watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            if let Some(event) = event.ok().filter(changes_files) {
                // The receiver is gone when serving has ended.
                let _ = sender.send(event.paths);
            }
        });
        let mut watch = Self {
            changes,
            watcher: watcher.map_err(|source| failed(&target, source))?,
            sources,
            target,
        };
        for folder in watch.sources.clone() {
            watch.add(&folder, RecursiveMode::NonRecursive)?;
            let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
            for entry in entries.map(|entry| entry.path()) {
                if watch.has_code(&entry) {
                    watch.add(&entry, RecursiveMode::Recursive)?;
                }
            }
        }
        Ok(watch)
    }

    fn add(&mut self, folder: &Path, mode: RecursiveMode) -> Result<(), DevError> {
        let added = self.watcher.watch(folder, mode);
        added.map_err(|source| failed(folder, source))
    }

    /// Returns true for a folder directly in that of a package, unless it is hidden or holds what is built.
    fn has_code(&self, folder: &Path) -> bool {
        let is_top = folder
            .parent()
            .is_some_and(|parent| self.sources.iter().any(|source| source == parent));
        is_top
            && folder.is_dir()
            && folder != self.target
            && !is_hidden(folder)
            && !folder.ends_with("target")
    }

    /// Waits for a change, and returns whether there was one.
    pub(super) fn changed_within(&mut self, time: Duration) -> bool {
        !self.changed(time).is_empty()
    }

    /// Waits for a change, and returns the paths. New folders are watched from then on.
    fn changed(&mut self, time: Duration) -> Vec<PathBuf> {
        let Ok(mut changed) = self.changes.recv_timeout(time) else {
            return Vec::new();
        };
        while let Ok(paths) = self.changes.recv_timeout(SETTLE) {
            changed.extend(paths);
        }
        for folder in &changed {
            if self.has_code(folder) {
                // It may be gone again.
                let _ = self.add(folder, RecursiveMode::Recursive);
            }
        }
        changed
    }
}

fn failed(path: &Path, source: notify::Error) -> DevError {
    let path = path.to_owned();
    DevError::Watch { path, source }
}

/// True if files with code may have changed. Cargo decides whether they have.
fn changes_files(event: &Event) -> bool {
    let counts = !matches!(event.kind, EventKind::Access(_) | EventKind::Other);
    counts
        && event.paths.iter().any(|path| {
            !is_hidden(path) && path.file_name().is_none_or(|name| name != "Cargo.lock")
        })
}

fn is_hidden(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| name.starts_with('.') || name.ends_with('~'))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::time::Duration;

    use super::Watch;

    /// Longer than any event takes: the test waits for events, not for this.
    const LONG: Duration = Duration::from_secs(60);

    fn wait_for(watch: &mut Watch, path: &Path) {
        loop {
            let changed = watch.changed(LONG);
            assert!(
                !changed.is_empty(),
                "nothing was seen of {}",
                path.display()
            );
            if changed.iter().any(|one| one == path) {
                return;
            }
        }
    }

    #[test]
    fn files_in_a_new_folder_are_seen() {
        let package = tempfile::tempdir().expect("there is a folder for the test");
        let root = package.path().to_owned();
        fs::create_dir(root.join("src")).expect("a folder is made");
        let mut watch =
            Watch::over(vec![root.clone()], root.join("target")).expect("it is watched");

        fs::write(root.join("src/lib.rs"), "").expect("a file is written");
        wait_for(&mut watch, &root.join("src/lib.rs"));
        fs::create_dir(root.join("prompts")).expect("a folder is made");
        wait_for(&mut watch, &root.join("prompts"));
        fs::write(root.join("prompts/system.txt"), "Be brief.").expect("a file is written");
        wait_for(&mut watch, &root.join("prompts/system.txt"));
    }
}
