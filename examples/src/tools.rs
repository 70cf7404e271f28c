//! The tools of the examples: a calculator, a clock, and a search for files.

use crate::calculator;
use crate::clock::{self, Zone};
use crate::file_search::{self, Filter};
use crate::reader::{CALCULATE, FIND_FILES, GET_CURRENT_TIME, PlannedCall, ToolResult};
use serde_json::{Value, json};
use std::path::Path;

/// So many names are given to the model; the number of files is always exact.
const MAX_NAMES: usize = 200;

/// Works out an arithmetic expression.
///
/// # Errors
///
/// What is wrong with the expression, and where.
pub fn calculate(expression: &str) -> Result<String, String> {
    calculator::evaluate(expression)
        .map(|number| number.to_string())
        .map_err(|error| error.to_string())
}

/// Tells the time: `local`, unless `zone` is `utc`.
///
/// # Errors
///
/// When the zone is another one.
pub fn get_current_time(zone: Option<&str>) -> Result<String, String> {
    match zone {
        None | Some("local") => Ok(clock::now(Zone::Local)),
        Some("utc") => Ok(clock::now(Zone::Utc)),
        Some(other) => Err(format!("unknown zone `{other}`: expected `local` or `utc`")),
    }
}

/// Finds files below a folder, by extension or by a name pattern.
///
/// # Errors
///
/// When the folder can not be searched, or the pattern is malformed.
pub fn find_files(
    folder: Option<&str>,
    extension: Option<&str>,
    pattern: Option<&str>,
) -> Result<String, String> {
    let filter = match (extension, pattern) {
        (Some(extension), None) => Filter::extension(extension),
        (None, Some(pattern)) => Filter::name(pattern).map_err(|error| error.to_string())?,
        (None, None) => Filter::Any,
        (Some(_), Some(_)) => return Err("give either `extension` or `pattern`, not both".into()),
    };
    let found = file_search::find_files(Path::new(folder.unwrap_or(".")), &filter)
        .map_err(|error| error.to_string())?;
    let names: Vec<String> = found
        .iter()
        .take(MAX_NAMES)
        .map(|path| path.display().to_string())
        .collect();
    Ok(json!({ "count": found.len(), "files": names }).to_string())
}

/// Runs a call without a graph around it.
pub fn run(call: &PlannedCall) -> ToolResult {
    let text = |name: &str| call.arguments.get(name).and_then(Value::as_str);
    let outcome = match call.tool.as_str() {
        CALCULATE => calculate(text("expression").unwrap_or_default()),
        GET_CURRENT_TIME => get_current_time(text("zone")),
        FIND_FILES => find_files(text("folder"), text("extension"), text("pattern")),
        other => Err(format!("there is no tool `{other}`")),
    };
    let is_error = outcome.is_err();
    ToolResult {
        tool: call.tool.clone(),
        arguments: call.arguments.clone(),
        content: outcome.unwrap_or_else(|error| error),
        is_error,
    }
}
