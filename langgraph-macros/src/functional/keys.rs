//! The tasks that an entrypoint calls, and the keys of both, as far as their bodies show them.
//!
//! A task is known if it is called by its path and on a context in one expression, as in `write(topic).on(cx)`, and the
//! path is visible outside the body too.

use std::collections::BTreeSet;

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{Block, Item, Stmt};

use super::signature::Signature;
use crate::node::keys;
use crate::paths::Root;

/// Prints the function `keys` of a task or an entrypoint.
pub(super) fn print(function: &Signature<'_>, root: &Root) -> TokenStream {
    let block = &function.item.block;
    let lib = quote!(#root::__private::langgraph);
    let own = keys::print(
        &lib,
        &block.to_token_stream(),
        &[&function.item.sig.generics],
    );
    let own: TokenStream = own.iter().map(|key| quote!(__keys.add(#key);)).collect();
    let tasks = tasks(block);
    if own.is_empty() && tasks.is_empty() {
        return TokenStream::new();
    }
    let uses = block.stmts.iter().filter_map(|statement| match statement {
        Stmt::Item(Item::Use(import)) => Some(quote!(#[allow(unused_imports)] #import)),
        _ => None,
    });
    let tasks = tasks.iter();
    quote! {
        #[allow(deprecated, clippy::all, clippy::pedantic)]
        fn keys(__keys: &mut #root::__private::Keys) {
            #[allow(unused_imports)]
            use #lib::__private::UnknownShape as _;
            #[allow(unused_imports)]
            use #root::__private::{KnownTask as _, UnknownTask as _};
            #(#uses)*
            #own
            #((&#root::__private::Called(#tasks)).add_to(__keys);)*
        }
    }
}

/// Returns the paths of the tasks that a body calls, each once.
fn tasks(block: &Block) -> Vec<TokenStream> {
    let mut search = CalledTasks::default();
    for statement in &block.stmts {
        if !matches!(statement, Stmt::Item(Item::Use(_))) {
            search.read(statement.to_token_stream());
        }
    }
    // What an inner block imports has another meaning outside.
    if search.imports {
        return Vec::new();
    }
    let CalledTasks { called, bound, .. } = search;
    let mut seen = BTreeSet::new();
    let calls = called.into_iter().filter(|call| {
        let text = call.to_string();
        !bound.contains(&text) && seen.insert(text)
    });
    calls.collect()
}

#[derive(Default)]
struct CalledTasks {
    called: Vec<TokenStream>,
    /// The words that are more than called: variables, and functions of the body.
    bound: BTreeSet<String>,
    /// True if an inner block has a `use`.
    imports: bool,
}

impl CalledTasks {
    fn read(&mut self, tokens: TokenStream) {
        let trees: Vec<TokenTree> = tokens.into_iter().collect();
        for (at, tree) in trees.iter().enumerate() {
            let rest = trees.get(at + 1..).unwrap_or_default();
            match tree {
                TokenTree::Group(group) => self.read(group.stream()),
                TokenTree::Ident(word) => {
                    let path = path(trees.get(..=at).unwrap_or_default());
                    let is_path = path.len() > 1;
                    self.imports |= word == "use";
                    let is_call = rest.first().and_then(arguments).is_some();
                    let follows = |word: &str| {
                        let before = at.checked_sub(1).and_then(|at| trees.get(at));
                        before.is_some_and(|tree| tree.to_string() == word)
                    };
                    if !is_call || follows("fn") {
                        self.bound.insert(word.to_string());
                    } else if (is_path || !follows(".")) && is_on_a_context(rest) {
                        self.called.push(path.iter().cloned().collect());
                    }
                }
                _ => {}
            }
        }
    }
}

/// Returns the path that ends here.
fn path(trees: &[TokenTree]) -> &[TokenTree] {
    let is_colon =
        |tree: &TokenTree| matches!(tree, TokenTree::Punct(colon) if colon.as_char() == ':');
    let mut start = trees.len().saturating_sub(1);
    while let Some([before @ .., TokenTree::Ident(_), first, second]) = trees.get(..start)
        && is_colon(first)
        && is_colon(second)
    {
        start = before.len();
    }
    trees.get(start..).unwrap_or_default()
}

/// Returns true for `(…).on(…)` and `(…).key(…).on(…)`.
fn is_on_a_context(call: &[TokenTree]) -> bool {
    let [first, dot, TokenTree::Ident(method), second, rest @ ..] = call else {
        return false;
    };
    let is_dot = matches!(dot, TokenTree::Punct(dot) if dot.as_char() == '.');
    if !is_dot || arguments(first).is_none() || arguments(second).is_none() {
        return false;
    }
    if method == "key" {
        let mut behind = vec![second.clone()];
        behind.extend_from_slice(rest);
        return is_on_a_context(&behind);
    }
    method == "on"
}

fn arguments(tree: &TokenTree) -> Option<&Group> {
    match tree {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis => Some(group),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::tasks;

    #[test]
    fn tasks_are_known_by_the_path_that_is_called_on_a_context() {
        let body = syn::parse_quote!({
            use texts::shorten;
            let essay = write(topic).on(cx).await?;
            let (a, b) = tokio::try_join!(steps::count(essay).key("a").on(cx), shorten(2).on(cx))?;
            let local = |text| write(text);
            local(essay).on(cx).await?;
            fn inner() -> Call {
                Call
            }
            inner().on(cx).await?;
            button.on(cx);
            page.write(3).on(cx);
            write(other).on(cx).await?;
            later(a)
        });
        let found: Vec<String> = tasks(&body).iter().map(ToString::to_string).collect();
        assert_eq!(found, ["write", "steps :: count", "shorten"]);
    }

    #[test]
    fn an_import_of_an_inner_block_hides_the_tasks() {
        let body = syn::parse_quote!({
            if long {
                use texts::shorten;
                shorten(2).on(cx).await?;
            }
        });
        assert!(tasks(&body).is_empty());
    }
}
