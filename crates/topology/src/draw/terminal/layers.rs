//! Assigns each box to a row, and orders the rows: few upward lines, few crossings.

/// A line between two boxes, given by their numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wire {
    pub(super) from: usize,
    pub(super) to: usize,
    /// The columns of its label.
    pub(super) label: Option<usize>,
}

/// Something that takes up space in a row.
#[derive(Clone, Debug)]
pub(super) struct Vertex {
    pub(super) kind: VertexKind,
    pub(super) layer: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VertexKind {
    /// The box of that number.
    Item(usize),
    /// A line passes here.
    Bend(usize),
    /// A line passes here with its label.
    Label(usize),
}

/// A piece of a line between adjacent rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment {
    pub(super) upper: usize,
    pub(super) lower: usize,
    pub(super) wire: usize,
}

/// Rows of boxes and of the lines that pass between them.
#[derive(Debug, Default)]
pub(super) struct Layers {
    /// The boxes first, by their numbers; then the bends and labels of lines.
    pub(super) vertices: Vec<Vertex>,
    pub(super) segments: Vec<Segment>,
    /// Vertices by row, from left to right.
    pub(super) rows: Vec<Vec<usize>>,
    /// For each line, whether it is drawn upwards.
    pub(super) upwards: Vec<bool>,
}

/// Rounds of sorting; more find no better order in graphs of readable size.
const ROUNDS: usize = 12;

impl Layers {
    /// Arranges `items` boxes. Omit lines from a box to itself: they are not drawn as lines.
    pub(super) fn new(items: usize, wires: &[Wire]) -> Self {
        let (order, upwards) = grain(items, wires);
        let heights = heights(&order, wires, &upwards);
        let mut layers = Self {
            upwards,
            ..Self::default()
        };
        for (item, layer) in heights.iter().enumerate() {
            layers.vertices.push(Vertex {
                kind: VertexKind::Item(item),
                layer: *layer,
            });
        }
        for (wire, ends) in wires.iter().enumerate() {
            layers.thread(wire, *ends);
        }
        let mut count = 0;
        for vertex in &layers.vertices {
            count = count.max(vertex.layer + 1);
        }
        layers.rows.resize_with(count, Vec::new);
        for (number, vertex) in layers.vertices.iter().enumerate() {
            if let Some(row) = layers.rows.get_mut(vertex.layer) {
                row.push(number);
            }
        }
        layers.sort();
        layers
    }

    pub(super) fn layer_of(&self, vertex: usize) -> usize {
        self.vertices.get(vertex).map_or(0, |vertex| vertex.layer)
    }

    /// Cuts a line into pieces from row to row.
    fn thread(&mut self, wire: usize, ends: Wire) {
        let upwards = self.upwards.get(wire).copied().unwrap_or_default();
        let (top, bottom) = if upwards {
            (ends.to, ends.from)
        } else {
            (ends.from, ends.to)
        };
        let (first, last) = (self.layer_of(top) + 1, self.layer_of(bottom));
        let mut upper = top;
        for layer in first..last {
            // The label stands at the beginning of the line.
            let at_begin = if upwards {
                layer + 1 == last
            } else {
                layer == first
            };
            let kind = match ends.label.filter(|_| at_begin) {
                Some(_) => VertexKind::Label(wire),
                None => VertexKind::Bend(wire),
            };
            let lower = self.vertices.len();
            self.vertices.push(Vertex { kind, layer });
            self.segments.push(Segment { upper, lower, wire });
            upper = lower;
        }
        self.segments.push(Segment {
            upper,
            lower: bottom,
            wire,
        });
    }

    /// Sorts the rows to reduce crossings.
    fn sort(&mut self) {
        let mut best = self.rows.clone();
        let mut fewest = self.crossings();
        for round in 0..ROUNDS {
            if fewest == 0 {
                break;
            }
            let down = round % 2 == 0;
            let count = self.rows.len();
            for step in 1..count {
                self.sort_row(if down { step } else { count - 1 - step }, down);
            }
            let crossings = self.crossings();
            if crossings < fewest {
                fewest = crossings;
                best.clone_from(&self.rows);
            }
        }
        self.rows = best;
    }

    /// Moves each vertex of a row to the middle of its neighbours above or below.
    fn sort_row(&mut self, layer: usize, by_upper: bool) {
        let places = self.places();
        let mut sums = vec![(0.0_f64, 0.0_f64); self.vertices.len()];
        for segment in &self.segments {
            let (own, other) = if by_upper {
                (segment.lower, segment.upper)
            } else {
                (segment.upper, segment.lower)
            };
            if let (Some((sum, count)), Some(place)) = (sums.get_mut(own), places.get(other)) {
                *sum += *place;
                *count += 1.0;
            }
        }
        let Some(row) = self.rows.get_mut(layer) else {
            return;
        };
        let mut order = Vec::with_capacity(row.len());
        for vertex in row.drain(..) {
            let place = places.get(vertex).copied().unwrap_or_default();
            let middle = match sums.get(vertex) {
                Some((sum, count)) if *count > 0.0 => sum / count,
                _ => place,
            };
            order.push((middle, place, vertex));
        }
        sort(&mut order);
        for (.., vertex) in order {
            row.push(vertex);
        }
    }

