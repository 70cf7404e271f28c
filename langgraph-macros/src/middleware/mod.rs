//! `#[middleware]`: notes which hooks an `impl AgentMiddleware` has.

#[cfg(test)]
mod tests;

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::{Ident, ImplItem, ItemImpl};

use crate::diag::{Errors, suggestion};
use crate::paths::Root;

const KEYS: [&str; 1] = ["crate"];

/// The methods that are hooks, and their variants of `Hook`.
const HOOKS: [(&str, &str); 7] = [
    ("before_agent", "BeforeAgent"),
    ("before_model", "BeforeModel"),
    ("around_model", "AroundModel"),
    ("after_model", "AfterModel"),
    ("around_tool", "AroundTool"),
    ("after_tool", "AfterTool"),
    ("after_agent", "AfterAgent"),
];

/// Expands the attribute. Mistakes become errors beside the `impl` as it was written.
pub(crate) fn expand(options: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::new();
    let root = options_of(options, &mut errors);
    let mut output = if let Ok(mut block) = syn::parse2::<ItemImpl>(item.clone()) {
        check(&block, &mut errors);
        block.items.push(hooks(&block, &root));
        quote!(#[#root::async_trait] #block)
    } else {
        errors.on(
            crate::function::first_token(&item),
            "`#[middleware]` belongs on an `impl AgentMiddleware for ..`",
        );
        item
    };
    output.extend(errors.to_compile_errors());
    output
}

fn options_of(tokens: TokenStream, errors: &mut Errors) -> Root {
    let mut root = Root::Agent;
    let parser = syn::meta::parser(|meta| {
        if meta.path.is_ident("crate") {
            root = Root::given(meta.value()?.parse()?);
            return Ok(());
        }
        let found = meta.path.to_token_stream().to_string();
        let hint = suggestion(&found, KEYS);
        Err(meta.error(format!("unknown option `{found}` of `#[middleware]`{hint}")))
    });
    errors.ok(syn::parse::Parser::parse2(parser, tokens));
    root
}

/// Refuses an `impl` that cannot be middleware, at the user's tokens.
fn check(block: &ItemImpl, errors: &mut Errors) {
    if block.trait_.is_none() {
        errors.on(
            &block.self_ty,
            "`#[middleware]` belongs on an `impl AgentMiddleware for ..`; this `impl` has no trait",
        );
    }
    let mut found = false;
    for item in &block.items {
        let ImplItem::Fn(function) = item else {
            continue;
        };
        let name = &function.sig.ident;
        if name == "hooks" {
            errors.on(name, "`#[middleware]` writes `hooks`; remove this one");
        }
        if variant(name).is_none() {
            continue;
        }
        found = true;
        if function.sig.asyncness.is_none() {
            errors.on(function.sig.fn_token, format!("`{name}` is an `async fn`"));
        }
    }
    let brings = |item: &ImplItem| matches!(item, ImplItem::Fn(f) if f.sig.ident == "tools");
    if !found && !block.items.iter().any(brings) {
        errors.on(
            &block.self_ty,
            format!(
                "this middleware has no hook and no tools; it has at least one of {}, `tools`",
                HOOKS.map(|(name, _)| format!("`{name}`")).join(", ")
            ),
        );
    }
}

fn variant(name: &Ident) -> Option<Ident> {
    let (_, variant) = HOOKS.iter().find(|(hook, _)| name == hook)?;
    Some(format_ident!("{variant}", span = Span::mixed_site()))
}

/// Prints the method that names the hooks.
fn hooks(block: &ItemImpl, root: &Root) -> ImplItem {
    let variants = block.items.iter().filter_map(|item| match item {
        ImplItem::Fn(function) => variant(&function.sig.ident),
        _ => None,
    });
    let method = quote! {
        fn hooks(&self) -> &'static [#root::Hook] {
            &[#(#root::Hook::#variants),*]
        }
    };
    ImplItem::Verbatim(method)
}
