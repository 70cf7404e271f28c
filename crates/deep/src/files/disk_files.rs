//! Files in a folder of the disk.

use std::fs;
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use langgraph_agent::{ToolError, async_trait};
use langgraph_middleware::Root;

use super::{FileContext, Files};

/// Files in one folder of the disk, and no way out of it: paths with `..` and through links are refused.
///
/// A write replaces the file as a whole, so that no reader sees half of one. Until then the new text is in a draft,
/// `.NAME.draft`, which lists and searches leave out; and so they do with folders `.git`.
///
/// # Examples
///
/// ```
/// use langgraph_agent::ScriptedModel;
/// use langgraph_deep::{DiskFiles, FileAccess, FilePermissions, deep_agent};
///
/// let agent = deep_agent(ScriptedModel::new(["hi"]))
///     .files(DiskFiles::new("/srv/scratch"))
///     .permissions(FilePermissions::new().on("/src/**", FileAccess::Write)?.otherwise(FileAccess::Read))
///     .compile();
/// # assert!(agent.is_ok());
/// # Ok::<(), langgraph_agent::ToolError>(())
/// ```
#[derive(Clone, Debug)]
pub struct DiskFiles {
    root: Root,
    largest: u64,
}

impl DiskFiles {
    /// Uses this folder, and files of up to ten megabytes.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            root: Root::new(folder),
            largest: 10 << 20,
        }
    }

    /// Sets the size of files, in bytes, above which they are not read.
    #[must_use]
    pub fn largest(mut self, bytes: u64) -> Self {
        self.largest = bytes;
        self
    }

    fn read_file(&self, named: &str) -> Result<Option<String>, ToolError> {
        let path = self.root.resolve(named)?;
        let data = match fs::symlink_metadata(&path) {
            Ok(data) if data.is_file() => data,
            Ok(_) => return Ok(None),
            Err(error) if is_missing(&error) => return Ok(None),
            Err(error) => return Err(failed("read", named, &error)),
        };
        if data.len() > self.largest {
            return Err(ToolError::model(format!(
                "the file `{named}` has {} bytes, and the limit is {}",
                data.len(),
                self.largest
            )));
        }
        match fs::read_to_string(&path) {
            Ok(text) => Ok(Some(text)),
            Err(error) if is_missing(&error) => Ok(None),
            Err(error) if error.kind() == ErrorKind::InvalidData => {
                Err(ToolError::model(format!("the file `{named}` is not text")))
            }
            Err(error) => Err(failed("read", named, &error)),
        }
    }

    fn write_file(&self, named: &str, text: &str) -> Result<(), ToolError> {
        let path = self.root.resolve(named)?;
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(ToolError::model("name a file, not the folder"));
        };
        if path.is_dir() {
            return Err(ToolError::model(format!("`{named}` is a folder")));
        }
        let written = fs::create_dir_all(folder).and_then(|()| {
            // A new name takes the place of a link, and does not follow it.
            let draft = folder.join(format!(".{}{DRAFT}", name.to_string_lossy()));
            replace(&draft, &path, text)
        });
        written.map_err(|error| failed("write", named, &error))
    }
}

/// The end of the name of a draft.
const DRAFT: &str = ".draft";

/// Returns true if files and folders of this name are listed.
fn is_listed(name: &str) -> bool {
    name != ".git" && !(name.starts_with('.') && name.ends_with(DRAFT))
}

/// Writes a new file, and puts it into the place of another.
fn replace(draft: &Path, path: &Path, text: &str) -> io::Result<()> {
    match fs::remove_file(draft) {
        Err(error) if !is_missing(&error) => return Err(error),
        _ => {}
    }
    let mut file = fs::File::create_new(draft)?;
    file.write_all(text.as_bytes())?;
    if let Ok(data) = fs::metadata(path) {
        file.set_permissions(data.permissions())?;
    }
    file.sync_all()?;
    fs::rename(draft, path)
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

fn failed(what: &str, named: &str, error: &io::Error) -> ToolError {
    ToolError::model(format!("cannot {what} `{named}`: {error}"))
}

#[async_trait]
impl Files for DiskFiles {
    async fn read(&self, path: &str, _: FileContext<'_>) -> Result<Option<String>, ToolError> {
        let (files, path) = (self.clone(), path.to_owned());
        blocking(move || files.read_file(&path)).await
    }

    async fn write(&self, path: &str, text: &str, _: FileContext<'_>) -> Result<(), ToolError> {
        let (files, path, text) = (self.clone(), path.to_owned(), text.to_owned());
        blocking(move || files.write_file(&path, &text)).await
    }

    async fn paths(&self, folder: &str, _: FileContext<'_>) -> Result<Vec<String>, ToolError> {
        let (root, folder) = (self.root.clone(), folder.to_owned());
        blocking(move || {
            let folder = root.resolve(&folder)?;
            let files = if folder.is_file() {
                vec![folder]
            } else {
                root.files_with(&folder, is_listed)
            };
            let mut paths: Vec<String> = files
                .iter()
                .map(|file| format!("/{}", root.shown(file)))
                .collect();
            paths.sort_unstable();
            Ok(paths)
        })
        .await
    }
}

/// Works with the disk on a thread where that holds up nothing else.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|_| Err(ToolError::model("the work with the file has failed")))
}
