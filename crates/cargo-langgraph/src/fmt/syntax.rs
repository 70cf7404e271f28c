//! The syntax of a graph as places in its source.

use std::ops::Range;

/// A part of the source, which is kept as it is.
pub(super) type Part = Range<usize>;

/// A part of a list: items, arms, or the chains of a group.
pub(super) struct Element<T> {
    pub(super) node: T,
    pub(super) part: Part,
    /// The `;` or `,` after it.
    pub(super) end: Option<Part>,
}

/// What stands between two delimiters.
pub(super) struct List<T> {
    /// The opening delimiter up to the closing one, both included.
    pub(super) part: Part,
    pub(super) elements: Vec<Element<T>>,
}

/// A statement of a graph.
pub(super) enum Item {
    /// `type State = …`, `crate = …`, `#![bounded]`, or a `let` of a Rust value.
    Rust(Part),
    /// `let name =` and a decision.
    Decision(Part, Box<Stage>),
    Chain(Chain),
}

/// Stages with arrows between them.
pub(super) struct Chain {
    pub(super) stages: Vec<Link>,
}

/// A stage with the arrow before it.
pub(super) struct Link {
    pub(super) arrow: Option<Part>,
    pub(super) stage: Stage,
    pub(super) part: Part,
}

/// A stage of a chain.
pub(super) enum Stage {
    /// A node, or a call of a worker, with its bound.
    Node(Part),
    /// `a | b`
    AnyOf(Vec<Part>),
    /// `[chain, …]`
    Group(List<Chain>),
    /// `goto [node, …]`
    Goto(List<Chain>),
    /// `match router { … }`
    Match(Part, List<Arm>),
    /// `if router { … } else …`: conditions and blocks; the last condition may be missing.
    If(Vec<(Option<Part>, List<Chain>)>),
    /// `for pattern in items { … }`
    For(Part, Part, List<Chain>),
}

/// `pattern => chain` or `pattern => { chain }`
pub(super) struct Arm {
    /// The pattern with its guard.
    pub(super) pattern: Part,
    pub(super) body: ArmBody,
}

/// Where an arm leads.
pub(super) enum ArmBody {
    Chain(Chain),
    Block(List<Chain>),
}
