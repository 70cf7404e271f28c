//! Calculations with a number that a search has to find first: `twice the number of .rs files`.
//!
//! Such a number is put into the expression as a blank, `{0}`, that stands for the first search of
//! the question, and is filled in when the search has its result.

use super::ToolResult;
use super::files::{FILE, FileQuestion};
use super::token::{Kind, Token, phrase_at, word_at};
use serde_json::Value;

/// The tokens with every `number of … files` replaced by a blank.
pub(super) fn with_blanks(tokens: &[Token], questions: &[FileQuestion]) -> Vec<Token> {
    let mut replaced = Vec::new();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        if let Some((blank, end)) = number_of_files(tokens, at, questions) {
            replaced.push(Token {
                text: blank.clone(),
                kind: Kind::Number(blank),
            });
            at = end;
        } else {
            replaced.push(token.clone());
            at += 1;
        }
    }
    replaced
}

/// A noun phrase for a number of files, as a blank, and the index after it.
fn number_of_files(
    tokens: &[Token],
    at: usize,
    questions: &[FileQuestion],
) -> Option<(String, usize)> {
    const END: &[&str] = &[
        "plus",
        "minus",
        "times",
        "multiplied",
        "divided",
        "x",
        "over",
        "mod",
        "modulo",
        "to",
        "by",
        "squared",
        "cubed",
        "is",
        "are",
        "then",
    ];
    let start = at + usize::from(word_at(tokens, at, &["the"]));
    let says = ["number", "count"]
        .iter()
        .any(|word| phrase_at(tokens, start, &[word, "of"]));
    if !says {
        return None;
    }
    let mut end = start + 2;
    let mut has_noun = false;
    while let Some(token) = tokens.get(end) {
        let separates = token.kind == Kind::Comma || token.is_word_in(&["and"]);
        let ends = matches!(
            token.kind,
            Kind::Operator(_) | Kind::Stop | Kind::Close | Kind::Equals
        ) || token.is_word_in(END)
            || (separates && has_noun);
        if ends {
            break;
        }
        has_noun |= token.is_word_in(FILE);
        end += 1;
    }
    let blanks: Vec<String> = questions
        .iter()
        .enumerate()
        .filter(|(_, question)| (start..end).contains(&question.at))
        .map(|(index, _)| format!("{{{index}}}"))
        .collect();
    match blanks.as_slice() {
        [] => None,
        [blank] => Some((blank.clone(), end)),
        several => Some((format!("({})", several.join(" + ")), end)),
    }
}

/// Whether an expression waits for a search.
pub(super) fn has_blanks(expression: &str) -> bool {
    expression.contains('{')
}

/// The expression with the blanks filled in whose searches have a result.
pub(super) fn filled(
    expression: &str,
    questions: &[FileQuestion],
    results: &[ToolResult],
) -> String {
    let mut filled = expression.to_owned();
    for (index, question) in questions.iter().enumerate() {
        let count = results
            .iter()
            .find(|result| !result.is_error && question.is_answered_by(result))
            .and_then(|result| count(&result.content));
        if let Some(count) = count {
            filled = filled.replace(&format!("{{{index}}}"), &count.to_string());
        }
    }
    filled
}

/// The number that a search has found.
pub(super) fn count(content: &str) -> Option<u64> {
    let found: Value = serde_json::from_str(content).ok()?;
    found.get("count").unwrap_or(&found).as_u64()
}
