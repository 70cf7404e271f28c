//! Empty folders for tests, below cargo's folder for them.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A folder that is gone when the test ends.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn empty() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!(
            "{}-{}-{count}",
            env!("CARGO_CRATE_NAME"),
            std::process::id()
        );
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    pub(crate) fn with(files: &[&str]) -> Self {
        let folder = Folder::empty();
        for file in files {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        folder
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A folder that stays behind does no harm.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
