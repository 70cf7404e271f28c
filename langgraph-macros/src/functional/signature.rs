//! The signature of a task and of an entrypoint.

use syn::{
    FnArg, GenericArgument, Ident, ItemFn, Pat, PathArguments, ReturnType, Type, Visibility,
};

use crate::diag::Errors;
use crate::function::{qualifiers, reference, split_attributes, with_article};

/// A function as `#[task]` and `#[entrypoint]` read it.
pub(super) struct Signature<'a> {
    pub(super) item: &'a ItemFn,
    pub(super) arguments: Vec<(&'a Ident, &'a Type)>,
    /// The context, if the function takes it.
    pub(super) context: Option<&'a Type>,
    /// The type of what earlier runs have kept, if the function takes it.
    pub(super) previous: Option<&'a Type>,
    /// The return type, `None` for `()`.
    pub(super) output: Option<&'a Type>,
}

/// Reads a function; `what` is a task or an entrypoint.
pub(super) fn read<'a>(item: &'a ItemFn, what: &str, errors: &mut Errors) -> Option<Signature<'a>> {
    let before = errors.len();
    qualifiers(&item.sig, what, errors);
    let a_what = with_article(what);
    if item.sig.asyncness.is_none() {
        errors.on(item.sig.fn_token, format!("{a_what} is an `async fn`"));
    }
    if !item.sig.generics.params.is_empty() {
        errors.on(
            &item.sig.generics,
            format!("{a_what} has no generics: its arguments and its result are stored"),
        );
    }
    let mut signature = Signature {
        item,
        arguments: Vec::new(),
        context: None,
        previous: None,
        output: match &item.sig.output {
            ReturnType::Default => None,
            ReturnType::Type(_, ty) => Some(ty),
        },
    };
    for input in &item.sig.inputs {
        let FnArg::Typed(argument) = input else {
            errors.on(input, format!("{a_what} is a function without `self`"));
            continue;
        };
        let ty = &*argument.ty;
        if signature.context.is_some() {
            match kept(ty) {
                Some(kept) if what == "entrypoint" && signature.previous.is_none() => {
                    signature.previous = Some(kept);
                }
                _ => errors.on(argument, "no argument stands behind the context"),
            }
        } else if is_context(ty) {
            signature.context = Some(ty);
        } else if reference(ty).is_some() {
            errors.on(
                ty,
                format!("{a_what} owns its arguments, because they are stored: take the value, not a reference"),
            );
        } else if let Pat::Ident(name) = &*argument.pat {
            signature.arguments.push((&name.ident, ty));
        } else {
            errors.on(&argument.pat, format!("an argument of {a_what} is a name"));
        }
    }
    if what == "entrypoint" && signature.context.is_none() {
        errors.on(
            &item.sig.ident,
            "an entrypoint takes the context, which its tasks are called on: `cx: &Context`",
        );
    }
    (errors.len() == before).then_some(signature)
}

fn is_context(ty: &Type) -> bool {
    let Some(reference) = reference(ty) else {
        return false;
    };
    let Type::Path(path) = &*reference.elem else {
        return false;
    };
    path.path
        .segments
        .last()
        .is_some_and(|last| last.ident == "Context")
}

/// Returns `M` of `Option<&M>`.
fn kept(ty: &Type) -> Option<&Type> {
    let inner = first_argument(ty, "Option")?;
    Some(&*reference(inner)?.elem)
}

/// Returns the arguments of a type of this name.
fn arguments<'a>(ty: &'a Type, name: &str) -> Vec<&'a Type> {
    let Type::Path(path) = ty else {
        return Vec::new();
    };
    let last = path.path.segments.last();
    let Some(PathArguments::AngleBracketed(arguments)) = last
        .filter(|last| last.ident == name)
        .map(|last| &last.arguments)
    else {
        return Vec::new();
    };
    let types = arguments.args.iter().filter_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    });
    types.collect()
}

/// Returns the first argument of a type of this name.
fn first_argument<'a>(ty: &'a Type, name: &str) -> Option<&'a Type> {
    arguments(ty, name).first().copied()
}

impl<'a> Signature<'a> {
    /// Returns the function as it was written, as an item of an expansion.
    pub(super) fn inner(&self) -> ItemFn {
        let (_, attrs) = split_attributes(&self.item.attrs);
        ItemFn {
            attrs,
            vis: Visibility::Inherited,
            ..self.item.clone()
        }
    }

    /// Returns the type of the value, and whether it stands in a `Result`.
    pub(super) fn value(&self) -> (Option<&'a Type>, bool) {
        match self
            .output
            .and_then(|output| first_argument(output, "Result"))
        {
            Some(value) => (Some(value), true),
            None => (self.output, false),
        }
    }

    /// Returns the types of the result and of what is kept, if the function returns a `Final`.
    pub(super) fn in_final(&self) -> Option<(&'a Type, &'a Type)> {
        let (value, _) = self.value();
        match arguments(value?, "Final").as_slice() {
            [value, kept] => Some((value, kept)),
            _ => None,
        }
    }
}
