//! The files of the program that is built around a package.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use toml::{Table, Value};

use super::{DriverError, Linkage, NAME};
use crate::project::{Project, Source};

/// The code of the shared library.
pub(super) const RUNTIME: &str = "pub use langgraph_dev::*;\n";

/// Returns the name of the package of the shared library. Programs in one target folder have their own, since they may
/// turn on other features.
fn runtime_name(project: &Project) -> String {
    format!("langgraph-runtime-{}", project.name)
}

/// Returns the name of the shared library in code.
pub(super) fn runtime_library(project: &Project) -> String {
    runtime_name(project).replace('-', "_")
}

/// Returns the dependency on `langgraph-dev`.
fn dev(project: &Project) -> Table {
    let mut dev = Table::new();
    match &project.source {
        Source::Path(root) => {
            dev.insert("path".to_owned(), text(&root.join("crates/dev")));
        }
        Source::Git { url, rev } => {
            dev.insert("git".to_owned(), url.clone().into());
            dev.insert("rev".to_owned(), rev.clone().into());
        }
        Source::Version(version) => {
            dev.insert("version".to_owned(), format!("={version}").into());
        }
    }
    dev
}

/// Returns the manifest of the shared library.
pub(super) fn runtime_manifest(project: &Project) -> String {
    let mut manifest = toml::toml! {
        [package]
        version = "0.0.0"
        edition = "2024"
        publish = false

        [lib]
        crate-type = ["dylib"]

        [dependencies]
    };
    let name = runtime_name(project);
    insert(&mut manifest, &["package"], "name", name.into());
    let dev = dev(project).into();
    insert(&mut manifest, &["dependencies"], "langgraph-dev", dev);
    manifest.to_string()
}

/// Returns the manifest of the program.
pub(super) fn manifest(
    project: &Project,
    features: &[String],
    linkage: Linkage,
) -> Result<String, DriverError> {
    let mut package = Table::new();
    package.insert("package".to_owned(), project.name.clone().into());
    package.insert("path".to_owned(), text(&project.folder));
    if !features.is_empty() {
        package.insert("features".to_owned(), features.to_vec().into());
    }
    let runtime = match linkage {
        Linkage::Shared => Table::from_iter([
            ("package".to_owned(), runtime_name(project).into()),
            ("path".to_owned(), "runtime".into()),
        ]),
        Linkage::Static => {
            let mut dev = dev(project);
            dev.insert("package".to_owned(), "langgraph-dev".into());
            dev
        }
    };
    let mut manifest = toml::toml! {
        [package]
        version = "0.0.0"
        edition = "2024"
        publish = false

        [workspace]

        [dependencies]

        [profile.dev]
        debug = "line-tables-only"

        [profile.dev.package."*"]
        debug = false
    };
    insert(&mut manifest, &["package"], "name", NAME.into());
    insert(&mut manifest, &["dependencies"], "package", package.into());
    let runtime = runtime.into();
    insert(&mut manifest, &["dependencies"], "runtime", runtime);
    // Panics of the package have lines.
    let lines = Table::from_iter([("debug".to_owned(), "line-tables-only".into())]);
    let profiles = ["profile", "dev", "package"];
    insert(&mut manifest, &profiles, &project.name, lines.into());
    if let Some(patch) = patches(&project.workspace)? {
        manifest.insert("patch".to_owned(), patch);
    }
    Ok(manifest.to_string())
}

fn insert(table: &mut Table, path: &[&str], key: &str, value: Value) {
    let mut table = table;
    for part in path {
        let inner = table
            .entry(*part)
            .or_insert_with(|| Table::new().into())
            .as_table_mut();
        match inner {
            Some(inner) => table = inner,
            None => return,
        }
    }
    table.insert(key.to_owned(), value);
}

/// Returns the patches of the workspace, with its paths from the root of the file system.
fn patches(workspace: &Path) -> Result<Option<Value>, DriverError> {
    let path = workspace.join("Cargo.toml");
    let text = fs::read_to_string(&path).map_err(|source| DriverError::File {
        path: path.clone(),
        source,
    })?;
    let mut manifest: Table =
        toml::from_str(&text).map_err(|source| DriverError::Manifest { path, source })?;
    let mut patch = manifest.remove("patch");
    let registries = patch.as_mut().and_then(Value::as_table_mut);
    for (_, registry) in registries.into_iter().flatten() {
        for (_, package) in registry.as_table_mut().into_iter().flatten() {
            if let Some(path) = package.get_mut("path")
                && let Some(relative) = path.as_str()
            {
                *path = self::text(&workspace.join(relative));
            }
        }
    }
    Ok(patch)
}

fn text(path: &Path) -> Value {
    path.display().to_string().into()
}

/// Returns the code of the program.
pub(super) fn program(project: &Project) -> String {
    let mut code = "fn main() -> std::process::ExitCode {\n    \
                    runtime::main(async |graphs| {\n"
        .to_owned();
    for (name, path) in &project.graphs {
        let _ = writeln!(
            code,
            "        graphs.add({name:?}, package::{path}()).await?;"
        );
    }
    code.push_str("        Ok(())\n    })\n}\n");
    code
}
