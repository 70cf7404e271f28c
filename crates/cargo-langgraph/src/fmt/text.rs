//! The source around the parts: comments, blank lines, indentation.

use proc_macro2::{TokenStream, TokenTree};

use super::style::Style;
use super::syntax::{Element, Part};

/// The text of a file, and where in a graph its tokens and comments are.
pub(super) struct Text<'a> {
    file: &'a str,
    style: &'a Style,
    newline: &'static str,
    /// The tokens, delimiters among them, in order.
    pub(super) tokens: Vec<Part>,
    /// The comments, in order.
    pub(super) comments: Vec<Part>,
}

impl<'a> Text<'a> {
    /// Reads the `tokens` of a graph, which stand in `part` of the file.
    pub(super) fn new(text: &'a str, tokens: &TokenStream, part: Part, style: &'a Style) -> Self {
        let mut parts = Vec::new();
        leaves(tokens, &mut parts);
        let mut comments = Vec::new();
        let mut end = part.start;
        for token in &parts {
            gap(text, end..token.start, &mut comments);
            end = end.max(token.end);
        }
        gap(text, end..part.end, &mut comments);
        Self {
            file: text,
            style,
            newline: if text.contains("\r\n") { "\r\n" } else { "\n" },
            tokens: parts,
            comments,
        }
    }

    /// Returns the source of `part`.
    pub(super) fn get(&self, part: &Part) -> &'a str {
        self.file.get(part.clone()).unwrap_or_default()
    }

    /// Returns the rest of the line after `place`.
    pub(super) fn rest_of_line(&self, place: usize) -> &'a str {
        let rest = self.file.get(place..).unwrap_or_default();
        rest.lines().next().unwrap_or_default()
    }

    /// Returns the line up to `place`.
    pub(super) fn line_before(&self, place: usize) -> &'a str {
        let before = self.file.get(..place).unwrap_or_default();
        before.rsplit('\n').next().unwrap_or_default()
    }

    /// Returns the level of indentation of the line of `place`.
    pub(super) fn level(&self, place: usize) -> usize {
        let line = self.line_before(place);
        let space = &line[..line.len() - line.trim_start().len()];
        self.style.width(space) / self.style.tab_spaces.max(1)
    }

    /// Returns true if there is a comment in `part`.
    pub(super) fn has_comment(&self, part: &Part) -> bool {
        self.comments_in(part).next().is_some()
    }

    /// Returns the comments in `part`.
    pub(super) fn comments_in(&self, part: &Part) -> impl Iterator<Item = &Part> {
        let part = part.clone();
        self.comments
            .iter()
            .filter(move |comment| part.start <= comment.start && comment.end <= part.end)
    }

    /// Returns true if the line before `place` has nothing else.
    pub(super) fn begins_line(&self, place: usize) -> bool {
        self.line_before(place).trim().is_empty()
    }

    /// Returns true if a blank line comes before `place`.
    fn after_blank_line(&self, place: usize) -> bool {
        let before = self.file.get(..place).unwrap_or_default();
        let space = &before[before.trim_end().len()..];
        space.matches('\n').count() > 1
    }

    /// Returns the source of `part`, moved so that its first line stands at `level`.
    pub(super) fn moved(&self, part: &Part, level: usize) -> String {
        let text = self.get(part);
        if !text.contains('\n') {
            return text.to_owned();
        }
        let line = self.line_before(part.start);
        let from = self
            .style
            .width(&line[..line.len() - line.trim_start().len()]);
        let to = self.style.width(&self.style.indent(level));
        let mut moved = String::new();
        let mut place = part.start;
        for line in text.split_inclusive('\n') {
            let starts = place;
            place += line.len();
            let content = line.trim_start();
            // Lines of a string must not move.
            let fixed = starts == part.start
                || self
                    .tokens
                    .iter()
                    .any(|token| token.start < starts && starts < token.end);
            if fixed {
                moved.push_str(line);
            } else if content.is_empty() {
                moved.push_str(self.newline);
            } else {
                let width = self.style.width(&line[..line.len() - content.len()]);
                moved.push_str(&self.space((width + to).saturating_sub(from)));
                moved.push_str(content);
            }
        }
        moved
    }

    /// Returns indentation of a width.
    fn space(&self, width: usize) -> String {
        let tab = self.style.tab_spaces.max(1);
        if self.style.hard_tabs {
            "\t".repeat(width / tab) + &" ".repeat(width % tab)
        } else {
            " ".repeat(width)
        }
    }

    /// Returns a line break and the indentation of `level`.
    pub(super) fn line(&self, level: usize) -> String {
        format!("{}{}", self.newline, self.style.indent(level))
    }

    /// Writes the comments in `gap`: those that follow on a line after it, others on their own.
    pub(super) fn push_comments(&self, out: &mut String, gap: &Part, level: usize, first: bool) {
        let mut first = first;
        for comment in self.comments_in(gap) {
            if self.begins_line(comment.start) {
                self.push_line(out, comment.start, level, first);
            } else {
                let before = self.file.get(..comment.start).unwrap_or_default();
                let space = &before[before.trim_end().len()..];
                out.push_str(if space.is_empty() { " " } else { space });
            }
            out.push_str(&self.moved(comment, level));
            first = false;
        }
    }

    /// Begins the line of what stands at `place`, after a blank line if there is one.
    fn push_line(&self, out: &mut String, place: usize, level: usize, first: bool) {
        if !first && self.after_blank_line(place) {
            out.push_str(self.newline);
        }
        out.push_str(&self.line(level));
    }

    /// Writes elements on lines of their own, with the comments around them, and the line break
    /// before the closing delimiter. `part` has both delimiters.
    pub(super) fn push_elements<T>(
        &self,
        out: &mut String,
        (elements, part): (&[Element<T>], &Part),
        level: usize,
        mut write: impl FnMut(&T, &Part, usize) -> Result<String, String>,
    ) -> Result<(), String> {
        let mut end = part.start + 1;
        for (index, element) in elements.iter().enumerate() {
            let gap = end..element.part.start;
            self.push_comments(out, &gap, level, index == 0);
            let first = index == 0 && !self.has_comment(&gap);
            self.push_line(out, element.part.start, level, first);
            out.push_str(&write(
                &element.node,
                &element.part,
                self.width_of_end(element),
            )?);
            end = element.part.end;
            if let Some(mark) = &element.end {
                out.push_str(self.get(mark));
                end = mark.end;
            }
        }
        self.push_comments(out, &(end..part.end), level, false);
        out.push_str(&self.line(level.saturating_sub(1)));
        Ok(())
    }

    fn width_of_end<T>(&self, element: &Element<T>) -> usize {
        element.end.as_ref().map_or(0, |end| self.get(end).len())
    }
}

