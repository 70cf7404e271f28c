//! Places boxes and lines in columns: straight lines where possible, no overlaps.

use super::layers::{Layers, VertexKind, Wire};

/// The minimum of free columns between neighbours in a row.
const GAP: usize = 2;
/// The minimum between two boxes, so that they do not look like one.
const BOX_GAP: usize = 3;
/// The number of rounds that pull in one direction; a last one pulls in both.
const ROUNDS: usize = 8;
/// The weight of straight lines: a bend in a long line looks worse than a box off its centre.
const STRAIGHT: f64 = 8.0;

/// The column at which rows begin, which leaves room to the left.
const MIDDLE: usize = 1 << 24;

/// The columns of a vertex.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Span {
    pub(super) left: usize,
    pub(super) width: usize,
}

impl Span {
    pub(super) fn centre(self) -> usize {
        self.left + self.width.saturating_sub(1) / 2
    }
}

/// Assigns columns to every vertex. `widths` are those of the boxes.
pub(super) fn place(layers: &Layers, widths: &[usize], wires: &[Wire]) -> Vec<Span> {
    let width_of = |kind| match kind {
        VertexKind::Item(item) => widths.get(item).copied().unwrap_or(1),
        VertexKind::Bend(_) => 1,
        VertexKind::Label(wire) => wires.get(wire).and_then(|wire| wire.label).unwrap_or(1),
    };
    let mut spans = Vec::with_capacity(layers.vertices.len());
    for vertex in &layers.vertices {
        spans.push(Span {
            left: MIDDLE,
            width: width_of(vertex.kind),
        });
    }
    let neighbours = Neighbours::of(layers);
    for row in &layers.rows {
        align(layers, row, &mut spans, &|_, _| None);
    }
    pull(layers, &neighbours, &mut spans);
    straighten(layers, &neighbours, &mut spans);
    let margin = spans.iter().map(|span| span.left).min().unwrap_or_default();
    for span in &mut spans {
        span.left -= margin;
    }
    spans
}

/// Pulls each vertex towards the vertices above it, then towards those below, in turns; and at last
/// towards both.
fn pull(layers: &Layers, neighbours: &Neighbours, spans: &mut [Span]) {
    let count = layers.rows.len();
    for round in 0..ROUNDS {
        for step in 1..count {
            if round % 2 == 0 {
                let Some(row) = layers.rows.get(step) else {
                    continue;
                };
                align(layers, row, spans, &|vertex, spans| {
                    neighbours.above(vertex, spans)
                });
            } else {
                let Some(row) = layers.rows.get(count - 1 - step) else {
                    continue;
                };
                align(layers, row, spans, &|vertex, spans| {
                    neighbours.below(vertex, spans)
                });
            }
        }
    }
    for row in &layers.rows {
        align(layers, row, spans, &|vertex, spans| {
            neighbours.both(vertex, spans)
        });
    }
}

/// Lets a line that arrives straight continue straight unless something is in its way.
fn straighten(layers: &Layers, neighbours: &Neighbours, spans: &mut [Span]) {
    let is_bend = |vertex: usize| {
        let kind = layers.vertices.get(vertex).map(|vertex| vertex.kind);
        !matches!(kind, None | Some(VertexKind::Item(_)))
    };
    for row in &layers.rows {
        align(layers, row, spans, &|vertex, spans| {
            let above = neighbours.above.get(vertex)?.first()?;
            if is_bend(vertex) && is_bend(*above) {
                neighbours.above(vertex, spans)
            } else {
                None
            }
        });
    }
}

struct Neighbours {
    above: Vec<Vec<usize>>,
    below: Vec<Vec<usize>>,
}

impl Neighbours {
    fn of(layers: &Layers) -> Self {
        let count = layers.vertices.len();
        let mut neighbours = Self {
            above: vec![Vec::new(); count],
            below: vec![Vec::new(); count],
        };
        for segment in &layers.segments {
            if let Some(above) = neighbours.above.get_mut(segment.lower) {
                above.push(segment.upper);
            }
            if let Some(below) = neighbours.below.get_mut(segment.upper) {
                below.push(segment.lower);
            }
        }
        neighbours
    }

