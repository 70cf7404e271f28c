//! The tools of the examples: a calculator, a clock, and a search for files.

use crate::calculator;
use crate::clock::{self, Zone};
use crate::file_search::{self, Filter};
use langgraph_agent::{ToolError, Tools, tool};
use serde_json::json;
use std::path::Path;

/// So many names are given to the model; the number of files is always exact.
const MAX_NAMES: usize = 200;

/// All of them.
pub fn all() -> Tools {
    Tools::new()
        .with(calculate)
        .with(get_current_time)
        .with(find_files)
}

/// Works out an arithmetic expression exactly.
#[tool]
pub async fn calculate(
    /// Numbers, + - * / %, ^ for powers, and parentheses, such as `(37 + 5) * 21`.
    expression: String,
) -> Result<String, ToolError> {
    match calculator::evaluate(&expression) {
        Ok(number) => Ok(number.to_string()),
        Err(error) => Err(ToolError::model(error.to_string())),
    }
}

/// Returns the current date and time.
#[tool]
pub async fn get_current_time(
    /// `local`, which is meant when it is left out, or `utc`.
    zone: Option<String>,
) -> Result<String, ToolError> {
    match zone.as_deref() {
        None | Some("local") => Ok(clock::now(Zone::Local)),
        Some("utc") => Ok(clock::now(Zone::Utc)),
        Some(other) => Err(ToolError::model(format!(
            "unknown zone `{other}`: expected `local` or `utc`"
        ))),
    }
}

/// Counts and lists the files below a folder, by extension or by a name pattern. Hidden folders and
/// folders named `target` are skipped.
#[tool]
pub async fn find_files(
    /// Where to look; the current folder when it is left out.
    folder: Option<String>,
    /// Only files with this extension, such as `rs`.
    extension: Option<String>,
    /// Only files whose name matches this pattern, such as `test_*.rs`.
    pattern: Option<String>,
) -> Result<String, ToolError> {
    // The search blocks, so it does not run on the threads that drive the graph.
    let search = tokio::task::spawn_blocking(move || {
        let filter = match (extension, pattern) {
            (Some(extension), None) => Filter::extension(&extension),
            (None, Some(pattern)) => Filter::name(&pattern).map_err(|error| error.to_string())?,
            (None, None) => Filter::Any,
            (Some(_), Some(_)) => {
                return Err("give either `extension` or `pattern`, not both".to_owned());
            }
        };
        let folder = folder.unwrap_or_else(|| ".".to_owned());
        file_search::find_files(Path::new(&folder), &filter).map_err(|error| error.to_string())
    });
    let found = search
        .await
        .map_err(ToolError::fatal)?
        .map_err(ToolError::model)?;
    let names: Vec<String> = found
        .iter()
        .take(MAX_NAMES)
        .map(|path| path.display().to_string())
        .collect();
    Ok(json!({ "count": found.len(), "files": names }).to_string())
}
