//! The arguments of a node function.

use syn::spanned::Spanned;
use syn::{FnArg, ItemFn, Pat, ReturnType, Signature, Type};

use super::attr::NodeOptions;
use crate::diag::Errors;
use crate::function::{qualifiers, reference};

/// A parsed node function.
pub(super) struct NodeFn<'a> {
    pub(super) item: &'a ItemFn,
    pub(super) arguments: Vec<Argument<'a>>,
    /// The state's type, if known.
    pub(super) state: Option<&'a Type>,
    /// The return type; `None` is `()`.
    pub(super) output: Option<&'a Type>,
}

/// One argument of a node function.
pub(super) struct Argument<'a> {
    pub(super) pat: &'a Pat,
    pub(super) ty: &'a Type,
    pub(super) role: Role,
}

/// The role of an argument.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// The state, borrowed.
    State,
    /// The state, or the item of a worker: taken by value.
    Owned,
    /// The context.
    Context,
    /// A reference after an item: the state or the context.
    StateOrContext,
}

impl NodeFn<'_> {
    /// Returns true if the first argument is taken by value.
    pub(super) fn is_owned(&self) -> bool {
        let mut roles = self.arguments.iter().map(|argument| argument.role);
        roles.next() == Some(Role::Owned)
    }

    pub(super) fn is_async(&self) -> bool {
        self.item.sig.asyncness.is_some()
    }
}

/// Checks the function and reports every mistake.
pub(super) fn read<'a>(
    item: &'a ItemFn,
    options: &'a NodeOptions,
    errors: &mut Errors,
) -> Option<NodeFn<'a>> {
    let before = errors.len();
    qualifiers(&item.sig, "node", errors);
    let arguments = arguments(&item.sig, errors);
    let output = match &item.sig.output {
        ReturnType::Default => None,
        ReturnType::Type(_, ty) => Some(&**ty),
    };
    let borrowed_state = arguments.iter().find_map(|argument| {
        let target = &*reference(argument.ty)?.elem;
        let is_state = match argument.role {
            Role::State => true,
            Role::StateOrContext => !is_context(target),
            Role::Owned | Role::Context => false,
        };
        is_state.then_some(target)
    });
    let state = options.state.as_ref().or(borrowed_state);
    if let (Some(fields), None) = (&options.writes, &state) {
        errors.on(
            fields.first(),
            "`writes` needs to know the state: take `state: &State`, or write `#[node(state = State, writes(…))]`",
        );
    }
    (errors.len() == before).then_some(NodeFn {
        item,
        arguments,
        state,
        output,
    })
}

fn arguments<'a>(sig: &'a Signature, errors: &mut Errors) -> Vec<Argument<'a>> {
    let mut typed = Vec::new();
    for input in &sig.inputs {
        match input {
            FnArg::Receiver(receiver) => {
                errors.on(
                    receiver,
                    "a method becomes a node by `#[node]` on its `impl` block",
                );
                return Vec::new();
            }
            FnArg::Typed(argument) => typed.push((&*argument.pat, &*argument.ty)),
        }
    }
    roles(&typed, sig, errors)
}

/// Gives each argument its role, by its position and by whether it is a reference.
pub(super) fn roles<'a>(
    typed: &[(&'a Pat, &'a Type)],
    sig: &Signature,
    errors: &mut Errors,
) -> Vec<Argument<'a>> {
    let Some(((_, first), rest)) = typed.split_first() else {
        errors.at(
            sig.paren_token.span.join(),
            format!(
                "a node takes the state, found no argument: `async fn {}(state: &State)`",
                sig.ident
            ),
        );
        return Vec::new();
    };
    let owned = check_first(first, errors);
    check_rest(rest, owned, errors);
    let count = typed.len();
    let role = |index: usize| match (index, owned) {
        (0, true) => Role::Owned,
        (1, true) if count == 2 => Role::StateOrContext,
        (0, false) | (1, true) => Role::State,
        _ => Role::Context,
    };
    typed
        .iter()
        .enumerate()
        .map(|(index, &(pat, ty))| Argument {
            pat,
            ty,
            role: role(index),
        })
        .collect()
}

/// Checks the first argument, which is the state or an item; returns true if it is taken by value.
fn check_first(first: &Type, errors: &mut Errors) -> bool {
    let owned = match reference(first) {
        None => true,
        Some(borrow) => {
            if let Some(token) = &borrow.mutability {
                errors.on(
                    token,
                    "a node never changes the state: take it by `&`, and return an update",
                );
            } else if is_context(&borrow.elem) {
                errors.on(
                    first,
                    "the state comes first: `(state: &State, cx: &Context)`",
                );
            }
            false
        }
    };
    if owned && is_context(first) {
        errors.on(
            first,
            "the state comes first, and the context is borrowed: `(state: &State, cx: &Context)`",
        );
    }
    owned
}

/// Checks what follows the first argument.
fn check_rest(rest: &[(&Pat, &Type)], owned: bool, errors: &mut Errors) {
    let allowed = if owned { 2 } else { 1 };
    for (index, (_, ty)) in rest.iter().enumerate() {
        if index >= allowed {
            let text = if owned {
                "a node takes no more than an item, the state and the context: `(item: Item, state: &State, cx: &Context)`; what else it needs is in `cx.resource()`"
            } else {
                "a node takes no more than the state and the context: `(state: &State, cx: &Context)`; what else it needs is in `cx.resource()`"
            };
            errors.on(ty, text);
            break;
        }
        match reference(ty) {
            Some(borrow) => {
                if let Some(token) = &borrow.mutability {
                    errors.on(token, "the state and the context are borrowed by `&`");
                }
            }
            None if is_context(ty) => {
                errors.on(ty, "the context is borrowed: `cx: &Context`");
            }
            None if owned => errors.on(
                ty,
                "what follows the item is borrowed: `(item: Item, state: &State, cx: &Context)`",
            ),
            None => errors.on(
                ty,
                "expected the context, `cx: &Context`; the item of a worker comes first: `(item: Item, state: &State)`",
            ),
        }
    }
}

/// Returns true for a type named `Context`.
pub(super) fn is_context(ty: &Type) -> bool {
    match ty {
        Type::Path(path) => path
            .path
            .segments
            .last()
            .is_some_and(|last| last.ident == "Context" && last.arguments.is_empty()),
        Type::Paren(inner) => is_context(&inner.elem),
        Type::Group(inner) => is_context(&inner.elem),
        _ => false,
    }
}

/// Returns the span for errors about the return type.
pub(super) fn output_span(node: &NodeFn<'_>) -> proc_macro2::Span {
    node.output
        .map_or_else(|| node.item.sig.ident.span(), Spanned::span)
}
