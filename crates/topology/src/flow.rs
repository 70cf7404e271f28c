//! What can be said about a graph from its lines alone: one function per rule.
//!
//! The builder and the macro each turn their own graph into a [`Flow`] and put the findings into
//! words.

use crate::algo::{Components, Dominators, Lines, Table, cycle_through, reach};

/// The vertex every run starts from.
pub const START: usize = 0;
/// The vertex that ends a branch.
pub const END: usize = 1;
/// The vertex of the first node.
pub const NODES: usize = 2;

/// A graph as numbers: [`START`], [`END`], then the nodes from [`NODES`] on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Flow {
    /// How many nodes there are.
    pub nodes: usize,
    /// Unconditional lines.
    pub edges: Vec<(usize, usize)>,
    /// Lines that wait for all of their sources.
    pub joins: Vec<(Vec<usize>, usize)>,
    /// Decisions of routers; `None` when the router may name any node.
    pub branches: Vec<(usize, Option<Vec<Arm>>)>,
    /// Decisions of the nodes themselves; `None` when the node may name any node.
    pub gotos: Vec<(usize, Option<Vec<usize>>)>,
}

/// One answer of a router.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Arm {
    /// Where it leads; nowhere ends the branch.
    pub targets: Vec<usize>,
    /// True when the target runs once per item.
    pub map: bool,
}

/// Nodes that no way from START leads to.
#[derive(Clone, Debug, PartialEq)]
pub struct Unreachable {
    /// The first of them: nothing leads to it but itself and its own followers.
    pub node: usize,
    /// Those that only it leads to.
    pub followers: Vec<usize>,
}

/// Why a join can never fire.
#[derive(Clone, Debug, PartialEq)]
pub enum Stuck {
    /// It waits for a node that only runs after its own target.
    Downstream {
        /// The place of the join among the joins.
        join: usize,
        /// The node that it waits for.
        source: usize,
    },
    /// It waits for nodes of which a decision that is made once starts only one.
    Exclusive {
        /// The place of the join among the joins.
        join: usize,
        /// Two of the nodes that it waits for.
        sources: (usize, usize),
        /// The node whose router decides, or [`START`].
        decision: usize,
    },
}

/// A [`Flow`] with what all rules need.
#[derive(Debug)]
pub struct Analysis<'a> {
    flow: &'a Flow,
    /// Every line that may be followed; a vertex behind the nodes stands for "anywhere".
    lines: Lines,
    reached: Table<bool>,
    components: Components,
}

impl<'a> Analysis<'a> {
    pub fn new(flow: &'a Flow) -> Self {
        let lines = lines_of(flow, true);
        Self {
            flow,
            reached: reach(&lines, [START]),
            components: Components::new(&lines),
            lines,
        }
    }

    fn nodes(&self) -> std::ops::Range<usize> {
        NODES..NODES + self.flow.nodes
    }

    /// Nodes that no way from START leads to, those that others are behind first.
    pub fn unreachable_nodes(&self) -> Vec<Unreachable> {
        // What leads to an unreachable node is unreachable too. The findings are the components
        // that nothing leads to; the rest follows from them.
        let mut led_to = Table::new(self.components.all().len(), false);
        for node in self.nodes().filter(|node| !self.reached.get(*node)) {
            for &next in self.lines.from(node) {
                if self.components.of(next) != self.components.of(node) {
                    led_to.set(self.components.of(next), true);
                }
            }
        }
        let mut told = self.reached.clone();
        let mut found = Vec::new();
        for node in self.nodes() {
            if told.get(node) || led_to.get(self.components.of(node)) {
                continue;
            }
            told.set(node, true);
            let mut followers = Vec::new();
            let mut open = vec![node];
            while let Some(vertex) = open.pop() {
                for &next in self.lines.from(vertex) {
                    if self.nodes().contains(&next) && told.replace(next, true) {
                        followers.push(next);
                        open.push(next);
                    }
                }
            }
            followers.sort_unstable();
            found.push(Unreachable { node, followers });
        }
        found
    }

