//! The modules that a file uses: its `use` trees, and the paths in its code and in its macros.

use std::collections::BTreeSet;

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{File, ItemMod, ItemUse, Macro, Path, UseTree};

use crate::source::only_for_tests;

/// A path from the root of its crate.
pub(crate) type Use = Vec<String>;

/// Returns the paths that begin with `crate`, `self` or `super`, from the root of the crate.
pub(crate) fn uses(module: &str, file: &File) -> BTreeSet<Use> {
    let mut visitor = Uses {
        here: split(module),
        found: BTreeSet::new(),
    };
    visitor.visit_file(file);
    visitor.found
}

fn split(module: &str) -> Vec<String> {
    let parts = module.split("::").filter(|part| !part.is_empty());
    parts.map(str::to_owned).collect()
}

struct Uses {
    /// The module of the item that is visited.
    here: Vec<String>,
    found: BTreeSet<Use>,
}

impl Uses {
    /// Notes a path as it is written in this module.
    fn note(&mut self, path: &[String]) {
        let mut base = match path.first().map(String::as_str) {
            Some("crate") => Vec::new(),
            Some("self" | "super") => self.here.clone(),
            _ => return,
        };
        for part in path {
            match part.as_str() {
                "crate" | "self" => {}
                "super" => {
                    base.pop();
                }
                name => base.push(name.to_owned()),
            }
        }
        self.found.insert(base);
    }

    /// Notes every path of a tree: `a::{b::c, d as _, self, e::*}` has four.
    fn unfold(&mut self, prefix: &mut Vec<String>, tree: &UseTree) {
        match tree {
            UseTree::Path(path) => {
                prefix.push(path.ident.to_string());
                self.unfold(prefix, &path.tree);
                prefix.pop();
            }
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.unfold(prefix, tree);
                }
            }
            UseTree::Name(name) => self.note_below(prefix, &name.ident.to_string()),
            UseTree::Rename(name) => self.note_below(prefix, &name.ident.to_string()),
            UseTree::Glob(_) => self.note(prefix),
        }
    }

    fn note_below(&mut self, prefix: &[String], name: &str) {
        let mut path = prefix.to_vec();
        path.push(name.to_owned());
        self.note(&path);
    }

    /// Notes the paths in the tokens of a macro call.
    fn scan(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(ident) if colons == 2 => path.push(ident.to_string()),
                TokenTree::Ident(ident) => {
                    self.note(&path);
                    path = vec![ident.to_string()];
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' => {
                    colons += 1;
                    continue;
                }
                TokenTree::Group(group) => {
                    self.note(&path);
                    path.clear();
                    self.scan(group.stream());
                }
                _ => {
                    self.note(&path);
                    path.clear();
                }
            }
            colons = 0;
        }
        self.note(&path);
    }
}

impl<'ast> Visit<'ast> for Uses {
    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        if !only_for_tests(&item.attrs) {
            self.unfold(&mut Vec::new(), &item.tree);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        if only_for_tests(&item.attrs) {
            return;
        }
        self.here.push(item.ident.to_string());
        visit::visit_item_mod(self, item);
        self.here.pop();
    }

    fn visit_path(&mut self, path: &'ast Path) {
        let parts = path.segments.iter().map(|part| part.ident.to_string());
        self.note(&parts.collect::<Vec<_>>());
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        self.visit_path(&call.path);
        self.scan(call.tokens.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(module: &str, text: &str) -> Vec<String> {
        let file = syn::parse_str(text).unwrap();
        let found = uses(module, &file);
        found.into_iter().map(|path| path.join("::")).collect()
    }

    #[test]
    fn n1_trees_are_unfolded() {
        let text = "use crate::{a::{b, c as _}, d::*, run as renamed}; use std::fmt;";
        assert_eq!(found("x", text), ["a::b", "a::c", "d", "run"]);
    }

    #[test]
    fn n1_super_and_self_are_resolved() {
        let text = "use super::{y, super::z}; use self::w::V; mod inner { use super::u; }";
        assert_eq!(found("a::x", text), ["a::x::u", "a::x::w::V", "a::y", "z"]);
    }

    #[test]
    fn n1_paths_in_code_and_in_macros_are_uses() {
        let text = r#"fn f() { crate::a::b(); println!("{}", [crate::c::D, 1]); let x = 1; }"#;
        assert_eq!(found("x", text), ["a::b", "c::D"]);
    }

    #[test]
    fn n1_what_only_tests_compile_is_no_use() {
        let text = "#[cfg(test)] mod tests { use crate::a; } #[cfg(test)] use crate::b;";
        assert!(found("x", text).is_empty());
    }
}