    fn above(&self, vertex: usize, spans: &[Span]) -> Option<f64> {
        middle(self.above.get(vertex)?, spans)
    }

    fn below(&self, vertex: usize, spans: &[Span]) -> Option<f64> {
        middle(self.below.get(vertex)?, spans)
    }

    fn both(&self, vertex: usize, spans: &[Span]) -> Option<f64> {
        let above = self.above(vertex, spans);
        let below = self.below(vertex, spans);
        match (above, below) {
            (Some(above), Some(below)) => Some(f64::midpoint(above, below)),
            (one, other) => one.or(other),
        }
    }
}

#[allow(clippy::cast_precision_loss)] // a picture has fewer columns than a float has digits
fn middle(vertices: &[usize], spans: &[Span]) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0.0);
    for vertex in vertices {
        if let Some(span) = spans.get(*vertex) {
            sum += span.centre() as f64;
            count += 1.0;
        }
    }
    (count > 0.0).then(|| sum / count)
}

/// Moves the vertices of a row towards their wishes, as far as their neighbours allow.
#[allow(clippy::cast_precision_loss)] // as above
fn align(
    layers: &Layers,
    row: &[usize],
    spans: &mut [Span],
    wish: &dyn Fn(usize, &[Span]) -> Option<f64>,
) {
    let mut wishes = Vec::with_capacity(row.len());
    let mut after_box = false;
    for (index, vertex) in row.iter().enumerate() {
        let span = spans.get(*vertex).copied().unwrap_or_default();
        let kind = layers.vertices.get(*vertex).map(|vertex| vertex.kind);
        let is_box = matches!(kind, Some(VertexKind::Item(_)));
        let centre = wish(*vertex, spans).unwrap_or(span.centre() as f64);
        let gap = if after_box && is_box { BOX_GAP } else { GAP };
        after_box = is_box;
        wishes.push(Wish {
            at: centre - (span.width.saturating_sub(1) / 2) as f64,
            weight: if is_box { 1.0 } else { STRAIGHT },
            gap: if index == 0 { 0 } else { gap },
            width: span.width,
        });
    }
    for (vertex, left) in row.iter().zip(spread(&wishes)) {
        if let Some(span) = spans.get_mut(*vertex) {
            span.left = left;
        }
    }
}

/// A wished position and the space it needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wish {
    pub(super) at: f64,
    pub(super) weight: f64,
    /// The free columns before it.
    pub(super) gap: usize,
    pub(super) width: usize,
}

/// Finds the positions nearest to all wishes that keep the order and the gaps.
///
/// This is isotonic regression: neighbours with the same wish move aside as one block.
#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)]
pub(super) fn spread(wishes: &[Wish]) -> Vec<usize> {
    struct Block {
        sum: f64,
        weight: f64,
        count: usize,
    }
    impl Block {
        fn at(&self) -> f64 {
            self.sum / self.weight
        }
    }
    let mut offset = 0;
    let mut offsets = Vec::with_capacity(wishes.len());
    let mut blocks: Vec<Block> = Vec::new();
    for wish in wishes {
        offset += wish.gap;
        offsets.push(offset);
        let at = wish.at - offset as f64;
        let mut block = Block {
            sum: at * wish.weight,
            weight: wish.weight,
            count: 1,
        };
        while let Some(left) = blocks.pop_if(|left| left.at() >= block.at()) {
            block.sum += left.sum;
            block.weight += left.weight;
            block.count += left.count;
        }
        blocks.push(block);
        offset += wish.width;
    }
    let mut places = Vec::with_capacity(wishes.len());
    for block in blocks {
        let start = block.at().round().max(0.0) as usize;
        for _ in 0..block.count {
            places.push(start + offsets.get(places.len()).copied().unwrap_or_default());
        }
    }
    places
}
