//! Watches the files of a package.

use std::fs;
use std::path::Path;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;

use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};

use super::DevError;
use crate::project::Project;

/// How long no file may change before a change counts: an editor writes several files.
const SETTLE: Duration = Duration::from_millis(30);

pub(super) struct Watch {
    changes: Receiver<()>,
    /// It ends when it is dropped.
    _watcher: RecommendedWatcher,
}

impl Watch {
    /// Watches the packages of a project: all their files but those in `target` and in hidden folders.
    pub(super) fn new(project: &Project) -> Result<Self, DevError> {
        let (sender, changes) = mpsc::channel();
        let failed = |path: &Path| {
            let path = path.to_owned();
            |source| DevError::Watch { path, source }
        };
        let mut watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            if event.is_ok_and(|event| changes_files(&event)) {
                // The receiver is gone when serving has ended.
                let _ = sender.send(());
            }
        })
        .map_err(failed(&project.folder))?;
        for folder in &project.sources {
            watcher
                .watch(folder, RecursiveMode::NonRecursive)
                .map_err(failed(folder))?;
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            for entry in entries
                .map(|entry| entry.path())
                .filter(|path| path.is_dir())
            {
                if entry != project.target && !is_hidden(&entry) && !entry.ends_with("target") {
                    watcher
                        .watch(&entry, RecursiveMode::Recursive)
                        .map_err(failed(&entry))?;
                }
            }
        }
        Ok(Self {
            changes,
            _watcher: watcher,
        })
    }

    /// Waits for a change, and returns whether there was one.
    pub(super) fn changed_within(&self, time: Duration) -> bool {
        if self.changes.recv_timeout(time) == Err(RecvTimeoutError::Timeout) {
            return false;
        }
        while self.changes.recv_timeout(SETTLE).is_ok() {}
        true
    }
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
