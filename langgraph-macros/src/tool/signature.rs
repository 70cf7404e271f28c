//! The arguments of a tool.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{FnArg, Ident, ItemFn, Pat, PatType, ReturnType, Signature, Type, TypeReference};

use super::attr::{self, ArgumentOptions, ToolOptions};
use crate::diag::Errors;
use crate::function::{docs, qualifiers, reference};

/// A parsed tool function.
pub(super) struct ToolFn<'a> {
    pub(super) item: &'a ItemFn,
    pub(super) description: String,
    pub(super) arguments: Vec<ToolArgument<'a>>,
    /// The type of the context, if the function takes one.
    pub(super) context: Option<&'a Type>,
    /// The return type; `None` is `()`.
    pub(super) output: Option<&'a Type>,
}

/// An argument from the model.
pub(super) struct ToolArgument<'a> {
    pub(super) name: &'a Ident,
    pub(super) ty: &'a Type,
    pub(super) options: ArgumentOptions,
}

impl ToolFn<'_> {
    /// Returns the span for errors about the return type.
    pub(super) fn output_span(&self) -> Span {
        self.output
            .map_or_else(|| self.item.sig.ident.span(), Spanned::span)
    }
}

/// Checks the function and reports every mistake.
pub(super) fn read<'a>(
    item: &'a ItemFn,
    options: &ToolOptions,
    errors: &mut Errors,
) -> Option<ToolFn<'a>> {
    let sig = &item.sig;
    let description = match &options.description {
        Some(text) => text.value(),
        None => docs(&item.attrs).unwrap_or_default(),
    };
    if description.trim().is_empty() {
        errors.on(
            &sig.ident,
            format!(
                "a tool needs a description, which the model reads: write a doc comment above `{}`",
                sig.ident
            ),
        );
    }
    let before = errors.len();
    qualifiers(sig, "tool", errors);
    let parameter = sig.generics.type_params().map(|param| &param.ident);
    let constant = sig.generics.const_params().map(|param| &param.ident);
    if let Some(parameter) = parameter.chain(constant).next() {
        errors.on(
            parameter,
            "a tool is not generic: the model gets one schema; call the generic function from a tool for each type",
        );
    }
    let (arguments, context) = arguments(sig, errors);
    let output = match &sig.output {
        ReturnType::Default => None,
        ReturnType::Type(_, ty) => Some(&**ty),
    };
    (errors.len() == before).then_some(ToolFn {
        item,
        description,
        arguments,
        context,
        output,
    })
}

/// Returns the arguments from the model, and the type of the context.
fn arguments<'a>(
    sig: &'a Signature,
    errors: &mut Errors,
) -> (Vec<ToolArgument<'a>>, Option<&'a Type>) {
    let mut arguments: Vec<ToolArgument<'_>> = Vec::new();
    let mut context: Option<&Type> = None;
    let count = sig.inputs.len();
    for (index, input) in sig.inputs.iter().enumerate() {
        let argument = match input {
            FnArg::Receiver(receiver) => {
                errors.on(
                    receiver,
                    "a tool is a function: for one with fields, implement `Tool` for the type",
                );
                continue;
            }
            FnArg::Typed(argument) => argument,
        };
        if let Some(borrow) = reference(&argument.ty) {
            if check_borrowed(&argument.ty, borrow, index + 1 == count, errors) {
                context = Some(&argument.ty);
            }
            continue;
        }
        let Some(name) = name_of_owned(argument, errors) else {
            continue;
        };
        if arguments.len() == 12 {
            errors.on(
                argument,
                "a tool takes up to 12 arguments: group them in a struct",
            );
            continue;
        }
        arguments.push(ToolArgument {
            name,
            ty: &argument.ty,
            options: attr::argument(&argument.attrs, errors),
        });
    }
    (arguments, context)
}

/// Checks a borrowed argument, which can only be the context; returns true if it is.
fn check_borrowed(ty: &Type, borrow: &TypeReference, is_last: bool, errors: &mut Errors) -> bool {
    match last_name(&borrow.elem) {
        Some(name) if name == "ToolContext" && is_last => {
            if let Some(token) = &borrow.mutability {
                errors.on(token, "the context is borrowed by `&`");
            }
            return true;
        }
        Some(name) if name == "ToolContext" => errors.on(ty, "the context comes last"),
        Some(name) if name == "Context" => errors.on(
            ty,
            "a tool takes a `&ToolContext`, which can do what a `Context` can",
        ),
        name => {
            let owned = match name {
                Some(name) if name == "str" => "`String`".to_owned(),
                Some(name) => format!("`{name}`"),
                None => "an owned value, such as a `Vec`".to_owned(),
            };
            errors.on(
                ty,
                format!(
                    "the model gives a tool its arguments, so they are owned: expected {owned}, found a reference"
                ),
            );
        }
    }
    false
}

/// Returns the name of an argument that the model gives, unless its type or its pattern is none of a tool.
fn name_of_owned<'a>(argument: &'a PatType, errors: &mut Errors) -> Option<&'a Ident> {
    if last_name(&argument.ty).is_some_and(|name| name == "ToolContext") {
        errors.on(&argument.ty, "the context is borrowed: `cx: &ToolContext`");
        return None;
    }
    if let Type::ImplTrait(_) = &*argument.ty {
        errors.on(
            &argument.ty,
            "the model gets one schema: name the type of the argument",
        );
        return None;
    }
    let Pat::Ident(pat) = &*argument.pat else {
        errors.on(
            &argument.pat,
            "an argument of a tool has a name, which the model uses; take it apart in the body",
        );
        return None;
    };
    Some(&pat.ident)
}

fn last_name(ty: &Type) -> Option<&Ident> {
    match ty {
        Type::Path(path) => path.path.segments.last().map(|last| &last.ident),
        Type::Paren(inner) => last_name(&inner.elem),
        Type::Group(inner) => last_name(&inner.elem),
        _ => None,
    }
}
