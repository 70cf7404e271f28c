//! A picture for the terminal, drawn with box-drawing characters.
//!
//! Rows run from top to bottom; a loop is a line with its arrow at the upper end. Solid lines are
//! always followed. Dotted lines are followed if code chooses them. Heavy lines form a join.

mod canvas;
mod layers;
mod place;
mod route;
mod width;

use super::picture::{LineKind, Node, Picture, Role};
use canvas::{Canvas, Pen, Strokes};
use layers::{Layers, VertexKind, Wire};
use place::{Span, place};
use route::{Gap, Route, route, width_for};
use width::width;

pub(super) fn render(picture: &Picture, styles: bool) -> String {
    paint(picture, styles).to_string()
}

/// The content of a box.
struct Content {
    canvas: Canvas,
    /// The title in the upper border, for opened subgraphs.
    title: Option<String>,
}

/// A page of boxes in rows; boxes have the numbers that they have in the picture.
struct TerminalPage<'p> {
    picture: &'p Picture,
    contents: Vec<Content>,
    layers: Layers,
    spans: Vec<Span>,
    gaps: Vec<Gap>,
    /// The first text line of each row.
    tops: Vec<usize>,
    /// The number of text lines of each row.
    heights: Vec<usize>,
    /// The indices of the drawn lines in the picture.
    lines: Vec<usize>,
    canvas: Canvas,
}

fn paint(picture: &Picture, styles: bool) -> Canvas {
    let mut contents = Vec::with_capacity(picture.nodes.len());
    for (number, node) in picture.nodes.iter().enumerate() {
        contents.push(content(picture, number, node, styles));
    }

    let (mut lines, mut wires) = (Vec::new(), Vec::new());
    for (number, line) in picture.lines.iter().enumerate() {
        if line.from != line.to {
            lines.push(number);
            let label = line.label.as_deref().map(width);
            wires.push(Wire {
                from: line.from,
                to: line.to,
                label,
            });
        }
    }
    let layers = Layers::new(contents.len(), &wires);

    let mut above = vec![0; contents.len()];
    let mut below = vec![0; contents.len()];
    for segment in &layers.segments {
        if let Some(count) = below.get_mut(segment.upper) {
            *count += 1;
        }
        if let Some(count) = above.get_mut(segment.lower) {
            *count += 1;
        }
    }
    let mut widths = Vec::with_capacity(contents.len());
    for (number, content) in contents.iter().enumerate() {
        let lines = above.get(number).max(below.get(number)).copied();
        let lines = width_for(lines.unwrap_or_default());
        // An odd width, so that every box has a middle column.
        widths.push(content.width().max(lines) | 1);
    }
    let spans = place(&layers, &widths, &wires);
    let gaps = route(&layers, &spans);

    let mut page = TerminalPage {
        picture,
        contents,
        layers,
        spans,
        gaps,
        tops: Vec::new(),
        heights: Vec::new(),
        lines,
        canvas: Canvas::default(),
    };
    page.measure();
    page.boxes();
    page.routes();
    page.labels();
    page.canvas
}

/// Returns the name, the marks and the loops of a node, or the picture of its subgraph.
fn content(picture: &Picture, number: usize, node: &Node, styles: bool) -> Content {
    let mut texts = Vec::new();
    let mut canvas = Canvas::default();
    let mut title = None;
    if let Some(inner) = &node.inner {
        canvas = paint(inner, styles);
        title = Some(format!(" {} ", node.name));
    } else {
        texts.push(node.name.clone());
    }
    if styles {
        texts.extend_from_slice(&node.marks);
    }
    for line in &picture.lines {
        if line.from == number && line.to == number {
            texts.push(match &line.label {
                Some(label) => format!("↺ {label}"),
                None => "↺".to_owned(),
            });
        }
    }
    let mut columns = canvas.width();
    for text in &texts {
        columns = columns.max(width(text));
    }
    let first = canvas.height();
    for (row, text) in texts.iter().enumerate() {
        canvas.centered(0, first + row, columns, text);
    }
    Content { canvas, title }
}

impl Content {
    fn width(&self) -> usize {
        let title = self.title.as_deref().map_or(0, |title| width(title) + 4);
        (self.canvas.width() + 4).max(title)
    }

