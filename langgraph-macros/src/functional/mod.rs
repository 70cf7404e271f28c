//! `#[task]` and `#[entrypoint]`: graphs as plain code.

mod attr;
mod entrypoint;
mod input;
mod keys;
mod nondeterminism;
mod signature;
mod task;
#[cfg(test)]
mod tests;

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::ItemFn;

use crate::diag::Errors;
use attr::Options;
use signature::Signature;

/// Expands `#[task]`.
pub(crate) fn task(options: TokenStream, item: TokenStream) -> TokenStream {
    expand("task", options, item, task::print)
}

/// Expands `#[entrypoint]`.
pub(crate) fn entrypoint(options: TokenStream, item: TokenStream) -> TokenStream {
    expand("entrypoint", options, item, entrypoint::print)
}

/// Expands an attribute. Mistakes become errors beside the function as it was written.
fn expand(
    what: &str,
    options: TokenStream,
    item: TokenStream,
    print: impl Fn(&Signature<'_>, &Options) -> TokenStream,
) -> TokenStream {
    let mut errors = Errors::new();
    let options = Options::read(what, options, &mut errors);
    let function = match syn::parse2::<ItemFn>(item.clone()) {
        Ok(function) => function,
        Err(error) => {
            errors.push(error);
            let mut output = errors.to_compile_errors();
            output.extend(item);
            return output;
        }
    };
    let signature = signature::read(&function, what, &mut errors);
    let mut output = errors.to_compile_errors();
    match signature {
        Some(signature) => output.extend(print(&signature, &options)),
        None => output.extend(function.into_token_stream()),
    }
    output
}
