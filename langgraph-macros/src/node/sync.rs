//! Functions that are not async: they are nodes already, and are only checked.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Ident, Type};

use super::attr::NodeOptions;
use super::expansion::{Expansion, Scope};
use super::signature::{NodeFn, Role, output_span};
use crate::function::type_span;

/// Prints the function, and obligations that fail at its types if they are wrong.
pub(super) fn expand(node: &NodeFn<'_>, options: &NodeOptions, place: Scope<'_>) -> Expansion {
    let root = &options.root;
    let item = node.item.to_token_stream();
    let generics = &node.item.sig.generics;
    let (params, _, bounds) = generics.split_for_impl();
    let mut arguments = TokenStream::new();
    let mut checks = TokenStream::new();
    let context = node
        .arguments
        .iter()
        .find(|argument| argument.role == Role::Context);
    if let Some(context) = context {
        let ty = context.ty;
        let cx = Ident::new("cx", type_span(ty));
        arguments.extend(quote!(#cx: #ty));
        let span = type_span(ty);
        let root = root.at(span);
        checks.extend(quote_spanned!(span=> let _: &#root::node::Context = #cx;));
    }
    if let (Some(state), Some(output)) = (node.state, node.output)
        && !may_be_future(output)
    {
        let root = root.at(output_span(node));
        let answers =
            quote_spanned!(output_span(node)=> #root::__private::answers::<#state, #output>);
        checks.extend(quote!(#answers();));
    }
    if checks.is_empty() {
        return Expansion {
            function: item,
            beside: TokenStream::new(),
        };
    }
    let name = match place {
        Scope::Module => format_ident!("check"),
        Scope::Block(..) => {
            let plain = syn::ext::IdentExt::unraw(&node.item.sig.ident);
            format_ident!("__{plain}_check")
        }
    };
    let check = quote! {
        #[allow(dead_code, clippy::all, clippy::pedantic)]
        fn #name #params(#arguments) #bounds {
            #checks
        }
    };
    match place {
        Scope::Module => Expansion {
            function: item,
            beside: quote!(const _: () = { #check };),
        },
        Scope::Block(..) => Expansion {
            function: quote!(#item #[doc(hidden)] #check),
            beside: TokenStream::new(),
        },
    }
}

/// Returns true if the function returns a future, or a type that cannot be named.
fn may_be_future(ty: &Type) -> bool {
    match ty {
        Type::ImplTrait(_) => true,
        Type::Paren(inner) => may_be_future(&inner.elem),
        Type::Group(inner) => may_be_future(&inner.elem),
        Type::Path(path) => path.path.segments.last().is_some_and(|last| {
            let name = last.ident.to_string();
            name == "Pin" || name.ends_with("Future") || name == "NodeRun"
        }),
        _ => false,
    }
}
