//! What a chain follows, and where it can go on.

use proc_macro2::Span;

use super::Place;

/// The predecessor of a chain.
#[derive(Clone)]
pub(super) enum Source {
    /// None.
    Nothing,
    /// One that cannot have a successor; that has been reported.
    Lost,
    /// The places before it, which what follows waits for.
    Places(Vec<Place>),
    /// The places before it, each of which is followed on its own.
    Each(Vec<Place>),
    /// An arm of the current switch.
    Arm(usize, usize),
}

/// Where a chain can continue.
#[derive(Clone, Copy)]
pub(super) enum Exit {
    At(Place),
    /// It ends in a decision.
    Decided {
        at: Span,
        kind: &'static str,
    },
}
