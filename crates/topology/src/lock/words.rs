//! The words of a line of the lock.

use std::borrow::Cow;

/// Writes a word; in quotes, if it would not be read as one word.
pub(super) fn quoted(word: &str) -> Cow<'_, str> {
    let plain = |c: char| !c.is_whitespace() && !c.is_control() && !matches!(c, '"' | '\\' | '#');
    let is_sign = matches!(word, "" | "->" | "=" | "+" | "&" | "?" | "by");
    if !is_sign && word.chars().all(plain) {
        return Cow::Borrowed(word);
    }
    let mut text = String::from("\"");
    for c in word.chars() {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            c => text.push(c),
        }
    }
    text.push('"');
    Cow::Owned(text)
}

/// A word of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) text: String,
    pub(super) is_quoted: bool,
}

impl Word {
    /// Returns true for this sign or keyword.
    pub(super) fn is(&self, sign: &str) -> bool {
        !self.is_quoted && self.text == sign
    }

    /// Returns the text; nothing for `?`.
    pub(super) fn known(&self) -> String {
        if self.is("?") {
            String::new()
        } else {
            self.text.clone()
        }
    }
}

/// Splits a line; `None` if a quoted word has no end.
pub(super) fn words(line: &str) -> Option<Vec<Word>> {
    let mut words = Vec::new();
    let mut rest = line.trim();
    while let Some(first) = rest.chars().next() {
        let word = if first == '"' {
            let (text, behind) = unquoted(rest.get(1..)?)?;
            rest = behind;
            Word {
                text,
                is_quoted: true,
            }
        } else {
            let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
            let (text, behind) = rest.split_at(end);
            rest = behind;
            Word {
                text: text.to_owned(),
                is_quoted: false,
            }
        };
        words.push(word);
        rest = rest.trim_start();
    }
    Some(words)
}

/// Reads up to the closing quote.
fn unquoted(text: &str) -> Option<(String, &str)> {
    let mut word = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((word, text.get(at + 1..)?)),
            '\\' => word.push(match chars.next()?.1 {
                'n' => '\n',
                'r' => '\r',
                c => c,
            }),
            c => word.push(c),
        }
    }
    None
}
