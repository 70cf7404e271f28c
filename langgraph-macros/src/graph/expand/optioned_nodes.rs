//! Expands nodes with options: the node itself is known by a variable of its own.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::ext::IdentExt as _;

use super::{Printer, in_an_editor, private_at};
use crate::graph::ast::Let;

/// The `let`s whose values are nodes with options.
#[derive(Default)]
pub(super) struct OptionedNodes {
    /// The name of each such node, and the `let` that has its type.
    of_names: BTreeMap<String, usize>,
    /// These `let`s.
    lets: BTreeSet<usize>,
}

impl OptionedNodes {
    /// Returns the variable with the type of a node that has options.
    pub(super) fn of(&self, name: &Ident) -> Option<Ident> {
        let index = self.of_names.get(&name.unraw().to_string())?;
        Some(variable(*index))
    }
}

fn variable(index: usize) -> Ident {
    Ident::new(&format!("__without_options_{index}"), Span::mixed_site())
}

impl Printer<'_> {
    /// Finds the nodes with options whose targets are checked. A later `let` hides an earlier one.
    pub(super) fn options(&self, lets: &[Let]) -> OptionedNodes {
        let mut options = OptionedNodes::default();
        if self.broken || in_an_editor() {
            return options;
        }
        for (index, written) in lets.iter().enumerate() {
            let known = written.options.as_ref().map(|with| {
                let base = match &with.node {
                    syn::Expr::Path(path) => path.path.get_ident(),
                    _ => None,
                };
                let known = base.and_then(|base| options.of_names.get(&base.unraw().to_string()));
                known.copied().unwrap_or(index)
            });
            for name in &written.bound {
                let name = name.unraw().to_string();
                match known {
                    Some(of) => options.of_names.insert(name, of),
                    None => options.of_names.remove(&name),
                };
            }
        }
        let nodes = self.model.nodes.iter();
        let checked = nodes.filter(|node| self.follows_edges(node));
        let names = checked.filter_map(|node| node.mentions.first()?.path.get_ident());
        let lets = names.filter_map(|name| options.of_names.get(&name.unraw().to_string()));
        options.lets = lets.copied().collect();
        options
    }

    /// Prints a `let`, and suppresses rustc's own warning that nothing uses it.
    pub(super) fn statement(&self, index: usize, written: &Let) -> TokenStream {
        let (statement, unused) = (&written.statement, &written.unused);
        let statement = match &written.options {
            Some(with) if self.options.lets.contains(&index) => {
                let (node, head, value) = (&with.node, &with.head, &with.value);
                let (held, kind) = (&with.variable, variable(index));
                let private = private_at(Span::mixed_site());
                quote! {
                    #[allow(unused_mut)]
                    let mut #held = #node;
                    let #kind = #private::without_options(&#held);
                    #head #value;
                }
            }
            _ => quote!(#statement),
        };
        quote!(#statement #(let _ = &#unused;)*)
    }
}
