//! Finds each `let` that nothing in the graph uses.
//!
//! A word counts as a use wherever it could be one, so every finding is certain. rustc warns about
//! the rest.

use std::collections::BTreeSet;

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{Attribute, Expr, ExprPath, Pat, Type};

use super::ast::{Chain, Graph, Let, Stage, SwitchSyntax};

/// Returns the names that a pattern binds and that must be used: not those with a leading `_`, and
/// none if an attribute allows it.
pub(super) fn names(pattern: &Pat, attributes: &[Attribute]) -> Vec<Ident> {
    let mut names = Vec::new();
    let allowed = attributes
        .iter()
        .any(|attribute| attribute.to_token_stream().to_string().contains("unused"));
    if !allowed {
        bindings(pattern, &mut names);
    }
    names
}

fn bindings(pattern: &Pat, names: &mut Vec<Ident>) {
    match pattern {
        Pat::Ident(pattern) => {
            // An upper-case word may be a constant.
            let lower = |name: &Ident| name.unraw().to_string().starts_with(char::is_lowercase);
            if lower(&pattern.ident) {
                names.push(pattern.ident.clone());
            }
            if let Some((_, inner)) = &pattern.subpat {
                bindings(inner, names);
            }
        }
        Pat::Paren(pattern) => bindings(&pattern.pat, names),
        Pat::Reference(pattern) => bindings(&pattern.pat, names),
        Pat::Type(pattern) => bindings(&pattern.pat, names),
        Pat::Slice(pattern) => pattern.elems.iter().for_each(|one| bindings(one, names)),
        Pat::Tuple(pattern) => pattern.elems.iter().for_each(|one| bindings(one, names)),
        Pat::TupleStruct(pattern) => pattern.elems.iter().for_each(|one| bindings(one, names)),
        Pat::Struct(pattern) => pattern
            .fields
            .iter()
            .for_each(|field| bindings(&field.pat, names)),
        _ => {}
    }
}

/// Returns the argument that a closure `|s: &S| async move { s }` lends to the future it returns,
/// and the type `S`.
///
/// rustc refuses it in any graph, and does not say what to write instead.
pub(super) fn lent(value: &Expr) -> Option<(&Ident, &Type)> {
    let Expr::Closure(closure) = value else {
        return None;
    };
    let Expr::Async(body) = &*closure.body else {
        return None;
    };
    if closure.asyncness.is_some() {
        return None;
    }
    let mut used = BTreeSet::new();
    of_tokens(body.to_token_stream(), &mut used);
    let mut borrowed = closure.inputs.iter().filter_map(|input| match input {
        Pat::Type(typed) => match (&*typed.pat, &*typed.ty) {
            (Pat::Ident(pattern), Type::Reference(of)) => Some((&pattern.ident, &*of.elem)),
            _ => None,
        },
        _ => None,
    });
    borrowed.find(|(name, _)| used.contains(&name.unraw().to_string()))
}

/// Records at each `let` its unused names: no chain and no later `let` uses them.
pub(super) fn find_unused(graph: &mut Graph) {
    if graph
        .lets
        .iter()
        .all(|statement| statement.names.is_empty())
    {
        return;
    }
    let mut used = BTreeSet::new();
    for chain in &graph.chains {
        of_chain(chain, &mut used);
    }
    // The arms of a decision come after all `let`s, as chains do.
    for decision in &graph.decisions {
        of_switch(&decision.switch, &mut used);
    }
    // From the last to the first: a new binding hides the earlier one of the same name.
    for statement in graph.lets.iter_mut().rev() {
        let Let {
            names,
            value,
            unused,
            ..
        } = statement;
        unused.extend(
            names
                .iter()
                .filter(|name| !used.remove(&name.unraw().to_string()))
                .cloned(),
        );
        of_tokens(value.clone(), &mut used);
    }
}

fn of_chain(chain: &Chain, used: &mut BTreeSet<String>) {
    of_stages(&chain.stages, used);
}

fn of_stages(stages: &[Stage], used: &mut BTreeSet<String>) {
    for stage in stages {
        match stage {
            Stage::Start(_) | Stage::End(_) => {}
            Stage::Node(path) => of_path(path, used),
            Stage::Bounded(bounded) => {
                of_path(&bounded.node, used);
                of_stages(bounded.bound.exit.as_slice(), used);
            }
            Stage::Named(name) => {
                used.insert(name.unraw().to_string());
            }
            Stage::AnyOf(list) => of_stages(&list.members, used),
            Stage::Group(group) => group.chains.iter().for_each(|chain| of_chain(chain, used)),
            Stage::Goto(goto) => of_stages(&goto.targets, used),
            Stage::Switch(switch) => of_switch(switch, used),
            Stage::For(each) => {
                of_tokens(each.items.to_token_stream(), used);
                if let Some(worker) = &each.worker {
                    of_path(&worker.path, used);
                    let bound = worker.bound.iter();
                    bound.for_each(|bound| of_stages(bound.exit.as_slice(), used));
                    of_tokens(worker.item.to_token_stream(), used);
                }
                of_stages(&each.rest, used);
            }
        }
    }
}

fn of_switch(switch: &SwitchSyntax, used: &mut BTreeSet<String>) {
    of_tokens(switch.router.to_token_stream(), used);
    for arm in &switch.arms {
        if let Some((_, guard)) = &arm.guard {
            of_tokens(guard.to_token_stream(), used);
        }
        if let Some(asks) = &arm.asks {
            of_tokens(asks.router.to_token_stream(), used);
        }
        of_chain(&arm.chain, used);
    }
}

/// A path of several words is not a variable.
fn of_path(path: &ExprPath, used: &mut BTreeSet<String>) {
    if let Some(name) = path.path.get_ident() {
        used.insert(name.unraw().to_string());
    }
}

fn of_tokens(tokens: TokenStream, used: &mut BTreeSet<String>) {
    for tree in tokens {
        match tree {
            TokenTree::Ident(name) => {
                used.insert(name.unraw().to_string());
            }
            TokenTree::Group(group) => of_tokens(group.stream(), used),
            // As in `format!("{name}")`.
            TokenTree::Literal(text) => used.extend(in_braces(&text.to_string())),
            TokenTree::Punct(_) => {}
        }
    }
}

/// Returns the words after each `{` of a text.
fn in_braces(text: &str) -> Vec<String> {
    let word = |part: &str| {
        let letters = part
            .chars()
            .take_while(|c| c.is_alphanumeric() || *c == '_');
        letters.collect()
    };
    text.split('{').skip(1).map(word).collect()
}
