//! The expansion of `#[task]`.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::ext::IdentExt;
use syn::{Type, parse_quote};

use super::attr::Options;
use super::signature::Signature;
use crate::function::split_attributes;

/// Prints what stands for the function.
pub(super) fn print(task: &Signature<'_>, options: &Options) -> TokenStream {
    let root = &options.root;
    let lib = quote!(#root::__private::langgraph);
    let vis = &task.item.vis;
    let name = &task.item.sig.ident;
    let marker = format_ident!("__{}_task", name.unraw(), span = name.span());
    let text = match &options.name {
        Some(name) => name.to_token_stream(),
        None => name.unraw().to_string().to_token_stream(),
    };
    let (outer, inner_attributes) = split_attributes(&task.item.attrs);
    let mut inner = task.item.clone();
    inner.attrs = inner_attributes;
    inner.vis = syn::Visibility::Inherited;
    let (names, types): (Vec<_>, Vec<_>) = task.arguments.iter().copied().unzip();
    let unit: Type = parse_quote!(());
    let (value, fallible) = task.value();
    let value = value.unwrap_or(&unit);
    let cx = task.context.map(|_| quote!(cx));
    let call = quote!(#name(#(#names,)* #cx).await);
    let result = if fallible {
        quote!(#root::__private::Fallible::into_value(#call))
    } else {
        quote!(::core::result::Result::Ok(#call))
    };
    let configured = options.configured(quote!(node));
    quote! {
        #(#outer)*
        #vis fn #name(#(#names: #types),*) -> #root::TaskCall<#marker> {
            #root::TaskCall::new((#(#names,)*))
        }

        #[doc(hidden)]
        #[allow(non_camel_case_types, unreachable_pub, missing_debug_implementations)]
        #vis enum #marker {}

        const _: () = {
            impl #root::Task for #marker {
                const NAME: &'static ::core::primitive::str = #text;
                type Arguments = (#(#types,)*);
                type Output = #value;

                #[allow(unused_variables)]
                async fn run(
                    (#(#names,)*): Self::Arguments,
                    cx: &#lib::Context,
                ) -> ::core::result::Result<Self::Output, #lib::error::NodeError> {
                    #[allow(clippy::unused_async)]
                    #inner
                    #result
                }

                fn configure(
                    node: #lib::graph::ConfiguredNode<#root::TaskState>,
                ) -> #lib::graph::ConfiguredNode<#root::TaskState> {
                    #configured
                }

                fn graph() -> &'static #root::__private::TaskGraph {
                    static GRAPH: #root::__private::TaskGraph = #root::__private::TaskGraph::new();
                    &GRAPH
                }
            }
        };
    }
}