    /// Nodes that nothing follows, not even END.
    pub fn dead_ends(&self) -> Vec<usize> {
        self.nodes()
            .filter(|node| self.reached.get(*node) && self.lines.from(*node).is_empty())
            .collect()
    }

    /// Cycles that a run can never leave, each as a way around.
    pub fn cycles_without_exit(&self) -> Vec<Vec<usize>> {
        let mut told = Table::new(self.lines.size(), false);
        let mut found = Vec::new();
        // A cycle that no line leaves.
        for members in self.components.all() {
            let inside =
                |vertex: &usize| self.components.of(*vertex) == self.components_of(members);
            let closed = members
                .iter()
                .all(|member| self.lines.from(*member).iter().all(inside));
            let first = members.iter().find(|member| self.nodes().contains(member));
            if let (true, true, Some(&first)) =
                (closed, Components::is_cycle(&self.lines, members), first)
            {
                if self.reached.get(first) {
                    found.push(cycle_through(&self.lines, &self.components, first));
                }
                for member in members {
                    told.set(*member, true);
                }
            }
        }
        // A cycle of unconditional lines: others may leave it, but it goes on all the same.
        let (lines, components) = self.unconditional();
        for members in components.all() {
            let first = members.first().copied().unwrap_or_default();
            if Components::is_cycle(&lines, members)
                && self.reached.get(first)
                && !members.iter().all(|member| told.get(*member))
            {
                found.push(cycle_through(&lines, &components, first));
            }
        }
        found.sort_unstable();
        found
    }

    fn components_of(&self, members: &[usize]) -> usize {
        members
            .first()
            .map_or(0, |member| self.components.of(*member))
    }

    /// The lines that are followed whatever anyone decides. A node that may jump follows its
    /// edges only if it does not; a join goes on for ever only if all of its sources do.
    fn unconditional(&self) -> (Lines, Components) {
        let mut jumps = Table::new(self.lines.size(), false);
        for (source, _) in &self.flow.gotos {
            jumps.set(*source, true);
        }
        let edges = self.flow.edges.iter().filter(|(from, _)| !jumps.get(*from));
        let edges: Vec<(usize, usize)> = edges.copied().collect();
        let mut joins: Vec<&(Vec<usize>, usize)> = self
            .flow
            .joins
            .iter()
            .filter(|(sources, _)| !sources.iter().any(|source| jumps.get(*source)))
            .collect();
        loop {
            let mut all = edges.clone();
            for (sources, target) in &joins {
                all.extend(sources.iter().map(|source| (*source, *target)));
            }
            let lines = Lines::new(self.lines.size(), &all);
            let components = Components::new(&lines);
            let before = joins.len();
            joins.retain(|(sources, target)| {
                let home = components.of(*target);
                sources.iter().all(|source| components.of(*source) == home)
            });
            if joins.len() == before {
                return (lines, components);
            }
        }
    }

    /// Joins that can never fire.
    pub fn stuck_joins(&self) -> Vec<Stuck> {
        let mut found = self.joins_on_their_own_downstream();
        let told = |found: &[Stuck], at: usize| {
            found
                .iter()
                .any(|stuck| matches!(stuck, Stuck::Downstream { join, .. } if *join == at))
        };
        for exclusive in self.joins_on_exclusive_arms() {
            if !matches!(exclusive, Stuck::Exclusive { join, .. } if told(&found, join)) {
                found.push(exclusive);
            }
        }
        found.sort_by_key(|stuck| match stuck {
            Stuck::Downstream { join, .. } | Stuck::Exclusive { join, .. } => *join,
        });
        found
    }

