//! The fields at the start of a Markdown file.

use std::collections::BTreeMap;

/// Returns the fields between the two lines `---` at the start of a file: of YAML, those at the left that are
/// texts. A text may have quotes, continue in indented lines, or be a block after `|` or `>`.
pub(super) fn front_matter(text: &str) -> Option<BTreeMap<String, String>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.lines();
    if lines.next()?.trim_end() != "---" {
        return None;
    }
    let mut fields: BTreeMap<String, String> = BTreeMap::new();
    let mut last: Option<Field> = None;
    for line in lines {
        if line.trim_end() == "---" {
            if let Some(field) = last {
                field.end(&mut fields);
            }
            return Some(fields);
        }
        // The items of a list may stand at the left.
        let indented = line.starts_with([' ', '\t', '-']) || line.trim().is_empty();
        if let (true, Some(field)) = (indented, &mut last) {
            field.lines.push(line.trim().to_owned());
            continue;
        }
        if line.trim_start().starts_with('#') || indented {
            continue;
        }
        if let Some(field) = last.take() {
            field.end(&mut fields);
        }
        let (name, value) = line.split_once(':')?;
        last = Some(Field {
            name: name.trim().to_owned(),
            lines: vec![value.trim().to_owned()],
        });
    }
    None
}

/// A field whose lines may not have ended.
struct Field {
    name: String,
    lines: Vec<String>,
}

impl Field {
    fn end(self, fields: &mut BTreeMap<String, String>) {
        let mut lines = self.lines;
        let kept = lines.first().is_some_and(|first| first.starts_with('|'));
        let is_block = kept || lines.first().is_some_and(|first| first.starts_with('>'));
        if is_block {
            lines.remove(0);
        }
        let text = lines.join(if kept { "\n" } else { " " });
        let text = text.trim();
        let text = if is_block {
            text.to_owned()
        } else {
            scalar(text)
        };
        fields.insert(self.name, text);
    }
}

/// Returns the text of a value on its line, without its quotes or the comment after it.
fn scalar(text: &str) -> String {
    let quoted = match text.chars().next() {
        Some('"') => double_quoted(text),
        Some('\'') => single_quoted(text),
        Some('#') => Some(String::new()),
        _ => None,
    };
    quoted.unwrap_or_else(|| {
        let plain = text.split_once(" #").map_or(text, |(plain, _)| plain);
        plain.trim_end().to_owned()
    })
}

fn double_quoted(text: &str) -> Option<String> {
    let mut inner = String::new();
    let mut letters = text.chars().skip(1);
    loop {
        match letters.next()? {
            '"' => return Some(inner),
            '\\' => inner.push(match letters.next()? {
                'n' => '\n',
                't' => '\t',
                other => other,
            }),
            other => inner.push(other),
        }
    }
}

fn single_quoted(text: &str) -> Option<String> {
    let mut inner = String::new();
    let mut letters = text.chars().skip(1).peekable();
    loop {
        match letters.next()? {
            '\'' if letters.next_if_eq(&'\'').is_none() => return Some(inner),
            other => inner.push(other),
        }
    }
}
