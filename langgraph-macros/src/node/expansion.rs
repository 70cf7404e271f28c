//! What a node function expands into, and where.

use proc_macro2::TokenStream;
use syn::Generics;

/// Where a node function is.
#[derive(Clone, Copy)]
pub(super) enum Scope<'a> {
    Module,
    /// In an `impl` block of a type of that name, with the generics of the block.
    Block(&'a str, &'a Generics),
}

/// The expansion of a node function.
pub(super) struct Expansion {
    /// The replacement of the function.
    pub(super) function: TokenStream,
    /// The items for the module.
    pub(super) beside: TokenStream,
}
