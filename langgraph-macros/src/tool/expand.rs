//! The expansion of a tool function.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::{FnArg, Ident, LitStr, Type, parse_quote};

use super::attr::{Fallback, ToolOptions};
use super::signature::{ToolArgument, ToolFn};
use crate::function::{reference, split_attributes, type_span};

/// Prints the function, its marker, and the struct of its arguments.
pub(super) fn expand(tool: &ToolFn<'_>, options: &ToolOptions) -> TokenStream {
    let root = &options.root;
    let vis = &tool.item.vis;
    let name = &tool.item.sig.ident;
    let marker = format_ident!("__{}_tool", name.unraw(), span = name.span());
    let unit: Type = parse_quote!(());
    let output = tool.output.unwrap_or(&unit);
    let names: Vec<_> = tool
        .arguments
        .iter()
        .map(|argument| argument.name)
        .collect();
    let types = tool.arguments.iter().map(|argument| argument.ty);
    let (outer_attrs, inner_attrs) = split_attributes(&tool.item.attrs);
    let mut inner = tool.item.clone();
    inner.attrs = inner_attrs;
    inner.vis = syn::Visibility::Inherited;
    for input in &mut inner.sig.inputs {
        if let FnArg::Typed(argument) = input {
            argument.attrs.clear();
            if reference(&argument.ty).is_some() {
                name_lifetime(&mut argument.ty);
            }
        }
    }
    let cx = Ident::new("cx", Span::mixed_site());
    let (params, lifetime, context) = match tool.context {
        Some(_) => (
            quote!(<'__call>),
            quote!('__call),
            Some(quote!(#cx: &'__call #root::ToolContext<'__call>)),
        ),
        None => (TokenStream::new(), quote!('static), None),
    };
    let passed_cx = tool
        .context
        .map(|ty| quote_spanned!(syn::spanned::Spanned::span(ty)=> #cx));
    let call = quote_spanned!(name.span()=> #name(#(#names,)* #passed_cx));
    let body = if tool.item.sig.asyncness.is_some() {
        call
    } else {
        quote!(async move { #call })
    };
    let made = quote_spanned!(name.span()=> #root::ToolFuture::new(#body));
    let inputs = names
        .iter()
        .zip(types)
        .map(|(name, ty)| quote!(#name: #ty))
        .chain(context);
    let meta = meta(tool, options, &marker);
    quote! {
        #meta

        #(#outer_attrs)*
        #[allow(clippy::type_complexity)]
        #vis fn #name #params(#(#inputs),*) -> #root::ToolFuture<#lifetime, #output, #marker> {
            #[allow(clippy::unused_async)]
            #inner
            #made
        }
    }
}

/// Adds the lifetime of the context, which an async function must not omit.
fn name_lifetime(ty: &mut Type) {
    match ty {
        Type::Reference(reference) => name_lifetime(&mut reference.elem),
        Type::Paren(inner) => name_lifetime(&mut inner.elem),
        Type::Group(inner) => name_lifetime(&mut inner.elem),
        Type::Path(path) => {
            if let Some(last) = path.path.segments.last_mut()
                && last.arguments.is_none()
            {
                last.arguments = syn::PathArguments::AngleBracketed(parse_quote!(<'_>));
            }
        }
        _ => {}
    }
}

/// Prints the marker, and the metadata of the tool's type.
fn meta(tool: &ToolFn<'_>, options: &ToolOptions, marker: &Ident) -> TokenStream {
    let root = &options.root;
    let vis = &tool.item.vis;
    let function = &tool.item.sig.ident;
    let name = match &options.name {
        Some(name) => name.to_token_stream(),
        None => function.unraw().to_string().to_token_stream(),
    };
    let description = &tool.description;
    let direct = options.return_directly.then(|| {
        quote!(
            const RETURNS_DIRECTLY: ::core::primitive::bool = true;
        )
    });
    let arguments = Ident::new("__Arguments", Span::mixed_site());
    let crate_path = |of: &str| {
        let of = Ident::new(of, Span::mixed_site());
        let path = quote!(#root::__private::#of).to_string().replace(' ', "");
        LitStr::new(&path, Span::mixed_site())
    };
    let (serde, schemars) = (crate_path("serde"), crate_path("schemars"));
    let fields = tool.arguments.iter().map(field);
    // The derives apply to valid fields; each field is checked at its own place.
    let fitting: Vec<_> = tool
        .arguments
        .iter()
        .map(|argument| {
            let ty = argument.ty;
            quote!(for<'__a> #ty: #root::__private::ToolArgument)
        })
        .collect();
    let checks = tool.arguments.iter().map(|argument| {
        let span = type_span(argument.ty);
        let root = root.at(span);
        let ty = argument.ty;
        quote_spanned!(span=> let () = #root::__private::argument::<#ty>();)
    });
    let defaults = tool.arguments.iter().map(default);
    let names: Vec<_> = tool
        .arguments
        .iter()
        .map(|argument| argument.name)
        .collect();
    let cx = tool.context.map(|_| quote!(cx));
    let at_output = root.at(tool.output_span());
    let mut called = function.clone();
    called.set_span(tool.output_span());
    let run = quote_spanned! {tool.output_span()=>
        #at_output::ToolFuture::into_run(#called(#(#names,)* #cx))
    };
    quote! {
        #[doc(hidden)]
        #[allow(non_camel_case_types, dead_code, unreachable_pub, missing_debug_implementations)]
        #vis enum #marker {}

        const _: () = {
            // The derived code calls methods of these, even without the prelude.
            #[allow(unused_imports)]
            use ::core::{convert::Into as _, iter::Iterator as _, option::Option::Some};

            #[doc(hidden)]
            #[derive(
                #root::__private::serde::Deserialize,
                #root::__private::schemars::JsonSchema,
            )]
            #[serde(crate = #serde)]
            #[schemars(crate = #schemars)]
            #[allow(missing_debug_implementations, missing_docs, unreachable_pub, clippy::all, clippy::pedantic)]
            pub struct #arguments
            where
                #(#fitting,)*
            {
                #(#fields,)*
            }

            #(#defaults)*

            #[allow(dead_code, clippy::all, clippy::pedantic)]
            fn check() {
                #(#checks)*
            }

            #[automatically_derived]
            impl #root::ToolMeta for #marker
            where
                #(#fitting,)*
            {
                const NAME: &'static ::core::primitive::str = #name;
                const DESCRIPTION: &'static ::core::primitive::str = #description;
                #direct
                type Arguments = #arguments;

                #[allow(unused_variables)]
                fn call<'a>(
                    arguments: #arguments,
                    cx: &'a #root::ToolContext<'a>,
                ) -> #root::ToolRun<'a> {
                    let #arguments { #(#names,)* } = arguments;
                    #run
                }
            }
        };
    }
}

/// Prints an argument as a field of the struct.
fn field(argument: &ToolArgument<'_>) -> TokenStream {
    let ToolArgument { name, ty, options } = argument;
    let passed = &options.passed;
    let description = options
        .description
        .as_ref()
        .map(|text| quote!(#[schemars(description = #text)]));
    let rename = options
        .rename
        .as_ref()
        .map(|name| quote!(#[serde(rename = #name)]));
    let default = match &options.default {
        Fallback::None => None,
        Fallback::OfType => Some(quote!(#[serde(default)])),
        Fallback::Value(_) => {
            let function = LitStr::new(&default_name(name).to_string(), Span::mixed_site());
            Some(quote!(#[serde(default = #function)]))
        }
    };
    quote!(#(#passed)* #description #rename #default pub #name: #ty)
}

/// Prints the function that returns an argument's default.
fn default(argument: &ToolArgument<'_>) -> TokenStream {
    let ToolArgument { name, ty, options } = argument;
    let Fallback::Value(value) = &options.default else {
        return TokenStream::new();
    };
    let function = default_name(name);
    quote! {
        #[allow(non_snake_case)]
        fn #function() -> #ty {
            #value
        }
    }
}

fn default_name(argument: &Ident) -> Ident {
    format_ident!("__default_{}", argument.unraw(), span = Span::mixed_site())
}
