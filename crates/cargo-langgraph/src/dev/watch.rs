//! Watches the files of a package.

use std::ffi::OsString;
use std::fs;
use std::io;
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
    /// Watches the packages of a project: all their files but those in `target` and in hidden folders, and those of the
    /// database.
    pub(super) fn new(project: &Project, database: &Path) -> Result<Self, DevError> {
        Self::over(project.sources.clone(), project.target.clone(), database)
    }

    fn over(sources: Vec<PathBuf>, target: PathBuf, database: &Path) -> Result<Self, DevError> {
        let (sender, changes) = mpsc::channel();
        let database = Database::new(database).map_err(|source| DevError::Folder {
            path: database.to_owned(),
            source,
        })?;
        let watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            if let Some(event) = event.ok().filter(|event| changes_files(event, &database)) {
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
fn changes_files(event: &Event, database: &Database) -> bool {
    let counts = !matches!(event.kind, EventKind::Access(_) | EventKind::Other);
    counts
        && event.paths.iter().any(|path| {
            !is_hidden(path)
                && path.file_name().is_none_or(|name| name != "Cargo.lock")
                && !database.contains(path)
        })
}

/// The files of a SQLite database, which the program writes itself.
struct Database {
    folder: PathBuf,
    name: OsString,
}

impl Database {
    fn new(file: &Path) -> io::Result<Self> {
        let file = std::path::absolute(file)?;
        Ok(Self {
            folder: fs::canonicalize(file.parent().unwrap_or(&file))?,
            name: file.file_name().unwrap_or_default().to_owned(),
        })
    }

    /// Returns true for the database, its log, and what SQLite needs for the time of a write.
    fn contains(&self, path: &Path) -> bool {
        let is_one = ["", "-wal", "-shm", "-journal"].iter().any(|end| {
            let mut name = self.name.clone();
            name.push(end);
            path.file_name() == Some(&*name)
        });
        let folder = || {
            path.parent()
                .and_then(|folder| fs::canonicalize(folder).ok())
        };
        is_one && folder().is_some_and(|folder| folder == self.folder)
    }
}

fn is_hidden(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| name.starts_with('.') || name.ends_with('~'))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};
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

    fn over(root: &Path, database: &Path) -> Watch {
        fs::create_dir_all(database.parent().expect("it is in a folder"))
            .expect("a folder is made");
        let watch = Watch::over(vec![root.to_owned()], root.join("target"), database);
        watch.expect("it is watched")
    }

    #[test]
    fn the_files_of_the_database_do_not_count() {
        let package = tempfile::tempdir().expect("there is a folder for the test");
        let root = package.path().to_owned();
        let mut watch = over(&root, &root.join("data/threads.db"));
        let write = |name: &str| fs::write(root.join(name), "").expect("a file is written");
        for end in ["", "-wal", "-shm", "-journal"] {
            write(&format!("data/threads.db{end}"));
        }
        // Others do, also those of the same name in another folder.
        write("threads.db");
        let changed = watch.changed(LONG);
        assert!(!changed.is_empty());
        let is_of_data = |path: &&PathBuf| path.starts_with(root.join("data"));
        assert_eq!(changed.iter().find(is_of_data), None);
        write("data/prompts.txt");
        wait_for(&mut watch, &root.join("data/prompts.txt"));
    }

    #[test]
    fn files_in_a_new_folder_are_seen() {
        let package = tempfile::tempdir().expect("there is a folder for the test");
        let root = package.path().to_owned();
        fs::create_dir(root.join("src")).expect("a folder is made");
        let mut watch = over(&root, &root.join(".langgraph/threads.db"));

        fs::write(root.join("src/lib.rs"), "").expect("a file is written");
        wait_for(&mut watch, &root.join("src/lib.rs"));
        fs::create_dir(root.join("prompts")).expect("a folder is made");
        wait_for(&mut watch, &root.join("prompts"));
        fs::write(root.join("prompts/system.txt"), "Be brief.").expect("a file is written");
        wait_for(&mut watch, &root.join("prompts/system.txt"));
    }
}
