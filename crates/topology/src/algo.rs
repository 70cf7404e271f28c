//! Algorithms on graphs of plain numbers: reachability, components, dominators.
//!
//! All of them take linear or nearly linear time. None can fail: a vertex that does not exist has
//! no edges.

/// One value per vertex.
#[derive(Clone, Debug)]
pub struct Table<T>(Vec<T>);

impl<T: Copy + Default> Table<T> {
    pub fn new(size: usize, value: T) -> Self {
        Self(vec![value; size])
    }

    pub fn get(&self, vertex: usize) -> T {
        #[cfg(test)]
        work::count(1);
        self.0.get(vertex).copied().unwrap_or_default()
    }

    pub fn set(&mut self, vertex: usize, value: T) {
        if let Some(slot) = self.0.get_mut(vertex) {
            *slot = value;
        }
    }

    /// Stores `value` and returns true if it is new.
    pub fn replace(&mut self, vertex: usize, value: T) -> bool
    where
        T: PartialEq,
    {
        let changed = self.get(vertex) != value && vertex < self.0.len();
        self.set(vertex, value);
        changed
    }
}

/// How often tests see something looked up.
#[cfg(test)]
pub(crate) mod work {
    use std::cell::Cell;

    thread_local! {
        static DONE: Cell<usize> = const { Cell::new(0) };
    }

    pub(crate) fn count(more: usize) {
        DONE.set(DONE.get() + more);
    }

    /// What is counted while `work` runs.
    pub(crate) fn of(work: impl FnOnce()) -> usize {
        DONE.set(0);
        work();
        DONE.get()
    }
}

/// The edges between vertices, packed by their source.
#[derive(Clone, Debug)]
pub struct Lines {
    starts: Vec<usize>,
    ends: Vec<usize>,
}

