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
        let indented = line.starts_with([' ', '\t']) || line.trim().is_empty();
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
        if kept || lines.first().is_some_and(|first| first.starts_with('>')) {
            lines.remove(0);
        }
        let text = lines.join(if kept { "\n" } else { " " });
        fields.insert(self.name, unquoted(text.trim()).to_owned());
    }
}

fn unquoted(text: &str) -> &str {
    let inner = |quote| text.strip_prefix(quote)?.strip_suffix(quote);
    inner('"').or_else(|| inner('\'')).unwrap_or(text)
}
