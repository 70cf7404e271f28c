//! The input of an entrypoint: its arguments, as clients write them.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::Ident;
use syn::spanned::Spanned;

use super::attr::Options;
use super::signature::Signature;

/// Prints the type of the input. A single argument is written as its value, several by their names.
pub(super) fn print(entrypoint: &Signature<'_>, options: &Options, input: &Ident) -> TokenStream {
    let vis = &entrypoint.item.vis;
    let serde = options.serde();
    let derives = options.derives(entrypoint.item.sig.ident.span());
    let about = format!("The arguments of [`{}`].", entrypoint.item.sig.ident);
    let fields = entrypoint.arguments.iter().map(|(name, ty)| {
        let about = format!("The argument `{name}`.");
        quote_spanned!(ty.span()=> #[doc = #about] pub #name: #ty)
    });
    let transparent = (entrypoint.arguments.len() == 1).then(|| quote!(transparent,));
    quote! {
        #[doc = #about]
        #[derive(#derives)]
        #[serde(#transparent crate = #serde)]
        #vis struct #input {
            #(#fields,)*
        }
    }
}
