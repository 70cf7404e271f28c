//! `#[tool]`: makes a function a tool.

mod attr;
mod expand;
mod signature;
#[cfg(test)]
mod tests;

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{Item, ItemFn};

use crate::diag::Errors;
use attr::ToolOptions;

/// Expands the attribute. Mistakes become errors beside the function as it was written.
pub(crate) fn expand(options: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::new();
    let options = ToolOptions::read(options, &mut errors);
    let mut function = match syn::parse2::<Item>(item.clone()) {
        Ok(Item::Fn(function)) => function,
        Ok(other) => {
            errors.on(
                crate::function::first_token(&item),
                "`#[tool]` belongs on a function",
            );
            let mut output = errors.to_compile_errors();
            output.extend(other.into_token_stream());
            return output;
        }
        Err(error) => {
            errors.push(error);
            let mut output = errors.to_compile_errors();
            output.extend(item);
            return output;
        }
    };
    let tool = signature::read(&function, &options, &mut errors);
    let mut output = errors.to_compile_errors();
    if let Some(tool) = &tool {
        output.extend(expand::expand(tool, &options));
        return output;
    }
    without_argument_attributes(&mut function);
    output.extend(function.into_token_stream());
    output
}

/// Removes the attributes of arguments, which plain Rust does not allow.
fn without_argument_attributes(function: &mut ItemFn) {
    for input in &mut function.sig.inputs {
        match input {
            syn::FnArg::Receiver(receiver) => receiver.attrs.clear(),
            syn::FnArg::Typed(argument) => argument.attrs.clear(),
        }
    }
}
