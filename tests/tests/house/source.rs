//! The source files of the project's crates, parsed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use syn::Attribute;
use walkdir::WalkDir;

use crate::names::Names;
use crate::uses::{Use, uses};

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

pub(crate) fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// One crate: its modules by path, `a::b`; the root has the empty path.
pub(crate) struct Crate {
    /// Its folder, from the root of the repository.
    pub(crate) folder: String,
    pub(crate) modules: BTreeMap<String, Module>,
}

pub(crate) struct Module {
    /// The path of the file, from the root of the repository.
    pub(crate) path: String,
    pub(crate) uses: BTreeSet<Use>,
    pub(crate) names: Names,
}

/// The libraries of the project, without their tests, benches and examples.
pub(crate) static CRATES: LazyLock<Vec<Crate>> = LazyLock::new(crates);

fn crates() -> Vec<Crate> {
    let mut folders = vec!["langgraph".to_owned(), "langgraph-macros".to_owned()];
    for entry in WalkDir::new(root().join("crates"))
        .min_depth(1)
        .max_depth(1)
        .sort_by_file_name()
    {
        let name = entry.unwrap().file_name().to_string_lossy().into_owned();
        if root()
            .join("crates")
            .join(&name)
            .join("Cargo.toml")
            .exists()
        {
            folders.push(format!("crates/{name}"));
        }
    }
    folders.into_iter().map(parse).collect()
}

fn parse(folder: String) -> Crate {
    let source = root().join(&folder).join("src");
    let mut modules = BTreeMap::new();
    for entry in WalkDir::new(&source).sort_by_file_name() {
        let path = entry.unwrap().into_path();
        let inside = path.strip_prefix(&source).unwrap();
        if inside.extension().is_none_or(|extension| extension != "rs") || is_test(inside) {
            continue;
        }
        let path = format!("{folder}/src/{}", inside.display());
        let file = syn::parse_file(&read(&path)).unwrap_or_else(|error| panic!("{path}: {error}"));
        let module = module_path(inside);
        let content = Module {
            uses: uses(&module, &file),
            names: Names::of(&file),
            path,
        };
        modules.insert(module, content);
    }
    Crate { folder, modules }
}

fn is_test(path: &Path) -> bool {
    path.components()
        .any(|part| part.as_os_str() == "tests" || part.as_os_str() == "bin")
        || path.file_name().is_some_and(|name| name == "tests.rs")
}

/// Returns the module that a file is: `a/b.rs` and `a/b/mod.rs` are `a::b`.
fn module_path(file: &Path) -> String {
    let path = file.with_extension("").to_string_lossy().replace('/', "::");
    match path.as_str() {
        "lib" | "main" => String::new(),
        path => path.strip_suffix("::mod").unwrap_or(path).to_owned(),
    }
}

/// Returns true for what only tests compile.
pub(crate) fn only_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute
                .parse_args::<syn::Path>()
                .is_ok_and(|path| path.is_ident("test"))
    })
}
