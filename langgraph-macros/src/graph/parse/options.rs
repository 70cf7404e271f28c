//! Nodes and workers with options: `let a = a.retry(3);`.
//!
//! An option hides the type of its node, and with it whether the node names targets. So the node gets a
//! variable of its own, whose type says it.

use proc_macro2::{Ident, Span, TokenStream};
use quote::ToTokens;
use syn::ext::IdentExt as _;
use syn::{Expr, ExprPath, parse_quote};

use crate::graph::ast::WithOptions;

/// The methods of a node that return it with an option.
const OPTIONS: [&str; 12] = [
    "retry",
    "timeout",
    "idle_timeout",
    "cache",
    "on_error",
    "middleware",
    "defer",
    "anywhere",
    "interrupts",
    "metadata",
    "tag",
    "alias",
];

/// Reads the value of `let name = value;`; `None` if it is no node with options.
pub(super) fn read(name: &Ident, value: &Expr) -> Option<WithOptions> {
    let mut value = value.clone();
    let node = node_of(&mut value, false)?;
    if !may_stand_alone(node) {
        return None;
    }
    let span = Span::mixed_site().located_at(first_span(node));
    let variable = Ident::new(&format!("__without_options_{}", name.unraw()), span);
    let node = std::mem::replace(node, parse_quote!(#variable));
    Some(WithOptions {
        variable,
        node,
        head: TokenStream::new(),
        value: value.into_token_stream(),
    })
}

/// Returns the node in `node.retry(3)`, `worker(node)` or `worker(node).retry(3)`.
fn node_of(value: &mut Expr, has_option: bool) -> Option<&mut Expr> {
    if is_option(value) {
        let Expr::MethodCall(call) = value else {
            return None;
        };
        return node_of(&mut call.receiver, true);
    }
    if is_worker(value) {
        let Expr::Call(call) = value else {
            return None;
        };
        return call.args.first_mut();
    }
    has_option.then_some(value)
}

fn is_option(value: &Expr) -> bool {
    match value {
        Expr::MethodCall(call) => {
            let name = call.method.to_string();
            OPTIONS.contains(&name.as_str()) && call.turbofish.is_none()
        }
        _ => false,
    }
}

fn is_worker(value: &Expr) -> bool {
    let Expr::Call(call) = value else {
        return false;
    };
    match &*call.func {
        Expr::Path(ExprPath { path, .. }) => {
            let last = path.segments.last();
            call.args.len() == 1 && last.is_some_and(|last| last.ident == "worker")
        }
        _ => false,
    }
}

/// Returns true if the value means the same in a statement of its own.
fn may_stand_alone(value: &Expr) -> bool {
    matches!(
        value,
        Expr::Path(_) | Expr::Call(_) | Expr::MethodCall(_) | Expr::Struct(_)
    )
}

fn first_span(value: &Expr) -> Span {
    let first = value.to_token_stream().into_iter().next();
    first.map_or_else(Span::mixed_site, |token| token.span())
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::{Ident, Span, ToTokens, read};
    use crate::compact::compact;

    #[test]
    fn a_raw_name_gets_a_plain_variable() {
        let value = parse_quote!(a.retry(3));
        let read = read(&parse_quote!(r#type), &value).expect("it has an option");
        assert_eq!(read.variable.to_string(), "__without_options_type");
    }

    fn split(value: &str) -> Option<(String, String)> {
        let value = syn::parse_str(value).expect("the text of a test is an expression");
        let read = read(&Ident::new("a", Span::call_site()), &value)?;
        Some((compact(&read.node.to_token_stream()), compact(&read.value)))
    }

    #[test]
    fn the_node_is_found_inside_of_its_options() {
        let found = |node: &str, value: &str| Some((node.to_owned(), value.to_owned()));
        assert_eq!(
            split("nodes::a.retry(3).timeout(secs(1))"),
            found("nodes::a", "__without_options_a.retry(3).timeout(secs(1))")
        );
        assert_eq!(
            split("worker(Reviewer::new(\"x\")).retry(3)"),
            found(
                "Reviewer::new(\"x\")",
                "worker(__without_options_a).retry(3)"
            )
        );
        assert_eq!(
            split("worker(work)"),
            found("work", "worker(__without_options_a)")
        );
        assert_eq!(split("Review::new()"), None);
        assert_eq!(split("(|n: &i64| *n).retry(3)"), None);
        assert_eq!(split("names.retry::<u8>(3)"), None);
    }
}
