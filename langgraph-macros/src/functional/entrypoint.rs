//! The expansion of `#[entrypoint]`.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{Ident, Type, parse_quote};

use super::attr::Options;
use super::input;
use super::keys;
use super::nondeterminism::{self, is_unordered};
use super::signature::Signature;
use crate::function::split_attributes;

/// `write_essay` becomes `WriteEssayState`, and `WriteEssayInput`.
fn type_name(function: &Ident, end: &str) -> Ident {
    let text = function.unraw().to_string();
    let words = text.split('_').filter(|word| !word.is_empty());
    let camel: String = words
        .map(|word| word[..1].to_uppercase() + &word[1..])
        .collect();
    format_ident!("{camel}{end}", span = function.span())
}

/// Prints what stands for the function.
pub(super) fn print(entrypoint: &Signature<'_>, options: &Options) -> TokenStream {
    let root = &options.root;
    let lib = quote!(#root::__private::langgraph);
    let vis = &entrypoint.item.vis;
    let name = &entrypoint.item.sig.ident;
    let marker = format_ident!("__{}_entrypoint", name.unraw(), span = name.span());
    let state = type_name(name, "State");
    let input = type_name(name, "Input");
    let update = format_ident!("{state}Update");
    let text = options.text(name);
    let (outer, _) = split_attributes(&entrypoint.item.attrs);
    let (names, types): (Vec<_>, Vec<_>) = entrypoint.arguments.iter().copied().unzip();
    let body = BodyCall::new(entrypoint, options);
    let configured = options.configured(quote!(node), &cached(entrypoint, options, &state));
    let given = input::print(entrypoint, options, &input);
    let stored = stored(
        entrypoint,
        options,
        (&state, &input),
        (&body.output, &body.kept),
    );
    let warnings = warnings(entrypoint, options);
    let known = keys::print(entrypoint, root);
    let run = body.print(entrypoint, options, (&state, &input), &text);
    quote! {
        #(#outer)*
        #vis fn #name(#(#names: #types),*) -> #root::EntrypointCall<#marker> {
            #root::EntrypointCall::new((#(#names,)*))
        }

        #given

        #stored

        #warnings

        #[doc(hidden)]
        #[allow(non_camel_case_types, unreachable_pub, missing_debug_implementations)]
        #vis enum #marker {}

        const _: () = {
            impl #root::Entrypoint for #marker {
                const NAME: &'static ::core::primitive::str = #text;
                type Arguments = (#(#types,)*);
                type State = #state;

                fn begin((#(#names,)*): Self::Arguments) -> #update {
                    <#update as ::core::default::Default>::default()
                        .input(#root::__private::something(#input { #(#names,)* }))
                }

                #run

                #known

                fn configure(
                    node: #lib::graph::ConfiguredNode<#state>,
                ) -> #lib::graph::ConfiguredNode<#state> {
                    #configured
                }
            }
        };
    }
}

/// Prints the policy of `cache`: its key is what the body gets, and so what its result depends on.
fn cached(entrypoint: &Signature<'_>, options: &Options, state: &Ident) -> TokenStream {
    let root = &options.root;
    let previous = entrypoint.previous;
    let previous = previous.map(|_| quote!(, ::core::clone::Clone::clone(&state.previous)));
    quote! {
        #root::__private::langgraph::policy::CachePolicy::new(|state: &#state| {
            (::core::clone::Clone::clone(&state.input) #previous)
        })
    }
}

/// The call of the function, and the types of what it gives.
struct BodyCall {
    output: TokenStream,
    kept: Type,
    /// The result, and what the thread keeps.
    done: TokenStream,
}