    fn height(&self) -> usize {
        self.canvas.height() + 2
    }
}

impl TerminalPage<'_> {
    /// Computes the text line at which each row begins, from the contents and the gaps.
    fn measure(&mut self) {
        let mut y = 0;
        for (row, gap) in self.layers.rows.iter().zip(&self.gaps) {
            let mut height = 1;
            for vertex in row {
                height = height.max(self.height_of(*vertex));
            }
            self.tops.push(y);
            self.heights.push(height);
            let (up, down) = self.arrows(gap);
            // An arrow alone does not show the kind of its line.
            let tracks = gap.tracks.max(usize::from(self.hides_a_line(gap)));
            y += height + (tracks + usize::from(up) + usize::from(down)).max(1);
        }
    }

    fn height_of(&self, vertex: usize) -> usize {
        match self.layers.vertices.get(vertex).map(|vertex| vertex.kind) {
            Some(VertexKind::Item(item)) => self.contents.get(item).map_or(1, Content::height),
            _ => 1,
        }
    }

    /// Returns whether arrows stand at the upper and at the lower end of a gap.
    fn arrows(&self, gap: &Gap) -> (bool, bool) {
        let arrow = |up: bool| gap.routes.iter().any(|route| self.arrow(route) == Some(up));
        (arrow(true), arrow(false))
    }

    /// Returns true for a gap that would show only the arrow of a dotted or heavy line.
    fn hides_a_line(&self, gap: &Gap) -> bool {
        let special = |route: &Route| {
            let segment = self.layers.segments.get(route.segment);
            segment.is_some_and(|segment| self.pen(segment.wire) != Pen::Light)
        };
        let mut routes = gap.routes.iter();
        routes.any(|route| special(route) && self.arrow(route).is_some())
    }

    fn pen(&self, wire: usize) -> Pen {
        let line = self.lines.get(wire);
        match line
            .and_then(|line| self.picture.lines.get(*line))
            .map(|line| line.kind)
        {
            Some(LineKind::Join) => Pen::Heavy,
            Some(LineKind::Conditional) => Pen::Dotted,
            _ => Pen::Light,
        }
    }

    /// Returns the end of a route with its arrow: true for the upper one.
    fn arrow(&self, route: &Route) -> Option<bool> {
        let segment = self.layers.segments.get(route.segment)?;
        let up = *self.layers.upwards.get(segment.wire)?;
        let end = if up { segment.upper } else { segment.lower };
        let vertex = self.layers.vertices.get(end)?;
        matches!(vertex.kind, VertexKind::Item(_)).then_some(up)
    }

    /// Returns the text line of a box's upper or lower border; for other vertices, their middle.
    fn border(&self, vertex: usize, lower: bool) -> usize {
        let layer = self.layers.layer_of(vertex);
        let top = self.tops.get(layer).copied().unwrap_or_default();
        let height = self.heights.get(layer).copied().unwrap_or(1);
        match self.layers.vertices.get(vertex).map(|vertex| vertex.kind) {
            Some(VertexKind::Item(_)) if lower => top + self.height_of(vertex) - 1,
            Some(VertexKind::Item(_)) => top,
            _ => top + (height - 1) / 2,
        }
    }

    fn boxes(&mut self) {
        for (item, node) in self.picture.nodes.iter().enumerate() {
            let (Some(content), Some(span)) = (self.contents.get(item), self.spans.get(item))
            else {
                continue;
            };
            let top = self.border(item, false);
            frame(&mut self.canvas, node, *span, top, content.height());
            let inside = content.canvas.width();
            let left = span.left + (span.width - inside) / 2;
            self.canvas.paste(left, top + 1, &content.canvas);
            if let Some(title) = &content.title {
                self.canvas.text(span.left + 2, top, title);
            }
        }
    }

    fn routes(&mut self) {
        for (layer, gap) in std::mem::take(&mut self.gaps).iter().enumerate() {
            let top = self.tops.get(layer).copied().unwrap_or_default();
            let height = self.heights.get(layer).copied().unwrap_or_default();
            let (up, _) = self.arrows(gap);
            for route in &gap.routes {
                self.draw(route, top + height + usize::from(up));
            }
        }
    }

    /// Draws one line of a gap; `track` is the text line of the first track.
    fn draw(&mut self, route: &Route, track: usize) {
        let Some(segment) = self.layers.segments.get(route.segment).copied() else {
            return;
        };
        let pen = self.pen(segment.wire);
        let arrow = self.arrow(route);
        let first = self.border(segment.upper, true) + usize::from(arrow == Some(true));
        let last = self.border(segment.lower, false) - usize::from(arrow == Some(false));
        let (mut x, mut y) = (route.top, first);
        for (turn, to) in &route.turns {
            self.down(x, y, track + turn, pen);
            self.across(x, *to, track + turn, pen);
            (x, y) = (*to, track + turn);
        }
        self.down(x, y, last, pen);
        match arrow {
            Some(true) => self.canvas.glyph(route.top, first, "▲"),
            Some(false) => self.canvas.glyph(route.bottom, last, "▼"),
            None => {}
        }
        // Double borders are text, so lines do not join them automatically.
        if arrow != Some(true) && self.is_double(segment.upper) {
            self.canvas.glyph(route.top, first, "╤");
        }
        if arrow != Some(false) && self.is_double(segment.lower) {
            self.canvas.glyph(route.bottom, last, "╧");
        }
    }

    fn is_double(&self, vertex: usize) -> bool {
        match self.layers.vertices.get(vertex).map(|vertex| vertex.kind) {
            Some(VertexKind::Item(item)) => self.picture.nodes.get(item).is_some_and(is_double),
            _ => false,
        }
    }

    fn down(&mut self, x: usize, from: usize, to: usize, pen: Pen) {
        for y in from..to {
            self.canvas.stroke(x, y, Strokes::down(pen));
            self.canvas.stroke(x, y + 1, Strokes::up(pen));
        }
    }

    fn across(&mut self, from: usize, to: usize, y: usize, pen: Pen) {
        for x in from.min(to)..from.max(to) {
            self.canvas.stroke(x, y, Strokes::right(pen));
            self.canvas.stroke(x + 1, y, Strokes::left(pen));
        }
    }

    fn labels(&mut self) {
        for (number, vertex) in self.layers.vertices.iter().enumerate() {
            let VertexKind::Label(wire) = vertex.kind else {
                continue;
            };
            let line = self
                .lines
                .get(wire)
                .and_then(|line| self.picture.lines.get(*line));
            let (Some(line), Some(span)) = (line, self.spans.get(number)) else {
                continue;
            };
            let y = self.border(number, false);
            self.canvas
                .text(span.left, y, line.label.as_deref().unwrap_or_default());
        }
    }
}

