//! Routes lines between two rows: where they leave a box, where they arrive, and where they turn.
//!
//! Every line has its own columns at both ends, and turns in its own track. So lines cross but
//! never overlap.

use super::layers::{Layers, VertexKind};
use super::place::{Span, Wish, spread};

/// A line between two adjacent rows.
#[derive(Debug)]
pub(super) struct Route {
    /// The segment of that number.
    pub(super) segment: usize,
    pub(super) top: usize,
    pub(super) bottom: usize,
    /// The tracks in which it turns, each with the column to which it turns.
    pub(super) turns: Vec<(usize, usize)>,
}

/// The lines of one gap, and the number of their tracks.
#[derive(Debug, Default)]
pub(super) struct Gap {
    pub(super) routes: Vec<Route>,
    pub(super) tracks: usize,
}

/// A horizontal piece of a line.
#[derive(Clone, Copy, Debug)]
struct Piece {
    route: usize,
    from: usize,
    to: usize,
    /// True for the second half of a line that turns twice.
    second: bool,
}

/// Returns the gap below each row.
pub(super) fn route(layers: &Layers, spans: &[Span]) -> Vec<Gap> {
    let mut gaps: Vec<Gap> = Vec::new();
    gaps.resize_with(layers.rows.len(), Gap::default);
    let bottoms = ports(layers, spans, Side::Top, None);
    let tops = ports(layers, spans, Side::Bottom, Some(&bottoms));
    for (number, segment) in layers.segments.iter().enumerate() {
        let (Some(top), Some(bottom)) = (tops.get(number), bottoms.get(number)) else {
            continue;
        };
        if let Some(gap) = gaps.get_mut(layers.layer_of(segment.upper)) {
            let route = Route {
                segment: number,
                top: *top,
                bottom: *bottom,
                turns: Vec::new(),
            };
            gap.routes.push(route);
        }
    }
    for gap in &mut gaps {
        turn(gap);
    }
    gaps
}

/// Returns the columns that a box needs for this many lines on one side.
pub(super) fn width_for(lines: usize) -> usize {
    2 * lines + 1
}

#[derive(Clone, Copy, PartialEq)]
enum Side {
    Top,
    Bottom,
}

/// Returns, for each segment, its column on one side of its box.
///
/// `known` holds the columns at the other end; without it, the middle of the other box counts.
fn ports(layers: &Layers, spans: &[Span], side: Side, known: Option<&[usize]>) -> Vec<usize> {
    let span = |vertex: usize| spans.get(vertex).copied().unwrap_or_default();
    let mut by_vertex: Vec<Vec<(usize, usize, usize)>> = vec![Vec::new(); layers.vertices.len()];
    for (number, segment) in layers.segments.iter().enumerate() {
        let (own, other) = match side {
            Side::Top => (segment.lower, segment.upper),
            Side::Bottom => (segment.upper, segment.lower),
        };
        if let Some(segments) = by_vertex.get_mut(own) {
            segments.push((span(other).left, segment.wire, number));
        }
    }
    let mut ports = vec![0; layers.segments.len()];
    for (vertex, segments) in by_vertex.iter_mut().enumerate() {
        segments.sort_unstable();
        let own = span(vertex);
        let is_box = layers
            .vertices
            .get(vertex)
            .is_some_and(|vertex| matches!(vertex.kind, VertexKind::Item(_)));
        let mut wishes = Vec::new();
        for (_, _, number) in &*segments {
            let segment = layers.segments.get(*number);
            let other = segment.map(|segment| match side {
                Side::Top => segment.upper,
                Side::Bottom => segment.lower,
            });
            wishes.push(match known.and_then(|known| known.get(*number)) {
                Some(column) => *column,
                None => other.map_or(0, |other| span(other).centre()),
            });
        }
        let columns = if is_box {
            spaced(&wishes, own)
        } else {
            vec![own.centre()]
        };
        for ((_, _, number), column) in segments.iter().zip(columns) {
            if let Some(port) = ports.get_mut(*number) {
                *port = column;
            }
        }
    }
    ports
}

