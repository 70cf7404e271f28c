//! Mermaid text, in the form of Python's LangGraph.

use std::collections::HashSet;
use std::fmt::Write as _;

use super::flat::{Flat, FlatLine, FlatNode, unique};
use super::picture::LineKind;

const HEAD: &str = "---\nconfig:\n  flowchart:\n    curve: linear\n---\n";
const STYLES: &str = "\tclassDef default fill:#f2f0ff,line-height:1.2\n\
                      \tclassDef first fill-opacity:0\n\
                      \tclassDef last fill:#bfb6fc\n";

/// Labels wrap after this many words.
const WORDS_PER_LINE: usize = 9;

/// Keywords of Mermaid, which an id cannot begin with.
const KEYWORDS: [&str; 13] = [
    "_blank",
    "_parent",
    "_self",
    "_top",
    "class",
    "classDef",
    "end",
    "flowchart",
    "graph",
    "interpolate",
    "linkStyle",
    "style",
    "subgraph",
];

/// Words that a title cannot contain either.
const COMMANDS: [&str; 5] = ["call", "click", "default", "direction", "href"];

pub(super) fn render(flat: &Flat<'_>, styles: bool) -> String {
    let mut page = MermaidPage::new(flat, styles);
    if styles {
        page.out.push_str(HEAD);
    }
    page.out.push_str("graph TD;\n");
    page.level(&[]);
    if styles {
        page.out.push_str(STYLES);
    }
    page.out
}

struct MermaidPage<'f, 'p> {
    flat: &'f Flat<'p>,
    styles: bool,
    first: Option<usize>,
    last: Option<usize>,
    /// The escaped name of each box, by its id.
    ids: Vec<Option<String>>,
    /// For each edge, the frames that contain both of its ends.
    frames: Vec<(&'f [&'p str], &'f FlatLine<'p>)>,
    taken: HashSet<String>,
    out: String,
}

/// A part of a frame after its edges.
enum Part<'f, 'p> {
    Frame(&'f [&'p str]),
    Loop(&'f FlatLine<'p>),
}

impl<'f, 'p> MermaidPage<'f, 'p> {
    fn new(flat: &'f Flat<'p>, styles: bool) -> Self {
        let mut taken = HashSet::new();
        let mut ids = vec![None; flat.ids()];
        let mut around: Vec<&[&str]> = vec![&[]; flat.ids()];
        for node in &flat.nodes {
            if let (Some(id), Some(around)) = (ids.get_mut(node.id), around.get_mut(node.id)) {
                *id = Some(unique(safe_id(&node.path()), &mut taken));
                *around = &node.frames;
            }
        }
        let mut frames = Vec::new();
        for line in &flat.lines {
            let from = around.get(line.from).copied().unwrap_or_default();
            let to = around.get(line.to).copied().unwrap_or_default();
            let mut common = 0;
            while from.get(common).is_some() && from.get(common) == to.get(common) {
                common += 1;
            }
            frames.push((from.get(..common).unwrap_or_default(), line));
        }
        Self {
            first: flat.first(),
            last: flat.last(),
            frames,
            flat,
            styles,
            ids,
            taken,
            out: String::new(),
        }
    }