impl BodyCall {
    fn new(entrypoint: &Signature<'_>, options: &Options) -> Self {
        let root = &options.root;
        let name = &entrypoint.item.sig.ident;
        let names = entrypoint.arguments.iter().map(|(name, _)| name);
        let (value, fallible) = entrypoint.value();
        let value = value.map_or_else(|| quote!(()), ToTokens::to_token_stream);
        let previous = entrypoint.previous;
        let saved = entrypoint.in_final();
        let kept = previous.or(saved.map(|(_, kept)| kept)).cloned();
        let kept = kept.unwrap_or_else(|| parse_quote!(()));
        let previous = previous.map(|_| quote!(__state.previous.as_ref()));
        let call = quote!(#name(#(#names,)* __cx, #previous).await);
        let called = if fallible {
            quote!(#root::__private::Fallible::into_value(#call)?)
        } else {
            call
        };
        let (output, done) = if let Some((output, _)) = saved {
            let parts = quote!(#root::__private::parts::<_, #kept>(#called));
            (output.to_token_stream(), parts)
        } else if entrypoint.previous.is_some() {
            let value_twice = quote!({
                let __value: #kept = #called;
                (::core::clone::Clone::clone(&__value), ::core::option::Option::Some(__value))
            });
            (value, value_twice)
        } else {
            let alone = quote!((#called, ::core::option::Option::None));
            (value, alone)
        };
        Self { output, kept, done }
    }

    /// Prints the function `run`. Its span is the function's, so that the compiler says there that its future is
    /// not `Send`.
    fn print(
        &self,
        entrypoint: &Signature<'_>,
        options: &Options,
        (state, input): (&Ident, &Ident),
        text: &TokenStream,
    ) -> TokenStream {
        let root = &options.root;
        let lib = quote!(#root::__private::langgraph);
        let update = format_ident!("{state}Update");
        let inner = entrypoint.inner();
        let names = entrypoint.arguments.iter().map(|(name, _)| name);
        let Self { kept, done, .. } = self;
        let head = quote_spanned! {entrypoint.item.sig.ident.span()=>
            async fn run(
                __state: &#state,
                __cx: &#lib::Context,
            ) -> ::core::result::Result<#update, #lib::error::NodeError>
        };
        quote! {
            #head {
                #inner

                let ::core::option::Option::Some(#input { #(#names,)* }) =
                    #root::__private::input(__state.input.as_ref())
                else {
                    return ::core::result::Result::Err(#lib::error::NodeError::msg(
                        ::std::format!("`{}` has no input: run it with a call of the function", #text),
                    ));
                };
                let (__output, __kept): (_, ::core::option::Option<#kept>) = #done;
                let __update = <#update as ::core::default::Default>::default()
                    .output(#root::__private::something(__output));
                ::core::result::Result::Ok(match __kept {
                    ::core::option::Option::Some(__kept) => {
                        __update.previous(#root::__private::something(__kept))
                    }
                    ::core::option::Option::None => __update,
                })
            }
        }
    }
}

/// Prints a warning for each part of the body that may be different when it runs again.
fn warnings(entrypoint: &Signature<'_>, options: &Options) -> TokenStream {
    if options.allows_nondeterminism {
        return TokenStream::new();
    }
    let unordered = entrypoint
        .arguments
        .iter()
        .filter(|(_, ty)| is_unordered(ty));
    let unordered = unordered.map(|(name, _)| (*name).clone()).collect();
    let body = entrypoint.item.block.to_token_stream();
    nondeterminism::warnings(&nondeterminism::findings(body, unordered))
}

/// Prints the state of an entrypoint.
fn stored(
    entrypoint: &Signature<'_>,
    options: &Options,
    (state, input): (&Ident, &Ident),
    (output, kept): (&TokenStream, &Type),
) -> TokenStream {
    let lib = &options.root;
    let lib = quote!(#lib::__private::langgraph);
    let vis = &entrypoint.item.vis;
    let about = format!(
        "The state of the entrypoint [`{}`].",
        entrypoint.item.sig.ident
    );
    let serde = options.serde();
    let derives = options.derives(entrypoint.item.sig.ident.span());
    quote! {
        #[doc = #about]
        #[derive(#lib::State, ::core::default::Default, #derives)]
        #[serde(crate = #serde)]
        #vis struct #state {
            /// The arguments of the newest run.
            pub input: ::core::option::Option<#input>,
            /// The result of the newest run, when it has ended; a result that is nothing, such as `()`, is `None`.
            #[state(ephemeral)]
            pub output: ::core::option::Option<#output>,
            /// What the thread keeps for the next run.
            pub previous: ::core::option::Option<#kept>,
        }
    }
}
