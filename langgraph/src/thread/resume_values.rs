//! Answers from outside, and their interrupts.

use crate::log::ResumeValue;
use serde::Serialize;

use crate::checkpoint::Json;
use crate::error::AgentError;

pub(crate) fn resume_value(
    key: Option<String>,
    value: impl Serialize,
) -> Result<ResumeValue, AgentError> {
    let value = Json::to_exact_value(&value).map_err(|error| {
        let answer = match &key {
            Some(key) => format!("the answer to `{key}`"),
            None => "the answer".to_owned(),
        };
        AgentError::InvalidInput(format!("{answer} cannot be written as JSON: {error}"))
    })?;
    Ok(ResumeValue { key, value })
}