    /// Writes everything inside the frame of that path.
    fn level(&mut self, path: &[&'p str]) {
        let flat = self.flat;
        if self.styles {
            for node in flat.nodes.iter().filter(|node| node.frames == path) {
                self.node(node);
            }
        }
        let mut loops = Vec::new();
        let mut lines = Vec::new();
        for (around, line) in &self.frames {
            if *around == path {
                let is_loop = line.from == line.to;
                let these = if is_loop { &mut loops } else { &mut lines };
                these.push(*line);
            }
        }
        for line in lines {
            self.line(line);
        }
        for part in self.parts(path, &loops) {
            match part {
                Part::Frame(frame) => self.frame(frame),
                Part::Loop(line) => self.line(line),
            }
        }
    }

    /// Returns frames and loops in the order of their first edges, then frames without any.
    fn parts(&self, path: &[&str], loops: &[&'f FlatLine<'p>]) -> Vec<Part<'f, 'p>> {
        let inside = |frames: &'f [&'p str]| {
            let frame = frames.get(..=path.len())?;
            frame.starts_with(path).then_some(frame)
        };
        let mut seen: Vec<&[&str]> = Vec::new();
        let mut parts = Vec::new();
        for (around, line) in &self.frames {
            if let Some(frame) = inside(around).filter(|frame| frame.len() == around.len()) {
                if line.from != line.to && !seen.contains(&frame) {
                    seen.push(frame);
                    parts.push(Part::Frame(frame));
                }
            } else if let Some(own) = loops.iter().find(|own| std::ptr::eq(**own, *line)) {
                parts.push(Part::Loop(own));
            }
        }
        // Without styles no nodes are written, so a frame without edges would be empty.
        let mut rest: Vec<&[&str]> = Vec::new();
        if self.styles {
            for node in &self.flat.nodes {
                rest.push(&node.frames);
            }
        }
        for (around, _) in &self.frames {
            rest.push(around);
        }
        for frames in rest {
            if let Some(frame) = inside(frames)
                && !seen.contains(&frame)
            {
                seen.push(frame);
                parts.push(Part::Frame(frame));
            }
        }
        parts
    }

