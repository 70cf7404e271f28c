//! The workspace that a folder is in.

use std::fs;
use std::path::{Path, PathBuf};

/// Returns the manifest of the nearest workspace around a folder that does not exclude it.
pub(super) fn workspace_around(folder: &Path) -> Option<PathBuf> {
    let folder = std::path::absolute(folder).ok()?;
    let mut roots = folder.ancestors().skip(1);
    roots.find_map(|root| {
        let manifest = root.join("Cargo.toml");
        // Cargo itself reports a manifest that is not TOML.
        let text: toml::Table = fs::read_to_string(&manifest).ok()?.parse().ok()?;
        let excluded = text.get("workspace")?.get("exclude");
        let mut excluded = excluded
            .and_then(toml::Value::as_array)
            .into_iter()
            .flatten();
        let is_excluded = excluded
            .any(|path| matches!(path.as_str(), Some(path) if folder.starts_with(root.join(path))));
        (!is_excluded).then_some(manifest)
    })
}
