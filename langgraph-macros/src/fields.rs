//! Fields as types, which connect a field's name in a node with the field of a state.

use proc_macro2::TokenStream;
use quote::quote;

/// Hashes the name of a field (FNV-1a), equally in `#[node]` and in `#[derive(State)]`.
pub(crate) fn hash(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// Returns a list of types: `(a, (b, ()))`.
pub(crate) fn list(types: impl DoubleEndedIterator<Item = TokenStream>) -> TokenStream {
    types
        .rev()
        .fold(quote!(()), |rest, first| quote!((#first, #rest)))
}
