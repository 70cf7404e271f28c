//! Finds the graphs of a file, replaces their bodies, and compares what was with what is.

use std::str::FromStr;

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

use super::layout::Layout;
use super::parse::parse;
use super::style::Style;
use super::syntax::Part;
use super::text::Text;

/// What [`format_source`] returns.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Formatted {
    /// The text of the file.
    pub text: String,
    /// Its graphs, the outer ones before those in their `let`s.
    pub graphs: Vec<Graph>,
}

/// A `graph!` of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Graph {
    /// Its line, counted from 1.
    pub line: usize,
    /// Whether its layout has changed.
    pub changed: bool,
    /// Why it was left as it is.
    pub left: Option<String>,
}

/// Formats the body of each `graph!` of a Rust file.
///
/// Tokens and comments stay, in their order; only the space between them changes. A graph that does
/// not parse stays as it is, as does one with a comment at a place where the layout has no room for it.
///
/// ```
/// use cargo_langgraph::fmt::{Style, format_source};
///
/// let text = "fn main() { let agent = graph! {
///  START=>think =>match next {
///     Next::Act =>act  => think ,
///     Next::Stop=> END, }; };
/// }";
/// let formatted = format_source(text, &Style::default()).unwrap();
/// assert_eq!(formatted.text, "fn main() { let agent = graph! {
///     START => think => match next {
///         Next::Act => act => think,
///         Next::Stop => END,
///     };
/// };
/// }");
/// ```
///
/// # Errors
///
/// Fails with the reason if the file is not made of Rust's tokens.
pub fn format_source(text: &str, style: &Style) -> Result<Formatted, String> {
    let mut formatted = Formatted {
        text: text.to_owned(),
        graphs: Vec::new(),
    };
    // Each pass formats the graphs in the `let`s of those before.
    for depth in 0.. {
        if !pass(&mut formatted, depth, style)? {
            break;
        }
    }
    // The spans of what has been read would stay until the thread ends.
    proc_macro2::extra::invalidate_current_thread_spans();
    Ok(formatted)
}

fn pass(formatted: &mut Formatted, depth: usize, style: &Style) -> Result<bool, String> {
    // `proc_macro2` counts from behind a byte order mark.
    let mark = if formatted.text.starts_with('\u{feff}') {
        3
    } else {
        0
    };
    let text = &formatted.text[mark..];
    let tokens = TokenStream::from_str(text)
        .map_err(|error| format!("line {}: {error}", error.span().start().line))?;
    let mut bodies = Vec::new();
    find(&tokens, depth, &mut bodies);
    let found = !bodies.is_empty();
    let mut result = formatted.text[..mark].to_owned();
    let mut copied = 0;
    for body in bodies {
        let part = body.span().byte_range();
        let written = &text[part.clone()];
        let new = replacement(text, &body, style);
        formatted.graphs.push(Graph {
            line: body.span_open().start().line,
            changed: new.as_ref().is_ok_and(|new| new != written),
            left: new.as_ref().err().cloned(),
        });
        result.push_str(&text[copied..part.start]);
        result.push_str(new.as_deref().unwrap_or(written));
        copied = part.end;
    }
    result.push_str(&text[copied..]);
    formatted.text = result;
    Ok(found)
}

/// Collects the bodies of the graphs that stand in `depth` others.
fn find(tokens: &TokenStream, depth: usize, bodies: &mut Vec<Group>) {
    let trees: Vec<TokenTree> = tokens.clone().into_iter().collect();
    for (index, tree) in trees.iter().enumerate() {
        let TokenTree::Group(group) = tree else {
            continue;
        };
        let is_graph = group.delimiter() == Delimiter::Brace
            && names_graph(trees.get(..index).unwrap_or_default());
        match (is_graph, depth) {
            (true, 0) => bodies.push(group.clone()),
            (true, _) => find(&group.stream(), depth - 1, bodies),
            (false, _) => find(&group.stream(), depth, bodies),
        }
    }
}

/// Returns true if the tokens end in `graph!`, not of another crate.
fn names_graph(before: &[TokenTree]) -> bool {
    let [rest @ .., TokenTree::Ident(name), TokenTree::Punct(bang)] = before else {
        return false;
    };
    if *name != "graph" || bang.as_char() != '!' {
        return false;
    }
    let [
        ..,
        TokenTree::Ident(of),
        TokenTree::Punct(a),
        TokenTree::Punct(b),
    ] = rest
    else {
        return true;
    };
    a.as_char() != ':' || b.as_char() != ':' || of.to_string().contains("langgraph")
}

/// Returns the new text of a body, with its braces.
fn replacement(text: &str, body: &Group, style: &Style) -> Result<String, String> {
    let part = body.span().byte_range();
    let inner = part.start + 1..part.end - 1;
    let items = parse(body.stream())
        .map_err(|error| format!("line {}: {error}", error.span().start().line))?;
    if items.is_empty() {
        return Ok(text[part].to_owned());
    }
    let source = Text::new(text, &body.stream(), inner.clone(), style);
    let new = Layout::new(&source, style).body(&items, &part)?;
    let lost = || "a comment stands where a formatted graph has no room for it".to_owned();
    let again = TokenStream::from_str(&new).map_err(|_| lost())?;
    let Some(TokenTree::Group(again)) = again.into_iter().next() else {
        return Err(lost());
    };
    let before = pieces(text, &body.stream(), inner);
    let after = pieces(&new, &again.stream(), 1..new.len() - 1);
    if before == after {
        Ok(new)
    } else {
        Err(lost())
    }
}

/// Returns the tokens and comments in `part`, in order; lines of comments without their indentation.
fn pieces(text: &str, tokens: &TokenStream, part: Part) -> Vec<String> {
    let style = Style::default();
    let source = Text::new(text, tokens, part, &style);
    let tokens = source
        .tokens
        .iter()
        .map(|part| (part.start, text[part.clone()].to_owned()));
    let comments = source.comments.iter().map(|part| {
        let lines = text[part.clone()].lines().map(str::trim);
        (part.start, lines.collect::<Vec<_>>().join("\n"))
    });
    let mut pieces: Vec<_> = tokens.chain(comments).collect();
    pieces.sort_by_key(|(start, _)| *start);
    pieces.into_iter().map(|(_, piece)| piece).collect()
}