/// Assigns columns to the lines on one side of a box, in the order of their wishes.
#[allow(clippy::cast_precision_loss)] // a picture has fewer columns than a float has digits
fn spaced(wishes: &[usize], own: Span) -> Vec<usize> {
    let (first, last) = (own.left + 1, (own.left + own.width).saturating_sub(2));
    if let [wish] = *wishes {
        let inside = (first..=last).contains(&wish);
        return vec![if inside { wish } else { own.centre() }];
    }
    let mut inside = Vec::new();
    for (index, wish) in wishes.iter().copied().enumerate() {
        inside.push(Wish {
            at: wish.clamp(first, last.max(first)) as f64,
            weight: 1.0,
            gap: usize::from(index > 0),
            width: 1,
        });
    }
    let mut columns = spread(&inside);
    let count = columns.len();
    for (index, column) in columns.iter_mut().enumerate() {
        let leftmost = first + 2 * index;
        let rightmost = (last + 2 * (index + 1)).saturating_sub(2 * count);
        *column = (*column).min(rightmost).max(leftmost);
    }
    columns
}

/// Assigns a track to every line that turns.
fn turn(gap: &mut Gap) {
    let mut free = 0;
    let mut outermost: Vec<(usize, usize, usize)> = Vec::new();
    for (route, line) in gap.routes.iter().enumerate() {
        free = free.max(line.top.max(line.bottom) + 2);
        if line.bottom < line.top {
            outermost.push((0, line.top, route));
        } else if line.top < line.bottom {
            outermost.push((1, usize::MAX - line.top, route));
        }
    }
    // Lines that turn outwards do not cross if the outermost turns first.
    outermost.sort_unstable();
    let mut pieces = Vec::new();
    for (.., route) in outermost {
        if let Some(line) = gap.routes.get(route) {
            pieces.push(Piece {
                route,
                from: line.top,
                to: line.bottom,
                second: false,
            });
        }
    }
    let placed = loop {
        match assign(&pieces) {
            Ok(placed) => break placed,
            // Two lines want each other's column: one of them makes a detour beside all others.
            Err(stuck) => {
                let Some(piece) = pieces.get_mut(stuck) else {
                    return;
                };
                let rest = Piece {
                    from: free,
                    second: true,
                    ..*piece
                };
                piece.to = free;
                pieces.push(rest);
                free += 2;
            }
        }
    };
    let mut turns: Vec<(usize, usize, usize)> = Vec::new();
    for (piece, track) in pieces.iter().zip(placed) {
        gap.tracks = gap.tracks.max(track + 1);
        turns.push((track, piece.route, piece.to));
    }
    turns.sort_unstable();
    for (track, route, to) in turns {
        if let Some(line) = gap.routes.get_mut(route) {
            line.turns.push((track, to));
        }
    }
}

/// Assigns a track to each piece, or returns the number of one that must be cut.
fn assign(pieces: &[Piece]) -> Result<Vec<usize>, usize> {
    let above = above(pieces);
    let mut placed: Vec<Option<usize>> = vec![None; pieces.len()];
    let mut tracks: Vec<Vec<(usize, usize)>> = Vec::new();
    let mut open: Vec<usize> = (0..pieces.len()).collect();
    while !open.is_empty() {
        let mut waiting = Vec::new();
        for number in open.iter().copied() {
            let lowest = lowest_track(&above, number, &placed);
            let (Some(lowest), Some(piece)) = (lowest, pieces.get(number)) else {
                waiting.push(number);
                continue;
            };
            let ends = (piece.from.min(piece.to), piece.from.max(piece.to));
            let apart = |(left, right): &(usize, usize)| ends.1 < *left || *right < ends.0;
            let mut track = lowest;
            while tracks
                .get(track)
                .is_some_and(|track| !track.iter().all(apart))
            {
                track += 1;
            }
            if tracks.len() <= track {
                tracks.resize_with(track + 1, Vec::new);
            }
            if let Some(ends_there) = tracks.get_mut(track) {
                ends_there.push(ends);
            }
            if let Some(slot) = placed.get_mut(number) {
                *slot = Some(track);
            }
        }
        if waiting.len() == open.len() {
            return Err(on_cycle(&waiting, &placed, &above));
        }
        open = waiting;
    }
    Ok(placed.into_iter().flatten().collect())
}

