//! `#[node]`: a function, or an `impl` block with a method, becomes a node.

mod answer;
mod attr;
mod block;
mod checked;
mod expand;
mod expansion;
pub(crate) mod keys;
mod lifetime;
mod metadata;
mod method;
mod needs;
mod signature;
mod sync;
#[cfg(test)]
mod tests;
mod uses;

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::Item;

use crate::diag::Errors;
use attr::NodeOptions;

/// Expands the attribute. Mistakes become errors beside the item as it was written.
pub(crate) fn expand(options: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::new();
    let options = NodeOptions::read(options, &mut errors);
    match syn::parse2::<Item>(item.clone()) {
        Ok(Item::Fn(function)) => {
            let node = signature::read(&function, &options, &mut errors);
            if let Some(node) = &node {
                uses::check(node, &options, &mut errors);
            }
            let mut output = errors.to_compile_errors();
            match node {
                Some(node) => {
                    let node = expand::expand(&node, &options, expansion::Scope::Module);
                    output.extend([node.beside, node.function]);
                }
                None => output.extend(function.into_token_stream()),
            }
            output
        }
        Ok(Item::Impl(block)) => {
            let functions = block::expand(&block, &options, &mut errors);
            let method = method::read(&block, &options, functions.is_some(), &mut errors);
            let (written, beside) =
                functions.unwrap_or_else(|| (block.clone(), TokenStream::new()));
            let mut output = errors.to_compile_errors();
            output.extend(method::as_written(written, method.as_ref()).into_token_stream());
            output.extend(beside);
            if let Some(method) = method {
                output.extend(method::expand(&block, &method, &options));
            }
            output
        }
        Ok(other) => {
            errors.on(
                crate::function::first_token(&item),
                "`#[node]` belongs on an async function, or on an `impl` block with an async method `run`",
            );
            let mut output = errors.to_compile_errors();
            output.extend(other.into_token_stream());
            output
        }
        Err(error) => {
            errors.push(error);
            let mut output = errors.to_compile_errors();
            output.extend(item);
            output
        }
    }
}
