//! The expansion of `#[task]`.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Type, parse_quote};

use super::attr::Options;
use super::keys;
use super::signature::Signature;
use crate::compact::compact;
use crate::function::split_attributes;

/// Prints what stands for the function.
pub(super) fn print(task: &Signature<'_>, options: &Options) -> TokenStream {
    let root = &options.root;
    let lib = quote!(#root::__private::langgraph);
    let vis = &task.item.vis;
    let name = &task.item.sig.ident;
    let marker = format_ident!("__{}_task", name.unraw(), span = name.span());
    let text = options.text(name);
    let (outer, _) = split_attributes(&task.item.attrs);
    let (names, types): (Vec<_>, Vec<_>) = task.arguments.iter().copied().unzip();
    let unit: Type = parse_quote!(());
    let value = task.value().0.unwrap_or(&unit);
    let cached = quote!(#lib::policy::CachePolicy::input());
    let configured = options.configured(quote!(node), &cached);
    let stored = stored(task, options);
    let run = run(task, options);
    let known = keys::print(task, root);
    let written = compact(value);
    let anywhere = options.anywhere;
    let runs_anywhere = anywhere.then(|| quote!(impl #root::Anywhere for #marker {}));
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
                const ANYWHERE: ::core::primitive::bool = #anywhere;
                const OUTPUT: &'static ::core::primitive::str = #written;
                type Arguments = (#(#types,)*);
                type Output = #value;

                #stored

                #run

                #known

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

            #runs_anywhere
        };
    }
}

/// Prints how the arguments are written, read and copied. Each call has the span of its type, which may not be storable.
fn stored(task: &Signature<'_>, options: &Options) -> TokenStream {
    let root = &options.root;
    let json = quote!(#root::__private::serde_json);
    let names: Vec<_> = task.arguments.iter().map(|(name, _)| name).collect();
    let written = task.arguments.iter().map(|(name, ty)| {
        let write = quote_spanned!(ty.span()=> <#ty as #root::Stored>::to_value);
        quote!(#write(#name)?)
    });
    let read = task.arguments.iter().map(|(_, ty)| {
        let read = quote_spanned!(ty.span()=> <#ty as #root::Stored>::from_value);
        quote!(#read(__arguments.take())?)
    });
    quote! {
        fn write(
            (#(#names,)*): &Self::Arguments,
        ) -> ::core::result::Result<#json::Value, #json::Error> {
            ::core::result::Result::Ok(#json::Value::Array(::std::vec![#(#written),*]))
        }

        fn read(
            __arguments: #json::Value,
        ) -> ::core::result::Result<Self::Arguments, #json::Error> {
            #[allow(unused_mut, unused_variables)]
            let mut __arguments = #root::__private::Arguments::new(__arguments);
            ::core::result::Result::Ok((#(#read,)*))
        }

        fn copy(__arguments: &Self::Arguments) -> ::core::option::Option<Self::Arguments> {
            #[allow(unused_imports)]
            use #root::__private::{ByClone as _, NoCopy as _};
            (&#root::__private::Copied(__arguments)).copied()
        }
    }
}

/// Prints the function `run`. Its span is the function's, so that the compiler says there that its future is not
/// `Send`.
fn run(task: &Signature<'_>, options: &Options) -> TokenStream {
    let root = &options.root;
    let lib = quote!(#root::__private::langgraph);
    let name = &task.item.sig.ident;
    let names: Vec<_> = task.arguments.iter().map(|(name, _)| name).collect();
    let inner = task.inner();
    let cx = task.context.map(|_| quote!(__cx));
    let call = quote!(#name(#(#names,)* #cx).await);
    let result = if task.value().1 {
        quote!(#root::__private::Fallible::into_value(#call))
    } else {
        quote!(::core::result::Result::Ok(#call))
    };
    let head = quote_spanned! {name.span()=>
        async fn run(
            (#(#names,)*): Self::Arguments,
            __cx: &#lib::Context,
        ) -> ::core::result::Result<Self::Output, #lib::error::NodeError>
    };
    quote! {
        #[allow(unused_variables)]
        #head {
            #[allow(clippy::unused_async)]
            #inner
            #result
        }
    }
}