    fn frame(&mut self, path: &[&'p str]) {
        let title = path.last().copied().unwrap_or_default();
        // A plain title is also the frame's id, so it must be unique.
        if is_plain_title(title) && self.taken.insert(title.to_owned()) {
            let _ = writeln!(self.out, "\tsubgraph {title}");
        } else {
            let mut id = safe_id(&path.join(":"));
            // This word is harmless only at the beginning of a node's id.
            if words(&id).next() == Some("default") {
                id = id.replacen('d', "\\64", 1);
            }
            let id = unique(id, &mut self.taken);
            let _ = writeln!(
                self.out,
                "\tsubgraph {id}[\"{}\"]",
                escape(title, &['"', '`', '<', '>'])
            );
        }
        self.level(path);
        self.out.push_str("\tend\n");
    }

    fn node(&mut self, node: &FlatNode<'_>) {
        let Some(Some(id)) = self.ids.get(node.id) else {
            return;
        };
        let name = &node.node.name;
        let mut label = node_label(name);
        if !node.node.marks.is_empty() {
            let mut marks = Vec::new();
            for mark in &node.node.marks {
                marks.push(mark_label(mark));
            }
            label = format!("{label}<hr/><small><em>{}</em></small>", marks.join("\n"));
        }
        let _ = if self.last == Some(node.id) && self.first != self.last {
            writeln!(self.out, "\t{id}([{label}]):::last")
        } else if self.first == Some(node.id) {
            writeln!(self.out, "\t{id}([{label}]):::first")
        } else {
            writeln!(self.out, "\t{id}({label})")
        };
    }

    fn line(&mut self, line: &FlatLine<'_>) {
        let (Some(Some(from)), Some(Some(to))) = (self.ids.get(line.from), self.ids.get(line.to))
        else {
            return;
        };
        let (open, arrow, special) = match line.kind {
            LineKind::Static | LineKind::Each => ("--", "-->", '-'),
            LineKind::Join => ("==", "==>", '='),
            LineKind::Conditional => ("-.", ".->", '.'),
        };
        let _ = match line.label {
            Some(label) => {
                let label = wrap(&line_label(label, special));
                writeln!(
                    self.out,
                    "\t{from} {open} &nbsp;{label}&nbsp; {arrow} {to};"
                )
            }
            None if line.kind == LineKind::Conditional => {
                writeln!(self.out, "\t{from} -.-> {to};")
            }
            None => writeln!(self.out, "\t{from} {arrow} {to};"),
        };
    }
}

/// Keeps letters, digits, `_` and `-`; every other character becomes a backslash and its code.
fn safe_id(name: &str) -> String {
    let mut escape_first = words(name)
        .next()
        .is_some_and(|word| KEYWORDS.contains(&word))
        || matches!(name, "call" | "click" | "href");
    let mut id = String::with_capacity(name.len());
    let mut chars = name.chars().peekable();
    while let Some(c) = chars.next() {
        // Two dashes would begin an edge.
        let dashes = c == '-' && (id.is_empty() || chars.peek() == Some(&'-'));
        if (is_word(c) || c == '-') && !dashes && !escape_first {
            id.push(c);
        } else {
            let _ = write!(id, "\\{:x}", u32::from(c));
        }
        escape_first = false;
    }
    id
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn words(name: &str) -> impl Iterator<Item = &str> {
    name.split(|c| !is_word(c))
}

/// Returns true if Mermaid takes the text as the title of a frame without quotes.
fn is_plain_title(title: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | ' ');
    title.starts_with(|c| plain(c) && c != '-' && c != ' ')
        && title.chars().all(plain)
        && !title.contains("--")
        && !words(title).any(|word| KEYWORDS.contains(&word) || COMMANDS.contains(&word))
}

fn node_label(name: &str) -> String {
    let mut label = escape(
        name,
        &['"', '(', ')', '[', ']', '{', '}', '<', '>', '|', '@'],
    );
    // A dash beside the bracket forms another bracket, and `1. ` begins a list.
    if let Some(rest) = label.strip_prefix('-') {
        label = format!("#45;{rest}");
    }
    if let Some(rest) = label.strip_suffix('-') {
        label = format!("{rest}#45;");
    }
    if let Some((digits, rest)) = label.split_once(". ")
        && !digits.is_empty()
        && digits.bytes().all(|digit| digit.is_ascii_digit())
    {
        label = format!("{digits}#46; {rest}");
    }
    let is_markdown = |c: char| matches!(c, '*' | '_' | '`');
    if name.starts_with(is_markdown) && name.ends_with(is_markdown) {
        label = format!("<p>{label}</p>");
    }
    label
}

fn mark_label(mark: &str) -> String {
    escape(
        mark,
        &['#', '[', ']', '(', ')', '{', '}', '"', '<', '>', '|'],
    )
}

fn line_label(label: &str, special: char) -> String {
    let label = escape(label, &['"', '<', '>']);
    match special {
        // A single dash in a label is harmless; two end the label.
        '-' => label.replace("--", "#45;#45;"),
        special => label.replace(special, &format!("#{};", u32::from(special))),
    }
}

/// Writes the given characters as Mermaid entities; text that looks like an entity stays text.
fn escape(text: &str, special: &[char]) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            '"' if special.contains(&c) => escaped.push_str("#quot;"),
            '\n' | '\r' => escaped.push(' '),
            c if special.contains(&c)
                || (matches!(c, '#' | '&') && begins_entity(rest.as_str())) =>
            {
                let _ = write!(escaped, "#{};", u32::from(c));
            }
            c => escaped.push(c),
        }
    }
    // Mermaid takes a line with one of these words for a direction of the picture.
    for way in ["TB", "TD", "BT", "LR", "RL"] {
        escaped = escaped.replace(&format!("direction {way}"), &format!("direction#32;{way}"));
    }
    escaped
}

/// Returns true for the `amp;` of `&amp;` and the `35;` of `#35;`.
fn begins_entity(rest: &str) -> bool {
    let rest = rest.strip_prefix('#').unwrap_or(rest);
    rest.split_once(';').is_some_and(|(word, _)| {
        !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || c == '_')
    })
}

fn wrap(label: &str) -> String {
    let words: Vec<&str> = label.split_whitespace().collect();
    if words.len() <= WORDS_PER_LINE {
        return label.to_owned();
    }
    let mut lines = Vec::new();
    for words in words.chunks(WORDS_PER_LINE) {
        lines.push(words.join(" "));
    }
    lines.join("&nbsp<br>&nbsp")
}
