//! The names of types, functions and modules.

use std::collections::{BTreeMap, BTreeSet};

use syn::visit::{self, Visit};
use syn::{
    ExprMethodCall, File, Ident, ImplItemFn, ItemEnum, ItemFn, ItemMod, ItemStruct, ItemTrait,
};

use crate::source::{CRATES, Crate, Module, only_for_tests};

/// Parts of names that say less than the words of `docs/glossary.md`.
const BANNED: &[&str] = &[
    "told",
    "teller",
    "stands",
    "elsewhere",
    "stranger",
    "at_home",
    "athome",
    "rehears",
    "undisturbed",
    "at_rest",
    "asked",
    "asking",
    "somebody",
    "nobody",
    "whoever",
];

/// Names that still have such a part. One that is mended is taken out; none is added.
const KNOWN: &[&str] = &[];

/// Type names that still have two meanings in a crate. One that is mended is taken out; none is added.
const TWICE: &[&str] = &[];

/// The calls of `Frontier::follow` in the runtime.
const FOLLOWS: usize = 1;

/// The names in a file.
#[derive(Default)]
pub(crate) struct Names {
    types: Vec<String>,
    others: Vec<String>,
    /// The methods that are called.
    calls: Vec<String>,
}

impl Names {
    pub(crate) fn of(file: &File) -> Self {
        let mut names = Self::default();
        names.visit_file(file);
        names
    }

    fn all(&self) -> impl Iterator<Item = &String> {
        self.types.iter().chain(&self.others)
    }

    fn add_type(&mut self, ident: &Ident) {
        self.types.push(ident.to_string());
    }
}

impl<'ast> Visit<'ast> for Names {
    fn visit_item_struct(&mut self, item: &'ast ItemStruct) {
        self.add_type(&item.ident);
    }

    fn visit_item_enum(&mut self, item: &'ast ItemEnum) {
        self.add_type(&item.ident);
        for variant in &item.variants {
            self.others.push(variant.ident.to_string());
        }
    }

    fn visit_item_trait(&mut self, item: &'ast ItemTrait) {
        self.add_type(&item.ident);
        visit::visit_item_trait(self, item);
    }

    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        if !only_for_tests(&item.attrs) {
            self.others.push(item.sig.ident.to_string());
            visit::visit_item_fn(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast ImplItemFn) {
        self.others.push(item.sig.ident.to_string());
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        self.others.push(item.sig.ident.to_string());
        visit::visit_trait_item_fn(self, item);
    }

    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        if !only_for_tests(&item.attrs) {
            self.others.push(item.ident.to_string());
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        self.calls.push(call.method.to_string());
        visit::visit_expr_method_call(self, call);
    }
}

fn modules() -> impl Iterator<Item = (&'static Crate, &'static Module)> {
    let all = CRATES.iter();
    all.flat_map(|of| of.modules.values().map(move |module| (of, module)))
}

fn is_banned(name: &str) -> bool {
    let name = name.to_lowercase();
    BANNED.iter().any(|part| name.contains(part))
}

#[test]
fn n7_names_are_made_of_the_words_of_the_glossary() {
    let mut found = Vec::new();
    for (_, module) in modules() {
        for name in module.names.all().filter(|name| is_banned(name)) {
            if !KNOWN.contains(&name.as_str()) {
                found.push(format!("{name} in {}", module.path));
            }
        }
    }
    found.dedup();
    assert!(
        found.is_empty(),
        "see docs/glossary.md for a word: {found:#?}"
    );
}

#[test]
fn n1_a_type_name_has_one_meaning_in_a_crate() {
    let mut files: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
    for (of, module) in modules() {
        for name in &module.names.types {
            let files = files.entry((&of.folder, name)).or_default();
            files.insert(&module.path);
        }
    }
    files.retain(|(_, name), files| files.len() > 1 && !TWICE.contains(name));
    assert!(files.is_empty(), "these names mean two things: {files:#?}");
}

#[test]
fn n1_one_place_follows_routes() {
    let runtime = modules().filter(|(of, _)| of.folder == "langgraph");
    let calls: Vec<_> = runtime
        .flat_map(|(_, module)| {
            module
                .names
                .calls
                .iter()
                .map(move |call| (&module.path, call))
        })
        .filter(|(_, call)| *call == "follow")
        .map(|(file, _)| file)
        .collect();
    assert!(calls.len() <= FOLLOWS, "`follow` is called in {calls:#?}");
}
