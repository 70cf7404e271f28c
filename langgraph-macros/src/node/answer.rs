//! `#[node(writes(…))]`: the function returns the values, and the node an update.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{GenericArgument, Ident, PathArguments, Type, parse_quote};

use crate::paths::Root;

/// The type around the values.
enum Shape<'a> {
    Values,
    /// `(values, Next)`.
    Jump(&'a Type),
    /// `Result<…, E>`.
    Fallible(Box<Shape<'a>>),
}

/// The output of a node instead of the values, and the conversion of the values.
pub(super) struct Written {
    pub(super) ty: Type,
    pub(super) value: TokenStream,
}

/// A placeholder for an output that could not be understood.
pub(super) fn nothing(value: &TokenStream) -> Written {
    Written {
        ty: parse_quote!(()),
        value: quote!({
            let _ = #value;
        }),
    }
}

/// Reads the function's return type, and converts `value` to an update of `state`.
pub(super) fn written(
    root: &Root,
    state: &Type,
    fields: &[Ident],
    output: Option<&Type>,
    value: &TokenStream,
) -> Written {
    let update: Type = parse_quote!(<#state as #root::state::State>::Update);
    let unit: Type = parse_quote!(());
    let output = output.unwrap_or(&unit);
    let (shape, ty) = replace(output, &update);
    Written {
        ty,
        value: convert(&shape, &update, fields, output.span(), value),
    }
}

/// Returns the type around the values in `ty`, and `ty` with the update instead of the values.
fn replace<'a>(ty: &'a Type, update: &Type) -> (Shape<'a>, Type) {
    match ty {
        Type::Paren(inner) => replace(&inner.elem, update),
        Type::Group(inner) => replace(&inner.elem, update),
        Type::Tuple(tuple) => {
            let mut elems = tuple.elems.iter();
            if let (Some(_), Some(next), None) = (elems.next(), elems.next(), elems.next())
                && last_name(next).is_some_and(|name| name == "Next")
            {
                return (Shape::Jump(next), parse_quote!((#update, #next)));
            }
            (Shape::Values, update.clone())
        }
        Type::Path(path) if last_name(ty).is_some_and(|name| name == "Result") => {
            let mut replaced = path.clone();
            let mut found = None;
            if let (Some(last), Some(new)) =
                (path.path.segments.last(), replaced.path.segments.last_mut())
                && let (PathArguments::AngleBracketed(old), PathArguments::AngleBracketed(new)) =
                    (&last.arguments, &mut new.arguments)
                && let (Some(GenericArgument::Type(old)), Some(new)) =
                    (old.args.first(), new.args.first_mut())
            {
                let (shape, ty) = replace(old, update);
                *new = GenericArgument::Type(ty);
                found = Some(shape);
            }
            match found {
                Some(shape) => (Shape::Fallible(Box::new(shape)), Type::Path(replaced)),
                None => (Shape::Values, update.clone()),
            }
        }
        _ => (Shape::Values, update.clone()),
    }
}

fn last_name(ty: &Type) -> Option<&Ident> {
    match ty {
        Type::Path(path) => path.path.segments.last().map(|last| &last.ident),
        Type::Paren(inner) => last_name(&inner.elem),
        Type::Group(inner) => last_name(&inner.elem),
        _ => None,
    }
}

/// Returns a variable of ours at the user's place.
fn local(name: &str, span: Span) -> Ident {
    Ident::new(name, span.resolved_at(Span::mixed_site()))
}

fn convert(
    shape: &Shape<'_>,
    update: &Type,
    fields: &[Ident],
    span: Span,
    value: &TokenStream,
) -> TokenStream {
    match shape {
        Shape::Values => {
            let locals: Vec<_> = (0..fields.len())
                .map(|index| local(&format!("value{index}"), span))
                .collect();
            let pattern = if let [one] = locals.as_slice() {
                one.to_token_stream()
            } else {
                quote_spanned!(span=> (#(#locals),*))
            };
            let sets = fields.iter().zip(&locals).map(|(field, value)| {
                // The field may come from a `macro_rules!`, where our variable is unknown.
                let update = local("update", field.span());
                let written = quote_spanned!(field.span()=> #update.#field);
                quote_spanned!(span=> let #update = #written(#value);)
            });
            let made = local("update", Span::mixed_site());
            quote! {{
                let #pattern = #value;
                let #made = <#update as ::core::default::Default>::default();
                #(#sets)*
                #made
            }}
        }
        Shape::Jump(next) => {
            let inner = convert(&Shape::Values, update, fields, span, &quote!(values));
            quote! {{
                let (values, next) = #value;
                let next: #next = next;
                (#inner, next)
            }}
        }
        Shape::Fallible(inner) => {
            let inner = convert(inner, update, fields, span, &quote!(values));
            quote! {
                match #value {
                    ::core::result::Result::Ok(values) => ::core::result::Result::Ok(#inner),
                    ::core::result::Result::Err(error) => ::core::result::Result::Err(error),
                }
            }
        }
    }
}
