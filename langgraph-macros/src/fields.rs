//! Fields as types: how a node that names a field and a state that has it mean the same one.

use proc_macro2::TokenStream;
use quote::quote;

/// A number for the name of a field (FNV-1a), the same in `#[node]` and in `#[derive(State)]`.
pub(crate) fn hash(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// A list of types: `(a, (b, ()))`.
pub(crate) fn list(types: impl DoubleEndedIterator<Item = TokenStream>) -> TokenStream {
    types
        .rev()
        .fold(quote!(()), |rest, first| quote!((#first, #rest)))
}
