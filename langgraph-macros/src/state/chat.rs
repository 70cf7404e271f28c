//! The chat history of a state that holds exactly one.

use proc_macro2::TokenStream;
use quote::quote;

use super::names::Names;
use super::{Field, StateModel};

/// The update that closes the chat, if the state holds exactly one.
pub(super) fn dismiss(model: &StateModel<'_>) -> TokenStream {
    if chat(model).is_none() {
        return TokenStream::new();
    }
    let root = &model.root;
    quote! {
        fn dismiss(&self) -> ::core::option::Option<Self::Update> {
            #root::__private::dismiss(self)
        }
    }
}

/// The field that holds the chat, if exactly one does.
fn chat<'m>(model: &'m StateModel<'_>) -> Option<&'m Field<'m>> {
    let mut chats = model
        .fields
        .iter()
        .filter(|field| field.options.rule.is_messages());
    chats.next().filter(|_| chats.next().is_none())
}

/// Prints where the chat history is, if the state holds exactly one.
pub(super) fn has_messages(model: &StateModel<'_>, names: &Names<'_>) -> TokenStream {
    let root = &model.root;
    let Names {
        state,
        update,
        impl_generics,
        ty_generics,
        state_bounds,
        ..
    } = names;
    let Some(field @ Field { ident, ty, .. }) = chat(model) else {
        return TokenStream::new();
    };
    let set = names.layout.set(&quote!(update), field, &quote!(value));
    quote! {
        #[automatically_derived]
        impl #impl_generics #root::state::HasMessages for #state #ty_generics #state_bounds {
            fn messages(&self) -> &[#root::message::Message] {
                #root::__private::the_messages(&self.#ident)
            }

            fn update_from_messages(
                messages: #root::__private::Vec<#root::message::Message>,
            ) -> #update #ty_generics {
                let mut update = <#update #ty_generics as ::core::default::Default>::default();
                if let ::core::option::Option::Some(value) = #root::__private::written_messages::<#ty>(messages) {
                    #set
                }
                update
            }
        }
    }
}