    fn joins_on_their_own_downstream(&self) -> Vec<Stuck> {
        let fired = self.reached_with_waiting();
        let mut found = Vec::new();
        for (join, (sources, target)) in self.flow.joins.iter().enumerate() {
            let mut waiting = sources
                .iter()
                .copied()
                .filter(|source| self.reached.get(*source) && !fired.get(*source))
                .peekable();
            if waiting.peek().is_none() {
                continue;
            }
            // Every knot of waiting joins has one that waits for what comes after itself; the
            // others are only behind it.
            let after = reach(&self.lines, [*target]);
            if let Some(source) = waiting.find(|source| after.get(*source)) {
                found.push(Stuck::Downstream { join, source });
            }
        }
        found
    }

    /// What a run can reach when a join is passed only once all of its sources have been.
    fn reached_with_waiting(&self) -> Table<bool> {
        let lines = lines_of(self.flow, false);
        let mut of_source: Vec<(usize, usize)> = Vec::new();
        let mut missing = Table::new(self.flow.joins.len(), 0);
        for (join, (sources, _)) in self.flow.joins.iter().enumerate() {
            let mut sources = sources.clone();
            sources.sort_unstable();
            sources.dedup();
            missing.set(join, sources.len());
            of_source.extend(sources.into_iter().map(|source| (source, join)));
        }
        let of_source = Lines::new(lines.size(), &of_source);
        let mut seen = Table::new(lines.size(), false);
        seen.set(START, true);
        let mut open = vec![START];
        while let Some(vertex) = open.pop() {
            for &join in of_source.from(vertex) {
                missing.set(join, missing.get(join).saturating_sub(1));
                let target = self.flow.joins.get(join).map(|(_, target)| *target);
                if let Some(target) = target.filter(|_| missing.get(join) == 0)
                    && seen.replace(target, true)
                {
                    open.push(target);
                }
            }
            for &next in lines.from(vertex) {
                if seen.replace(next, true) {
                    open.push(next);
                }
            }
        }
        seen
    }

    fn joins_on_exclusive_arms(&self) -> Vec<Stuck> {
        if self.flow.joins.is_empty() || self.flow.branches.is_empty() {
            return Vec::new();
        }
        // Every arm gets a vertex of its own: a node is behind an arm alone when the arm
        // dominates it.
        let mut lines: Vec<(usize, usize)> = Vec::new();
        let mut decisions: Vec<(usize, usize)> = Vec::new();
        let mut exclusive: std::collections::HashSet<(usize, usize)> =
            std::collections::HashSet::new();
        let first_arm = self.lines.size();
        for (branch, (source, arms)) in self.flow.branches.iter().enumerate() {
            for arm in arms.iter().flatten() {
                let vertex = first_arm + decisions.len();
                decisions.push((branch, *source));
                lines.push((*source, vertex));
                for target in arm.ends() {
                    lines.push((vertex, target));
                    exclusive.insert((*source, target));
                }
            }
        }
        for from in 0..self.lines.size() {
            let others = self.lines.from(from).iter().map(|to| (from, *to));
            lines.extend(others.filter(|line| !exclusive.contains(line)));
        }
        // A line that an arm and something else share is no one's alone.
        for (from, to) in self.direct() {
            if exclusive.contains(&(from, to)) {
                lines.push((from, to));
            }
        }
        let lines = Lines::new(first_arm + decisions.len(), &lines);
        let dominators = Dominators::new(&lines, START);
        let once = self.once();
        let arm = |vertex: usize| decisions.get(vertex.checked_sub(first_arm)?).copied();
        let mut found = Vec::new();
        for (join, (sources, _)) in self.flow.joins.iter().enumerate() {
            // In the order of the tree, arms of one decision are neighbours.
            let mut sources = sources.clone();
            sources.retain(|source| self.reached.get(*source));
            sources.sort_by_key(|source| dominators.place(*source));
            let pairs = sources.iter().zip(sources.iter().skip(1));
            let exclusive = pairs.into_iter().find_map(|(&left, &right)| {
                let (at_left, at_right) = dominators.parting(left, right)?;
                let decision = arm(at_left)?;
                (arm(at_right) == Some(decision) && once.get(decision.1))
                    .then_some(((left, right), decision.1))
            });
            if let Some((sources, decision)) = exclusive {
                found.push(Stuck::Exclusive {
                    join,
                    sources,
                    decision,
                });
            }
        }
        found
    }

