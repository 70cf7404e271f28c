//! A function that is not async is a node as it stands.

use proc_macro2::TokenStream;
use quote::ToTokens;

use super::attr::Options;
use super::signature::NodeFn;

pub(super) fn expand(node: &NodeFn<'_>, _: &Options) -> TokenStream {
    node.item.to_token_stream()
}
