//! Makes a package from a template.

use std::path::{Path, PathBuf};
use std::{fs, io};

use workspace::workspace_around;

mod workspace;

/// A template: its name, and its files with their text.
struct Template {
    name: &'static str,
    files: &'static [(&'static str, &'static str)],
}

macro_rules! template {
    ($name:literal: $($file:literal),*) => {
        Template {
            name: $name,
            files: &[
                // Cargo leaves a folder with a `Cargo.toml` out of a package.
                ("Cargo.toml", include_str!(concat!("../templates/", $name, "/Cargo.toml.template"))),
                (".gitignore", include_str!(concat!("../templates/", $name, "/gitignore.template"))),
                $(($file, include_str!(concat!("../templates/", $name, "/", $file))),)*
            ],
        }
    };
}

const TEMPLATES: &[Template] = &[
    template!("agent": "src/lib.rs", "src/main.rs", "src/model.rs", "tests/agent.rs"),
    template!("workflow": "src/lib.rs", "src/main.rs", "tests/order.rs"),
    template!("functional": "src/lib.rs", "src/main.rs", "tests/order.rs"),
    template!("service": "src/lib.rs", "src/main.rs", "tests/service.rs"),
];

/// The crates that a template can depend on, and their folders.
const CRATES: &[(&str, &str)] = &[
    ("langgraph", "langgraph"),
    ("langgraph-agent", "crates/agent"),
    ("langgraph-client", "crates/client"),
    ("langgraph-functional", "crates/functional"),
    ("langgraph-server", "crates/server"),
];

/// The profile of a package that is no member of a workspace. Cargo reads profiles in the manifest of a workspace only.
const PROFILE: &str = include_str!("../templates/profile.template");

/// Where a new package gets `langgraph` from.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Library {
    /// A folder with the repository of `langgraph`.
    Path(PathBuf),
    /// The address of that repository.
    Git(String),
}

/// The error of making a package.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum NewError {
    /// The name of the folder is no name of a package.
    #[error(
        "`{0}` cannot be the name of a package: expected letters, digits, `-` and `_`, beginning with a \
         letter, and neither a word of Rust nor the name of a dependency"
    )]
    Name(String),
    /// The folder exists.
    #[error("{} exists already", .0.display())]
    Exists(PathBuf),
    /// There is no such template.
    #[error("there is no template `{0}`")]
    Template(String),
    /// The folder does not hold the repository of `langgraph`.
    #[error("{} is not the repository of langgraph: it has no {}", folder.display(), file.display())]
    Library {
        /// The folder.
        folder: PathBuf,
        /// The file that it lacks.
        file: PathBuf,
    },
    /// There is no folder in which the repository of `langgraph` could be.
    #[error("cannot find the repository of langgraph at {}: {source}", folder.display())]
    NoLibrary {
        /// The folder.
        folder: PathBuf,
        /// What happened.
        source: io::Error,
    },
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What happened.
        source: io::Error,
    },
}

langgraph_topology::debug_is_message!(NewError);

/// Returns the names of the templates.
pub fn templates() -> impl Iterator<Item = &'static str> {
    TEMPLATES.iter().map(|template| template.name)
}

/// Makes a package in `folder`, which must not exist, named as the folder.
///
/// With a library in a folder, the package also gets the library's `Cargo.lock`: it then builds with the
/// versions of dependencies that the library is tested with, and without a network once these are
/// downloaded.
///
/// Returns the manifest of the workspace that the folder is in, if there is one. Profiles belong there, so the package
/// then has none.
///
/// # Errors
///
/// Fails if the folder exists, if its name cannot be that of a package, if the library is not where it
/// should be, or if a file cannot be written.
pub fn create(
    folder: &Path,
    template: &str,
    library: &Library,
) -> Result<Option<PathBuf>, NewError> {
    let found = TEMPLATES.iter().find(|known| known.name == template);
    let template = found.ok_or_else(|| NewError::Template(template.to_owned()))?;
    let name = folder
        .file_name()
        .unwrap_or(folder.as_os_str())
        .to_string_lossy();
    if !is_package_name(&name, template) {
        return Err(NewError::Name(name.into_owned()));
    }
    if folder.exists() {
        return Err(NewError::Exists(folder.to_owned()));
    }
    let mut values = vec![
        ("{{name}}".to_owned(), name.to_string()),
        ("{{crate}}".to_owned(), name.replace('-', "_")),
        (
            "{{rust-version}}".to_owned(),
            env!("CARGO_PKG_RUST_VERSION").to_owned(),
        ),
    ];
    let mut lock = None;
    match library {
        Library::Path(path) => {
            let root = repository(path)?;
            let file = root.join("Cargo.lock");
            if file.is_file() {
                lock = Some(fs::read_to_string(&file).map_err(failed(&file))?);
            }
            let source = |folder: &str| ("path", root.join(folder).display().to_string());
            values.extend(dependencies(source));
        }
        Library::Git(url) => values.extend(dependencies(|_| ("git", url.clone()))),
    }
    let workspace = workspace_around(folder);
    for (file, text) in template.files {
        let mut text = values
            .iter()
            .fold((*text).to_owned(), |text, (key, value)| {
                text.replace(key, value)
            });
        if *file == "Cargo.toml" && workspace.is_none() {
            text = format!("{text}\n{PROFILE}");
        }
        write(&folder.join(file), &text)?;
    }
    if let Some(lock) = lock {
        write(&folder.join("Cargo.lock"), &lock)?;
    }
    Ok(workspace)
}

/// Returns the full path of the library's repository, if that is what the folder holds.
fn repository(folder: &Path) -> Result<PathBuf, NewError> {
    let root = fs::canonicalize(folder).map_err(|source| NewError::NoLibrary {
        folder: folder.to_owned(),
        source,
    })?;
    for (_, inner) in CRATES {
        let file = Path::new(inner).join("Cargo.toml");
        if !root.join(&file).is_file() {
            return Err(NewError::Library { folder: root, file });
        }
    }
    Ok(root)
}

/// Returns the lines of the dependencies on the library.
fn dependencies<'a>(
    source: impl Fn(&str) -> (&'static str, String) + 'a,
) -> impl Iterator<Item = (String, String)> + 'a {
    CRATES.iter().map(move |(name, folder)| {
        let (key, value) = source(folder);
        let value = toml::Value::String(value);
        (
            format!("{{{{{name}}}}}"),
            format!("{name} = {{ {key} = {value} }}"),
        )
    })
}

fn is_package_name(name: &str, template: &Template) -> bool {
    let letters = name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    // A crate cannot have the name of one that it uses.
    let manifest = template.files.first().map_or("", |(_, text)| text);
    let used =
        |line: &str| line.split(" =").next() == Some(name) || line == format!("{{{{{name}}}}}");
    letters
        && syn::parse_str::<syn::Ident>(&name.replace('-', "_")).is_ok()
        && ![
            "core",
            "std",
            "alloc",
            "test",
            "proc_macro",
            "build",
            "deps",
        ]
        .contains(&name)
        && !manifest
            .lines()
            .skip_while(|line| *line != "[dependencies]")
            .any(used)
}

fn write(path: &Path, text: &str) -> Result<(), NewError> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed(folder))?;
    }
    fs::write(path, text).map_err(failed(path))
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> NewError {
    move |source| NewError::File {
        path: path.to_owned(),
        source,
    }
}
