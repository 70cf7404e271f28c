//! GraphViz text.

use std::collections::HashSet;
use std::fmt::Write as _;

use super::flat::{Flat, FlatLine, FlatNode, unique};
use super::picture::{LineKind, Role};

const STYLES: &str = "\tnode [shape=box, style=\"rounded,filled\", fillcolor=\"#f2f0ff\"];\n";

pub(super) fn render(name: &str, flat: &Flat<'_>, styles: bool) -> String {
    let mut page = DotPage {
        flat,
        styles,
        ids: vec![None; flat.ids()],
        frames: 0,
        out: String::new(),
    };
    let mut taken = HashSet::new();
    for node in &flat.nodes {
        let path = unique(node.path(), &mut taken);
        if let Some(id) = page.ids.get_mut(node.id) {
            *id = Some(quoted(&path, false));
        }
    }
    let _ = writeln!(page.out, "digraph {} {{", quoted(name, false));
    page.out.push_str("\trankdir=TB;\n");
    if styles {
        page.out.push_str(STYLES);
    }
    page.level(&[]);
    for line in &flat.lines {
        page.line(line);
    }
    page.out.push_str("}\n");
    page.out
}

struct DotPage<'f, 'p> {
    flat: &'f Flat<'p>,
    styles: bool,
    /// The quoted name of each box, by its id.
    ids: Vec<Option<String>>,
    frames: usize,
    out: String,
}

impl<'p> DotPage<'_, 'p> {
    /// Writes the boxes and the frames directly inside the frame of that path.
    fn level(&mut self, path: &[&'p str]) {
        let indent = "\t".repeat(path.len() + 1);
        let flat = self.flat;
        for node in flat.nodes.iter().filter(|node| node.frames == path) {
            self.node(node, &indent);
        }
        let mut seen: Vec<&[&str]> = Vec::new();
        for node in &flat.nodes {
            let Some(frame) = node.frames.get(..=path.len()) else {
                continue;
            };
            if !frame.starts_with(path) || seen.contains(&frame) {
                continue;
            }
            seen.push(frame);
            let title = frame.last().copied().unwrap_or_default();
            // GraphViz draws a frame only for a subgraph named `cluster…`.
            let _ = writeln!(self.out, "{indent}subgraph cluster_{} {{", self.frames);
            self.frames += 1;
            let _ = writeln!(self.out, "{indent}\tlabel={};", quoted(title, true));
            self.level(frame);
            let _ = writeln!(self.out, "{indent}}}");
        }
    }

    fn node(&mut self, node: &FlatNode<'_>, indent: &str) {
        let Some(Some(id)) = self.ids.get(node.id) else {
            return;
        };
        let mut label = node.node.name.clone();
        let mut look = "";
        if self.styles {
            for mark in &node.node.marks {
                label.push('\n');
                label.push_str(mark);
            }
            look = match node.node.role {
                Role::Start => ", shape=oval, style=solid",
                Role::End => ", shape=oval, style=filled, fillcolor=\"#bfb6fc\"",
                Role::Anywhere => ", shape=oval, style=dashed",
                Role::Subgraph => ", peripheries=2",
                Role::Node => "",
            };
        }
        let _ = writeln!(
            self.out,
            "{indent}{id} [label={}{look}];",
            quoted(&label, true)
        );
    }

    fn line(&mut self, line: &FlatLine<'_>) {
        let (Some(Some(from)), Some(Some(to))) = (self.ids.get(line.from), self.ids.get(line.to))
        else {
            return;
        };
        let mut look = Vec::new();
        match line.kind {
            LineKind::Static => {}
            LineKind::Join => look.push("style=bold".to_owned()),
            LineKind::Each => look.push("arrowhead=normalnormal".to_owned()),
            LineKind::Conditional => look.push("style=dashed".to_owned()),
        }
        if let Some(label) = line.label {
            look.push(format!("label={}", quoted(label, true)));
        }
        let _ = if look.is_empty() {
            writeln!(self.out, "\t{from} -> {to};")
        } else {
            writeln!(self.out, "\t{from} -> {to} [{}];", look.join(", "))
        };
    }
}

/// Quotes a string. In labels, GraphViz also decodes HTML entities.
fn quoted(text: &str, label: bool) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' | '\0' => quoted.push(' '),
            '&' if label => quoted.push_str("&amp;"),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