/// Returns, for each piece, those that must turn before it.
///
/// If one line enters a column from above and another leaves it below, the first must turn away
/// before the second turns in.
fn above(pieces: &[Piece]) -> Vec<Vec<usize>> {
    let mut above = Vec::new();
    for piece in pieces {
        let mut before = Vec::new();
        let leaves = |other: &Piece| other.from == piece.to;
        if let Some(number) = pieces.iter().rposition(leaves)
            && pieces
                .get(number)
                .is_some_and(|other| other.route != piece.route)
        {
            before.push(number);
        }
        let first_half = |other: &Piece| other.route == piece.route && !other.second;
        if piece.second {
            before.extend(pieces.iter().rposition(first_half));
        }
        above.push(before);
    }
    above
}

/// Returns the first track that a piece may take; `None` if one above it has no track yet.
fn lowest_track(above: &[Vec<usize>], number: usize, placed: &[Option<usize>]) -> Option<usize> {
    let mut lowest = 0;
    for other in above.get(number)? {
        let track = placed.get(*other).copied().flatten()?;
        lowest = lowest.max(track + 1);
    }
    Some(lowest)
}

/// Finds a piece that waits for itself: following what each piece waits for ends in the cycle.
fn on_cycle(waiting: &[usize], placed: &[Option<usize>], above: &[Vec<usize>]) -> usize {
    let mut number = waiting.first().copied().unwrap_or_default();
    for _ in waiting {
        let before = above.get(number).map(Vec::as_slice).unwrap_or_default();
        let is_open = |other: &&usize| placed.get(**other).copied().flatten().is_none();
        number = before.iter().find(is_open).copied().unwrap_or(number);
    }
    number
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the cells of each line: vertical and horizontal pieces by column and track.
    fn drawn(ends: &[(usize, usize)]) -> Gap {
        let routes = ends
            .iter()
            .enumerate()
            .map(|(segment, (top, bottom))| Route {
                segment,
                top: *top,
                bottom: *bottom,
                turns: Vec::new(),
            });
        let mut gap = Gap {
            routes: routes.collect(),
            tracks: 0,
        };
        turn(&mut gap);
        gap
    }

    /// Returns pieces as (vertical, column or track, first, last); tracks count from one.
    fn pieces(gap: &Gap) -> Vec<(usize, bool, usize, usize, usize)> {
        let mut pieces = Vec::new();
        for route in &gap.routes {
            let (mut x, mut y) = (route.top, 0);
            for (track, to) in &route.turns {
                pieces.push((route.segment, true, x, y, track + 1));
                pieces.push((route.segment, false, track + 1, x.min(*to), x.max(*to)));
                (x, y) = (*to, track + 1);
            }
            assert_eq!(x, route.bottom);
            pieces.push((route.segment, true, x, y, gap.tracks + 1));
        }
        pieces
    }

    fn assert_apart(gap: &Gap) {
        let pieces = pieces(gap);
        for (number, one) in pieces.iter().enumerate() {
            for other in &pieces[number + 1..] {
                let side_by_side = one.1 == other.1 && one.2 == other.2 && one.0 != other.0;
                let overlap = one.3 <= other.4 && other.3 <= one.4;
                assert!(!(side_by_side && overlap), "{one:?} {other:?} {gap:?}");
            }
        }
    }

    #[test]
    fn lines_that_swap_their_columns_make_a_detour() {
        let gap = drawn(&[(5, 15), (15, 5)]);
        assert_apart(&gap);
        assert_eq!(
            gap.routes.iter().map(|route| route.turns.len()).max(),
            Some(2)
        );
        assert_apart(&drawn(&[(5, 15), (15, 25), (25, 5), (7, 9), (9, 7)]));
    }

    proptest! {
        #[test]
        fn lines_never_run_into_each_other(
            bottoms in Just((0..12_usize).map(|x| x * 2).collect::<Vec<_>>()).prop_shuffle(),
        ) {
            let ends: Vec<_> = bottoms.into_iter().enumerate().map(|(x, b)| (x * 2, b)).collect();
            assert_apart(&drawn(&ends));
        }
    }
}
