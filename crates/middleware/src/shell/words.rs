//! A line as words, without a shell.

use langgraph_agent::ToolError;

/// What a shell would act on.
const SIGNS: &str = "|&;<>$`(){}[]*?!#\n\r";

/// Splits a line into words. Quotes hold words together; what a shell would act on is refused.
pub(super) fn words(line: &str) -> Result<Vec<String>, ToolError> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut signs = line.chars();
    while let Some(sign) = signs.next() {
        match (quote, sign) {
            (Some(open), sign) if sign == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(sign);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => {
                let next = signs.next().ok_or_else(|| unfinished(line))?;
                word.get_or_insert_default().push(next);
            }
            (Some('"'), '$' | '`') => return Err(refused(sign)),
            (None, sign) if SIGNS.contains(sign) => return Err(refused(sign)),
            (None, sign) if sign.is_whitespace() => words.extend(word.take()),
            (_, sign) => word.get_or_insert_default().push(sign),
        }
    }
    if quote.is_some() {
        return Err(unfinished(line));
    }
    words.extend(word);
    Ok(words)
}

fn refused(sign: char) -> ToolError {
    ToolError::model(format!(
        "`{}` is not allowed: run one program at a time, without pipes and redirections, and put the sign into single quotes if the program needs it",
        sign.escape_default()
    ))
}

fn unfinished(line: &str) -> ToolError {
    ToolError::model(format!("a quote or a backslash is left open in `{line}`"))
}
