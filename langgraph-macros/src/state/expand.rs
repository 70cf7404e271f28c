//! The expansion of the derive.

use proc_macro2::TokenStream;
use quote::quote;

use super::names::Names;
use super::{StateModel, chat, methods, overwrite, part, reducers, rows, stored, update};

/// Prints the whole expansion.
pub(super) fn expand(model: &StateModel<'_>) -> TokenStream {
    let names = Names::new(model);
    let update = update::update_type(model, &names);
    let part = part::part_type(model, &names);
    let overwrites = overwrite::overwrites(model, &names);
    let reducers = reducers::reducers(model, &names);
    let state = methods::state_impl(model, &names);
    let messages = chat::has_messages(model, &names);
    let rows = rows::rows(model, &names);
    let serde = stored::serde_impls(model, &names);
    quote! {
        #update
        #part
        #overwrites
        const _: () = {
            #reducers
            #state
            #messages
            #serde
        };
        #rows
    }
}
