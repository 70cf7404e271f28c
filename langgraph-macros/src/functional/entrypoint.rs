//! The expansion of `#[entrypoint]`.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::ext::IdentExt;
use syn::{Ident, Type, parse_quote};

use super::attr::Options;
use super::signature::Signature;
use crate::function::split_attributes;

/// `write_essay` becomes `WriteEssayState`.
fn state_name(function: &Ident) -> Ident {
    let text = function.unraw().to_string();
    let words = text.split('_').filter(|word| !word.is_empty());
    let camel: String = words
        .map(|word| word[..1].to_uppercase() + &word[1..])
        .collect();
    format_ident!("{camel}State", span = function.span())
}

/// Prints what stands for the function.
pub(super) fn print(entrypoint: &Signature<'_>, options: &Options) -> TokenStream {
    let root = &options.root;
    let lib = quote!(#root::__private::langgraph);
    let vis = &entrypoint.item.vis;
    let name = &entrypoint.item.sig.ident;
    let marker = format_ident!("__{}_entrypoint", name.unraw(), span = name.span());
    let state = state_name(name);
    let update = format_ident!("{state}Update");
    let text = match &options.name {
        Some(name) => name.to_token_stream(),
        None => name.unraw().to_string().to_token_stream(),
    };
    let (outer, inner_attributes) = split_attributes(&entrypoint.item.attrs);
    let mut inner = entrypoint.item.clone();
    inner.attrs = inner_attributes;
    inner.vis = syn::Visibility::Inherited;
    let (names, types): (Vec<_>, Vec<_>) = entrypoint.arguments.iter().copied().unzip();
    let unit: Type = parse_quote!(());
    let (value, fallible) = entrypoint.value();
    let value = value.unwrap_or(&unit);
    let previous = entrypoint.previous.map(|_| quote!(state.previous.as_ref()));
    let kept = entrypoint.previous.unwrap_or(&unit);
    let call = quote!(#name(#(#names,)* cx, #previous).await);
    let called = if fallible {
        quote!(#root::__private::Fallible::into_value(#call)?)
    } else {
        call
    };
    let (output, done) = if entrypoint.is_final() {
        let output = quote!(<#value as #root::__private::IntoFinal>::Value);
        let parts = quote!(#root::__private::parts::<_, #kept>(#root::__private::IntoFinal::into_final(#called)));
        (output, parts)
    } else if entrypoint.previous.is_some() {
        let value_twice = quote!({
            let value: #kept = #called;
            (::core::clone::Clone::clone(&value), ::core::option::Option::Some(value))
        });
        (value.to_token_stream(), value_twice)
    } else {
        let alone = quote!((#called, ::core::option::Option::None));
        (value.to_token_stream(), alone)
    };
    let node = options.configured(quote!(#lib::graph::IntoNode::into_node(run)));
    let stored = stored(entrypoint, options, &state, &output, kept);
    quote! {
        #(#outer)*
        #vis fn #name(#(#names: #types),*) -> #root::EntrypointCall<#marker> {
            #root::EntrypointCall::new((#(#names,)*))
        }

        #stored

        #[doc(hidden)]
        #[allow(non_camel_case_types, unreachable_pub, missing_debug_implementations)]
        #vis enum #marker {}

        const _: () = {
            impl #root::Entrypoint for #marker {
                const NAME: &'static ::core::primitive::str = #text;
                type Arguments = (#(#types,)*);
                type State = #state;

                fn begin(arguments: Self::Arguments) -> #update {
                    <#update as ::core::default::Default>::default()
                        .input(::core::option::Option::Some(arguments))
                        .output(::core::option::Option::None)
                }

                fn node() -> #lib::graph::ConfiguredNode<#state> {
                    #inner

                    async fn run(
                        state: &#state,
                        cx: &#lib::Context,
                    ) -> ::core::result::Result<#update, #lib::error::NodeError> {
                        let ::core::option::Option::Some((#(#names,)*)) =
                            ::core::clone::Clone::clone(&state.input)
                        else {
                            return ::core::result::Result::Err(#lib::error::NodeError::msg(
                                ::std::format!("`{}` has no input: run it with a call of the function", #text),
                            ));
                        };
                        let (output, kept): (_, ::core::option::Option<#kept>) = #done;
                        let update = <#update as ::core::default::Default>::default()
                            .output(::core::option::Option::Some(output));
                        ::core::result::Result::Ok(match kept {
                            ::core::option::Option::Some(kept) => {
                                update.previous(::core::option::Option::Some(kept))
                            }
                            ::core::option::Option::None => update,
                        })
                    }

                    #node
                }
            }
        };
    }
}

/// Prints the state of an entrypoint.
fn stored(
    entrypoint: &Signature<'_>,
    options: &Options,
    state: &Ident,
    output: &TokenStream,
    kept: &Type,
) -> TokenStream {
    let root = &options.root;
    let lib = quote!(#root::__private::langgraph);
    let vis = &entrypoint.item.vis;
    let types = entrypoint.arguments.iter().map(|(_, ty)| ty);
    let serde = quote!(#root::__private::serde).to_string().replace(' ', "");
    let about = format!(
        "The state of the entrypoint [`{}`].",
        entrypoint.item.sig.ident
    );
    quote! {
        #[doc = #about]
        #[derive(
            #lib::State,
            ::core::clone::Clone,
            ::core::fmt::Debug,
            ::core::default::Default,
            #root::__private::serde::Serialize,
            #root::__private::serde::Deserialize,
        )]
        #[serde(crate = #serde)]
        #vis struct #state {
            /// The arguments of the newest run.
            pub input: ::core::option::Option<(#(#types,)*)>,
            /// The result of the newest run, when it has ended.
            pub output: ::core::option::Option<#output>,
            /// What the thread keeps for the next run.
            pub previous: ::core::option::Option<#kept>,
        }
    }
}