/// Collects the parts of all tokens.
fn leaves(tokens: &TokenStream, parts: &mut Vec<Part>) {
    for tree in tokens.clone() {
        if let TokenTree::Group(group) = &tree {
            let (open, close) = (
                group.span_open().byte_range(),
                group.span_close().byte_range(),
            );
            // A doc comment is an attribute, whose tokens all have its place.
            if open.len() == 1 {
                parts.push(open);
                leaves(&group.stream(), parts);
                parts.push(close);
            }
        } else {
            parts.push(tree.span().byte_range());
        }
    }
}

/// Collects the comments between two tokens.
fn gap(text: &str, part: Part, comments: &mut Vec<Part>) {
    let mut place = part.start;
    while let Some(rest) = text.get(place..part.end)
        && let Some(found) = rest.find('/')
    {
        let start = place + found;
        let comment = text.get(start..part.end).unwrap_or_default();
        let length = if comment.starts_with("/*") {
            block_comment(comment)
        } else {
            comment.find(['\r', '\n']).unwrap_or(comment.len())
        };
        comments.push(start..start + length);
        place = start + length;
    }
}

/// Returns the length of the block comment at the beginning of `text`; they nest.
fn block_comment(text: &str) -> usize {
    let mut depth = 0;
    let mut place = 0;
    while let Some(rest) = text.get(place..)
        && !rest.is_empty()
    {
        if rest.starts_with("/*") {
            depth += 1;
            place += 2;
        } else if rest.starts_with("*/") {
            depth -= 1;
            place += 2;
            if depth == 0 {
                break;
            }
        } else {
            place += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    place
}
