//! A model around others forwards all that it is asked.

use std::collections::{BTreeMap, BTreeSet};

use syn::{ImplItem, Item, TraitItem, Type};

use crate::source::{CRATES, read};

/// The trait of models.
const TRAIT: (&str, &str) = ("crates/agent/src/model.rs", "ChatModel");

/// The models that leave methods to the defaults of the trait, with these methods.
const DEFAULTS: [(&str, &[&str]); 5] = [
    // Two call a provider, or nothing.
    ("GenaiModel", &["cached_answer", "names", "prepare"]),
    (
        "NoModel",
        &[
            "cached_answer",
            "count_tokens",
            "name",
            "names",
            "prepare",
            "provider",
            "stream",
        ],
    ),
    (
        "ScriptedModel",
        &[
            "cached_answer",
            "count_tokens",
            "names",
            "prepare",
            "provider",
        ],
    ),
    // A replay has no model that could prepare a request.
    ("Cassette", &["prepare"]),
    // Its call was prepared and paid for before.
    (
        "Known",
        &[
            "cached_answer",
            "count_tokens",
            "names",
            "prepare",
            "stream",
        ],
    ),
];

/// The methods of the trait.
fn methods() -> BTreeSet<String> {
    let file = syn::parse_file(&read(TRAIT.0)).unwrap();
    let items = file.items.iter().find_map(|item| match item {
        Item::Trait(item) if item.ident == TRAIT.1 => Some(&item.items),
        _ => None,
    });
    let methods = items.unwrap().iter().filter_map(|item| match item {
        TraitItem::Fn(method) => Some(method.sig.ident.to_string()),
        _ => None,
    });
    methods.collect()
}

/// The methods of each model in the file.
fn models(path: &str) -> Vec<(String, BTreeSet<String>)> {
    let file = syn::parse_file(&read(path)).unwrap();
    let models = file.items.iter().filter_map(|item| {
        let Item::Impl(item) = item else { return None };
        let (of, _) = item.trait_.as_ref()?;
        let Type::Path(model) = &*item.self_ty else {
            return None;
        };
        if of.segments.last()?.ident != TRAIT.1 {
            return None;
        }
        let methods = item.items.iter().filter_map(|item| match item {
            ImplItem::Fn(method) => Some(method.sig.ident.to_string()),
            _ => None,
        });
        Some((
            model.path.segments.last()?.ident.to_string(),
            methods.collect(),
        ))
    });
    models.collect()
}

#[test]
fn a_model_around_others_forwards_every_method() {
    let all = methods();
    assert!(all.len() > 5, "{all:?}");
    let modules = CRATES.iter().flat_map(|one| one.modules.values());
    let models = modules.flat_map(|module| models(&module.path));
    let missing: BTreeMap<String, Vec<String>> = models
        .map(|(model, has)| (model, all.difference(&has).cloned().collect()))
        .filter(|(_, missing): &(_, Vec<_>)| !missing.is_empty())
        .collect();
    let known = DEFAULTS.map(|(model, left)| {
        (
            model.to_owned(),
            left.iter().map(ToString::to_string).collect(),
        )
    });
    assert_eq!(missing, BTreeMap::from(known));
}