    /// Returns the position of each vertex in its row.
    fn places(&self) -> Vec<f64> {
        let mut places = vec![0.0; self.vertices.len()];
        for row in &self.rows {
            let mut place = 0.0;
            for vertex in row {
                if let Some(known) = places.get_mut(*vertex) {
                    *known = place;
                }
                place += 1.0;
            }
        }
        places
    }

    fn crossings(&self) -> usize {
        let places = self.places();
        let place = |vertex: usize| places.get(vertex).copied().unwrap_or_default();
        let mut pairs = vec![Vec::new(); self.rows.len()];
        for segment in &self.segments {
            if let Some(pairs) = pairs.get_mut(self.layer_of(segment.upper)) {
                pairs.push((place(segment.upper), place(segment.lower), segment.lower));
            }
        }
        let mut crossings = 0;
        for mut row in pairs {
            sort(&mut row);
            let mut lower = Vec::with_capacity(row.len());
            for (_, place, _) in row {
                lower.push(place);
            }
            crossings += inversions(lower);
        }
        crossings
    }
}

/// Sorts vertices by one number, then by another.
fn sort(vertices: &mut [(f64, f64, usize)]) {
    vertices.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
}

/// Counts the pairs in the wrong order, while sorting.
fn inversions(mut values: Vec<f64>) -> usize {
    let mut count = 0;
    let mut width = 1;
    while width < values.len() {
        let mut merged = Vec::with_capacity(values.len());
        for pair in values.chunks(width * 2) {
            let (left, right) = pair.split_at(width.min(pair.len()));
            let (mut left, mut right) = (left.iter().peekable(), right.iter().peekable());
            loop {
                match (left.peek(), right.peek()) {
                    (Some(l), Some(r)) if r < l => {
                        count += left.len();
                        merged.extend(right.next());
                    }
                    (Some(_), _) => merged.extend(left.next()),
                    (None, Some(_)) => merged.extend(right.next()),
                    (None, None) => break,
                }
            }
        }
        values = merged;
        width *= 2;
    }
    count
}

/// Orders the boxes so that all lines lead forward, except those marked as upwards.
fn grain(items: usize, wires: &[Wire]) -> (Vec<usize>, Vec<bool>) {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let mut next: Vec<Vec<(usize, usize)>> = vec![Vec::new(); items];
    for (number, wire) in wires.iter().enumerate() {
        if let Some(next) = next.get_mut(wire.from) {
            next.push((number, wire.to));
        }
    }
    let mut marks = vec![Mark::New; items];
    let mut upwards = vec![false; wires.len()];
    let mut order = Vec::with_capacity(items);
    // An explicit stack: a chain of many thousand nodes must not overflow the thread's.
    let mut open: Vec<(usize, std::slice::Iter<'_, (usize, usize)>)> = Vec::new();
    for root in 0..items {
        if marks.get(root) == Some(&Mark::New)
            && let (Some(mark), Some(next)) = (marks.get_mut(root), next.get(root))
        {
            *mark = Mark::Open;
            open.push((root, next.iter()));
        }
        while let Some((item, rest)) = open.last_mut() {
            let item = *item;
            if let Some((wire, to)) = rest.next() {
                match marks.get_mut(*to) {
                    Some(mark @ Mark::New) => {
                        *mark = Mark::Open;
                        if let Some(next) = next.get(*to) {
                            open.push((*to, next.iter()));
                        }
                    }
                    // The target is still open, so this line is drawn upwards.
                    Some(Mark::Open) => {
                        if let Some(upwards) = upwards.get_mut(*wire) {
                            *upwards = true;
                        }
                    }
                    _ => {}
                }
            } else {
                open.pop();
                order.push(item);
                if let Some(mark) = marks.get_mut(item) {
                    *mark = Mark::Done;
                }
            }
        }
    }
    order.reverse();
    (order, upwards)
}

/// Returns the row of each box: below all its predecessors, with rows left for labels.
fn heights(order: &[usize], wires: &[Wire], upwards: &[bool]) -> Vec<usize> {
    let mut down: Vec<Vec<(usize, usize)>> = vec![Vec::new(); order.len()];
    let mut reached = vec![false; order.len()];
    for (wire, upwards) in wires.iter().zip(upwards) {
        let (from, to) = if *upwards {
            (wire.to, wire.from)
        } else {
            (wire.from, wire.to)
        };
        let length = if wire.label.is_some() { 2 } else { 1 };
        if let (Some(down), Some(reached)) = (down.get_mut(from), reached.get_mut(to)) {
            down.push((to, length));
            *reached = true;
        }
    }
    let mut heights = vec![0; order.len()];
    for item in order {
        let own = heights.get(*item).copied().unwrap_or_default();
        for (to, length) in down.get(*item).into_iter().flatten() {
            if let Some(height) = heights.get_mut(*to) {
                *height = (*height).max(own + length);
            }
        }
    }
    // A box without predecessors stands right above its successor; the start stays on top.
    for (item, reached) in reached.iter().enumerate().skip(1) {
        let mut row = None;
        for (to, length) in down.get(item).into_iter().flatten() {
            let above = heights.get(*to).and_then(|to| to.checked_sub(*length));
            row = match (row, above) {
                (Some(row), Some(above)) => Some(above.min(row)),
                (row, above) => row.or(above),
            };
        }
        if let (Some(row), false, Some(height)) = (row, reached, heights.get_mut(item)) {
            *height = row;
        }
    }
    heights
}