    /// The lines that are not arms of a router.
    fn direct(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let edges = self.flow.edges.iter().copied();
        let joins = self.flow.joins.iter();
        let joins = joins.flat_map(|(from, to)| from.iter().map(move |from| (*from, *to)));
        let gotos = self.flow.gotos.iter();
        let gotos = gotos.flat_map(|(from, to)| to.iter().flatten().map(move |to| (*from, *to)));
        edges.chain(joins).chain(gotos)
    }

    /// The vertices that run at most once: only one thing ever starts them, and it happens once.
    fn once(&self) -> Table<bool> {
        let size = self.lines.size();
        // What starts a vertex: nothing yet, one thing (its number and its vertex), or several.
        let mut starts: Table<Option<(usize, usize)>> = Table::new(size, None);
        let mut several = Table::new(size, false);
        let mut number = 0;
        let mut start = |to: usize, number: usize, from: usize| match starts.get(to) {
            None => starts.set(to, Some((number, from))),
            Some((known, _)) if known == number => {}
            Some(_) => several.set(to, true),
        };
        let mut many = Vec::new();
        for (from, to) in &self.flow.edges {
            number += 1;
            start(*to, number, *from);
        }
        for (sources, to) in &self.flow.joins {
            number += 1;
            if let Some(from) = sources.first() {
                start(*to, number, *from);
            }
        }
        for (from, arms) in &self.flow.branches {
            number += 1;
            for arm in arms.iter().flatten() {
                for to in &arm.targets {
                    start(*to, number, *from);
                    if arm.map {
                        many.push(*to);
                    }
                }
            }
            if arms.is_none() {
                many.extend(self.nodes());
            }
        }
        for (_, targets) in &self.flow.gotos {
            match targets {
                None => many.extend(self.nodes()),
                // A jump may name a node twice, as two sends.
                Some(targets) => many.extend(targets),
            }
        }
        for vertex in many {
            several.set(vertex, true);
        }
        let mut lines = Vec::new();
        for node in self.nodes().filter(|node| !several.get(*node)) {
            if let Some((_, from)) = starts.get(node) {
                lines.push((from, node));
            }
        }
        reach(&Lines::new(size, &lines), [START])
    }
}

/// Every line that may be followed. Behind the nodes there is a vertex for "anywhere".
fn lines_of(flow: &Flow, with_joins: bool) -> Lines {
    let anywhere = NODES + flow.nodes;
    let mut lines = flow.edges.clone();
    for (sources, target) in flow.joins.iter().filter(|_| with_joins) {
        lines.extend(sources.iter().map(|source| (*source, *target)));
    }
    for (source, arms) in &flow.branches {
        match arms {
            None => lines.push((*source, anywhere)),
            Some(arms) => {
                for arm in arms {
                    lines.extend(arm.ends().map(|target| (*source, target)));
                }
            }
        }
    }
    for (source, targets) in &flow.gotos {
        match targets {
            None => lines.push((*source, anywhere)),
            Some(targets) => lines.extend(targets.iter().map(|target| (*source, *target))),
        }
    }
    lines.push((anywhere, END));
    lines.extend((NODES..anywhere).map(|node| (anywhere, node)));
    Lines::new(anywhere + 1, &lines)
}

impl Arm {
    /// Where the arm leads; an arm that starts nothing ends the branch.
    fn ends(&self) -> impl Iterator<Item = usize> + '_ {
        let nowhere = self.targets.is_empty().then_some(END);
        self.targets.iter().copied().chain(nowhere)
    }
}