impl Lines {
    /// Creates the edges of the vertices `0..size`; the edges of one vertex keep their order.
    pub fn new(size: usize, lines: &[(usize, usize)]) -> Self {
        let mut starts = vec![0; size + 1];
        for (from, _) in lines {
            if let Some(count) = starts.get_mut(from + 1) {
                *count += 1;
            }
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let mut free = Table(starts.clone());
        let mut ends = Table::new(sum, 0);
        for &(from, to) in lines {
            if from < size {
                let place = free.get(from);
                ends.set(place, to);
                free.set(from, place + 1);
            }
        }
        let Table(ends) = ends;
        Self { starts, ends }
    }

    /// Returns the targets of a vertex's edges.
    pub fn from(&self, vertex: usize) -> &[usize] {
        let start = self.starts.get(vertex).copied().unwrap_or_default();
        let end = self.starts.get(vertex + 1).copied().unwrap_or_default();
        #[cfg(test)]
        work::count(1);
        self.ends.get(start..end).unwrap_or_default()
    }

    /// Returns the number of vertices.
    pub fn size(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Returns the edges in reverse direction.
    pub fn reversed(&self) -> Self {
        let mut lines = Vec::with_capacity(self.ends.len());
        for from in 0..self.size() {
            for to in self.from(from) {
                lines.push((*to, from));
            }
        }
        Self::new(self.size(), &lines)
    }
}

/// Finds the vertices that are reachable from `root`, which is included.
pub fn reach(lines: &Lines, root: usize) -> Table<bool> {
    let mut seen = Table::new(lines.size(), false);
    seen.set(root, true);
    let mut open = vec![root];
    while let Some(vertex) = open.pop() {
        for &next in lines.from(vertex) {
            if seen.replace(next, true) {
                open.push(next);
            }
        }
    }
    seen
}

/// The strongly connected components (Tarjan): sets of vertices that reach each other.
#[derive(Clone, Debug)]
pub struct Components {
    of: Table<usize>,
    members: Vec<Vec<usize>>,
}

impl Components {
    /// Finds the components of all vertices, in reverse topological order: targets come first.
    pub fn new(lines: &Lines) -> Self {
        const UNSEEN: usize = usize::MAX;
        let size = lines.size();
        let mut order = Table::new(size, UNSEEN);
        let mut low = Table::new(size, UNSEEN);
        let mut on_stack = Table::new(size, false);
        let mut of = Table::new(size, 0);
        let mut members: Vec<Vec<usize>> = Vec::new();
        let mut stack: Vec<usize> = Vec::new();
        let mut count = 0;
        // A frame is a vertex and the number of its edges that have been followed. There is no
        // recursion, so a chain may have any length.
        let mut frames: Vec<(usize, usize)> = Vec::new();
        for root in 0..size {
            if order.get(root) != UNSEEN {
                continue;
            }
            frames.push((root, 0));
            while let Some((vertex, followed)) = frames.pop() {
                if followed == 0 {
                    order.set(vertex, count);
                    low.set(vertex, count);
                    count += 1;
                    stack.push(vertex);
                    on_stack.set(vertex, true);
                }
                if let Some(&next) = lines.from(vertex).get(followed) {
                    frames.push((vertex, followed + 1));
                    if order.get(next) == UNSEEN {
                        frames.push((next, 0));
                    } else if on_stack.get(next) {
                        low.set(vertex, low.get(vertex).min(order.get(next)));
                    }
                    continue;
                }
                if let Some(&(parent, _)) = frames.last() {
                    low.set(parent, low.get(parent).min(low.get(vertex)));
                }
                if low.get(vertex) == order.get(vertex) {
                    let mut component = Vec::new();
                    while let Some(member) = stack.pop() {
                        on_stack.set(member, false);
                        of.set(member, members.len());
                        component.push(member);
                        if member == vertex {
                            break;
                        }
                    }
                    component.sort_unstable();
                    members.push(component);
                }
            }
        }
        Self { of, members }
    }

    /// Returns the number of a vertex's component.
    pub fn of(&self, vertex: usize) -> usize {
        self.of.get(vertex)
    }

    /// Returns every component, with its members in ascending order.
    pub fn all(&self) -> &[Vec<usize>] {
        &self.members
    }

    /// Returns true for the members of a cycle, including an edge from a vertex to itself.
    pub fn is_cycle(lines: &Lines, component: &[usize]) -> bool {
        match component {
            [only] => lines.from(*only).contains(only),
            members => members.len() > 1,
        }
    }
}

/// Finds a shortest cycle through `start` that stays inside its component.
pub fn cycle_through(lines: &Lines, components: &Components, start: usize) -> Vec<usize> {
    const NONE: usize = usize::MAX;
    let mut parent = Table::new(lines.size(), NONE);
    let mut open = std::collections::VecDeque::from([start]);
    while let Some(vertex) = open.pop_front() {
        for &next in lines.from(vertex) {
            if next == start {
                let mut path = vec![vertex];
                let mut at = vertex;
                while at != start && parent.get(at) != NONE {
                    at = parent.get(at);
                    path.push(at);
                }
                path.reverse();
                return path;
            }
            if components.of(next) == components.of(start) && parent.get(next) == NONE {
                parent.set(next, vertex);
                open.push_back(next);
            }
        }
    }
    vec![start]
}

/// The immediate dominator of every vertex reachable from `root` (Cooper, Harvey, Kennedy), as a
/// tree.
///
/// A vertex dominates another if every path from the root to the other passes through it.
#[derive(Clone, Debug)]
pub struct Dominators {
    above: Table<Option<usize>>,
    depth: Table<usize>,
    place: Table<usize>,
    /// The vertices in the order of their places.
    walk: Vec<usize>,
}

impl Dominators {
    pub fn new(lines: &Lines, root: usize) -> Self {
        let size = lines.size();
        let order = postorder(lines, root);
        let mut number = Table::new(size, 0);
        for (place, vertex) in order.iter().enumerate() {
            number.set(*vertex, place);
        }
        let back = lines.reversed();
        let mut above: Table<Option<usize>> = Table::new(size, None);
        above.set(root, Some(root));
        let mut changed = true;
        while changed {
            changed = false;
            for &vertex in order.iter().rev() {
                if vertex == root {
                    continue;
                }
                let mut best: Option<usize> = None;
                for &before in back.from(vertex) {
                    if above.get(before).is_some() {
                        best = Some(match best {
                            None => before,
                            Some(other) => meet(&above, &number, before, other),
                        });
                    }
                }
                changed |= best.is_some() && above.replace(vertex, best);
            }
        }
        above.set(root, None);
        let mut tree = Vec::new();
        for vertex in (0..size).rev() {
            if let Some(up) = above.get(vertex) {
                tree.push((up, vertex));
            }
        }
        let tree = Lines::new(size, &tree);
        let mut depth = Table::new(size, 0);
        let mut place = Table::new(size, 0);
        let mut open = vec![root];
        let mut walk = Vec::new();
        while let Some(vertex) = open.pop() {
            place.set(vertex, walk.len());
            walk.push(vertex);
            for &below in tree.from(vertex) {
                depth.set(below, depth.get(vertex) + 1);
                open.push(below);
            }
        }
        Self {
            above,
            depth,
            place,
            walk,
        }
    }

    /// Returns the position of a vertex in a preorder walk of the tree, with children in ascending
    /// order.
    pub fn place(&self, vertex: usize) -> usize {
        self.place.get(vertex)
    }

    /// Sorts vertices of the tree by their places.
    pub fn sort(&self, vertices: &mut [usize]) {
        for vertex in &mut *vertices {
            *vertex = self.place(*vertex);
        }
        vertices.sort_unstable();
        for place in vertices {
            *place = self.walk.get(*place).copied().unwrap_or_default();
        }
    }

    /// Returns the two vertices at which the paths from the root to `left` and to `right` separate,
    /// or `None` if one of them is on the path to the other.
    pub fn parting(&self, left: usize, right: usize) -> Option<(usize, usize)> {
        let up = |vertex: usize| self.above.get(vertex);
        let (mut left, mut right) = (left, right);
        while self.depth.get(left) > self.depth.get(right) {
            left = up(left)?;
        }
        while self.depth.get(right) > self.depth.get(left) {
            right = up(right)?;
        }
        if left == right {
            return None;
        }
        loop {
            let above = (up(left)?, up(right)?);
            if above.0 == above.1 {
                return Some((left, right));
            }
            (left, right) = above;
        }
    }
}

/// Finds the lowest common ancestor of two vertices.
fn meet(
    above: &Table<Option<usize>>,
    number: &Table<usize>,
    mut left: usize,
    mut right: usize,
) -> usize {
    while left != right {
        let (lower, other) = if number.get(left) < number.get(right) {
            (left, right)
        } else {
            (right, left)
        };
        match above.get(lower) {
            Some(up) if up != lower => (left, right) = (up, other),
            _ => return other,
        }
    }
    left
}

/// Returns the vertices reachable from `root` in postorder: targets first, except in cycles.
fn postorder(lines: &Lines, root: usize) -> Vec<usize> {
    let mut seen = Table::new(lines.size(), false);
    let mut order = Vec::new();
    let mut frames = vec![(root, 0)];
    seen.set(root, true);
    while let Some((vertex, followed)) = frames.pop() {
        match lines.from(vertex).get(followed) {
            Some(&next) => {
                frames.push((vertex, followed + 1));
                if seen.replace(next, true) {
                    frames.push((next, 0));
                }
            }
            None => order.push(vertex),
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(size: usize, lines: &[(usize, usize)]) -> Lines {
        Lines::new(size, lines)
    }

    #[test]
    fn lines_keep_their_order_and_ignore_vertices_that_do_not_exist() {
        let graph = lines(3, &[(1, 2), (0, 2), (1, 0), (7, 1)]);
        assert_eq!(graph.from(1), [2, 0]);
        assert_eq!(graph.from(0), [2]);
        assert_eq!(graph.from(9), [0; 0]);
        assert_eq!(graph.reversed().from(2), [0, 1]);
    }

    #[test]
    fn reach_follows_cycles_once() {
        let seen = reach(&lines(5, &[(0, 1), (1, 2), (2, 1), (3, 4)]), 0);
        let found: Vec<_> = (0..5).filter(|v| seen.get(*v)).collect();
        assert_eq!(found, [0, 1, 2]);
    }

    #[test]
    fn components_come_after_those_they_lead_to() {
        let graph = lines(6, &[(0, 1), (1, 2), (2, 1), (2, 3), (3, 3), (4, 5)]);
        let components = Components::new(&graph);
        assert_eq!(
            components.all(),
            [vec![3], vec![1, 2], vec![0], vec![5], vec![4]]
        );
        assert_eq!(components.of(1), components.of(2));
        let cycles: Vec<_> = components
            .all()
            .iter()
            .filter(|members| Components::is_cycle(&graph, members))
            .collect();
        assert_eq!(cycles, [&vec![3], &vec![1, 2]]);
    }

    #[test]
    fn the_shortest_cycle_is_shown() {
        let graph = lines(4, &[(0, 1), (1, 2), (2, 0), (1, 0), (3, 0)]);
        let components = Components::new(&graph);
        assert_eq!(cycle_through(&graph, &components, 0), [0, 1]);
        assert_eq!(cycle_through(&graph, &components, 2), [2, 0, 1]);
    }

    /// Returns the dominators of a vertex, nearest first, without itself.
    fn above(dominators: &Dominators, vertex: usize) -> Vec<usize> {
        let up = |at: usize| dominators.above.get(at);
        std::iter::successors(up(vertex), |at| up(*at)).collect()
    }

    #[test]
    fn dominators_are_on_every_way() {
        // A diamond with a tail, and a back edge that enters below the top.
        let graph = lines(6, &[(0, 1), (1, 2), (1, 3), (2, 4), (3, 4), (4, 5), (5, 1)]);
        let dominators = Dominators::new(&graph, 0);
        assert_eq!(above(&dominators, 4), [1, 0]);
        assert_eq!(above(&dominators, 5), [4, 1, 0]);
        assert_eq!(above(&dominators, 0), [0; 0]);
        let places: Vec<_> = (0..6).map(|vertex| dominators.place(vertex)).collect();
        assert_eq!(places, [0, 1, 2, 3, 4, 5]);
        assert_eq!(dominators.parting(2, 5), Some((2, 4)));
        assert_eq!(dominators.parting(5, 3), Some((4, 3)));
        assert_eq!(dominators.parting(1, 5), None);
        assert_eq!(dominators.parting(4, 4), None);
    }

    #[test]
    fn dominators_agree_with_their_definition_on_random_graphs() {
        let mut seed = 1_u64;
        let mut random = move |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            usize::try_from(seed >> 33).unwrap() % below
        };
        for _ in 0..300 {
            let size = 2 + random(8);
            let edges: Vec<_> = (0..random(20))
                .map(|_| (random(size), random(size)))
                .collect();
            let graph = lines(size, &edges);
            let reached = reach(&graph, 0);
            let dominators = Dominators::new(&graph, 0);
            for vertex in (1..size).filter(|v| reached.get(*v)) {
                let found = above(&dominators, vertex);
                for other in 0..size {
                    let without: Vec<_> = edges
                        .iter()
                        .copied()
                        .filter(|(from, _)| *from != other)
                        .collect();
                    let on_every_way = other != vertex
                        && reached.get(other)
                        && !reach(&lines(size, &without), 0).get(vertex);
                    assert_eq!(
                        found.contains(&other),
                        on_every_way,
                        "{edges:?} {vertex} {other}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_long_chain_does_not_overflow_the_stack() {
        let size = 100_000;
        let edges: Vec<_> = (1..size).map(|v| (v - 1, v)).collect();
        let graph = lines(size, &edges);
        assert_eq!(Components::new(&graph).all().len(), size);
        assert_eq!(Dominators::new(&graph, 0).place(size - 1), size - 1);
    }
}