/// Returns true for subgraphs that are not opened.
fn is_double(node: &Node) -> bool {
    node.role == Role::Subgraph && node.inner.is_none()
}

/// Draws the border of a box.
fn frame(canvas: &mut Canvas, node: &Node, span: Span, top: usize, height: usize) {
    let (right, bottom) = (span.left + span.width - 1, top + height - 1);
    let corners = match node.role {
        Role::Start | Role::End | Role::Anywhere => ["╭", "╮", "╰", "╯"],
        Role::Subgraph if is_double(node) => ["╔", "╗", "╚", "╝"],
        Role::Node | Role::Subgraph => ["┌", "┐", "└", "┘"],
    };
    let places = [
        (span.left, top),
        (right, top),
        (span.left, bottom),
        (right, bottom),
    ];
    for (corner, (x, y)) in corners.into_iter().zip(places) {
        canvas.glyph(x, y, corner);
    }
    let double = is_double(node);
    let pen = if node.role == Role::Anywhere {
        Pen::Dotted
    } else {
        Pen::Light
    };
    for x in span.left + 1..right {
        for y in [top, bottom] {
            if double {
                canvas.glyph(x, y, "═");
            } else {
                canvas.stroke(x, y, Strokes::horizontal(pen));
            }
        }
    }
    for y in top + 1..bottom {
        for x in [span.left, right] {
            if double {
                canvas.glyph(x, y, "║");
            } else {
                canvas.stroke(x, y, Strokes::vertical(pen));
            }
        }
    }
}
