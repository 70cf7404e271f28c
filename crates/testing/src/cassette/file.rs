//! The file of a cassette.

use std::fs;
use std::path::{Path, PathBuf};

use super::{CassetteError, Exchange};

/// A file that is written as a whole: it has the content of one write, or of the one before.
pub(super) struct CassetteFile(PathBuf);

impl CassetteFile {
    pub(super) fn new(path: impl AsRef<Path>) -> Self {
        Self(path.as_ref().to_owned())
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    pub(super) fn read(&self) -> Result<Vec<Exchange>, CassetteError> {
        let read = || -> Result<_, Box<dyn std::error::Error + Send + Sync>> {
            Ok(serde_json::from_str(&fs::read_to_string(&self.0)?)?)
        };
        read().map_err(|error| CassetteError::read(&self.0, error))
    }

    /// Returns the content, if the file exists; and fails if the file could not be replaced.
    pub(super) fn before_recording(&self) -> Result<Option<Vec<u8>>, CassetteError> {
        let begin = || {
            if let Some(folder) = self.0.parent() {
                fs::create_dir_all(folder)?;
            }
            fs::write(self.draft(), "")?;
            fs::remove_file(self.draft())?;
            let earlier = fs::exists(&self.0)?.then(|| fs::read(&self.0));
            earlier.transpose()
        };
        begin().map_err(|error: std::io::Error| CassetteError::write(&self.0, error))
    }

    pub(super) fn write(&self, exchanges: &[&Exchange]) -> Result<(), CassetteError> {
        let text = serde_json::to_string_pretty(exchanges)
            .map_err(|error| CassetteError::write(&self.0, error))?;
        self.replace((text + "\n").as_bytes())
    }

    pub(super) fn replace(&self, content: &[u8]) -> Result<(), CassetteError> {
        // A write that is cut off leaves the file as it was.
        let draft = self.draft();
        let written = fs::write(&draft, content).and_then(|()| fs::rename(&draft, &self.0));
        written.map_err(|error| CassetteError::write(&self.0, error))
    }

    fn draft(&self) -> PathBuf {
        self.0.with_extension("draft")
    }
}
