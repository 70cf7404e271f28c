//! The attributes of a state and its fields.

use syn::{Attribute, Expr, Ident, Lit, LitStr, Meta, Path, Token, Type};

use super::rule::{Rule, rule};
use crate::diag::{Errors, suggestion};
use crate::paths::Root;

const FIELD_KEYS: [&str; 3] = ["ephemeral", "untracked", "alias"];
const STRUCT_KEYS: [&str; 4] = ["crate", "version", "migrate", "alias"];

/// The attributes of a field.
#[derive(Default)]
pub(super) struct FieldOptions {
    pub(super) rule: Rule,
    /// The type of updates, if it is not the field's.
    pub(super) update: Option<Type>,
    pub(super) ephemeral: bool,
    pub(super) untracked: bool,
    /// The field's names in older versions.
    pub(super) aliases: Vec<LitStr>,
}

/// The attributes of the struct.
#[derive(Default)]
pub(super) struct Container {
    pub(super) root: Root,
    /// The version of stored values, with the number as written.
    pub(super) version: Option<(Expr, u32)>,
    /// The function that converts stored values of older versions.
    pub(super) migrate: Option<Path>,
    /// The type's names in older versions.
    pub(super) aliases: Vec<LitStr>,
}

/// Reads the attributes of a field.
pub(super) fn field(attrs: &[Attribute], errors: &mut Errors) -> FieldOptions {
    let mut options = FieldOptions::default();
    let mut reducer: Option<&Attribute> = None;
    for attr in attrs {
        if attr.path().is_ident("reducer") {
            if let Some(first) = reducer {
                errors.with_note(
                    (attr, "a field has one reducer, found a second one"),
                    (first, "the first one is here"),
                );
                continue;
            }
            reducer = Some(attr);
            if let Some((rule, update)) = errors.ok(rule(attr)) {
                options.rule = rule;
                options.update = update;
            }
        } else if attr.path().is_ident("state") {
            let result = keys(attr, "ephemeral", |meta| {
                if meta.path.is_ident("ephemeral") {
                    options.ephemeral = true;
                } else if meta.path.is_ident("untracked") {
                    options.untracked = true;
                } else if meta.path.is_ident("alias") {
                    options.aliases.push(meta.value()?.parse()?);
                    return Ok(());
                } else if let Some(key) = STRUCT_KEYS.iter().find(|key| meta.path.is_ident(key)) {
                    let text = format!("`{key} = …` belongs on the struct, not on a field");
                    return Err(meta.error(text));
                } else if meta.path.is_ident("reducer") {
                    return Err(meta.error(
                        "a reducer is an attribute of its own: `#[reducer(…)]` on the field",
                    ));
                } else {
                    return Err(unknown_key(&meta.path, &FIELD_KEYS, "a field"));
                }
                flag(&meta)
            });
            errors.ok(result);
        }
    }
    options
}

/// Reads the attributes of the struct.
pub(super) fn container(attrs: &[Attribute], errors: &mut Errors) -> Container {
    let mut container = Container::default();
    for attr in attrs {
        if attr.path().is_ident("reducer") {
            errors.on(
                attr,
                "`#[reducer(…)]` belongs on a field, not on the struct",
            );
        } else if attr.path().is_ident("state") {
            let result = keys(attr, "crate = path", |meta| {
                if meta.path.is_ident("crate") {
                    container.root = Root::given(meta.value()?.parse()?);
                    return Ok(());
                }
                if meta.path.is_ident("version") {
                    let value: Expr = meta.value()?.parse()?;
                    let number = version(&value)?;
                    return once(&mut container.version, &meta.path, (value, number));
                }
                if meta.path.is_ident("migrate") {
                    let path = meta.value()?.parse()?;
                    return once(&mut container.migrate, &meta.path, path);
                }
                if meta.path.is_ident("alias") {
                    container.aliases.push(meta.value()?.parse()?);
                    return Ok(());
                }
                if let Some(key) = FIELD_KEYS.iter().find(|key| meta.path.is_ident(key)) {
                    let text = format!("`{key}` belongs on a field, not on the struct");
                    return Err(meta.error(text));
                }
                Err(unknown_key(&meta.path, &STRUCT_KEYS, "a state"))
            });
            errors.ok(result);
        }
    }
    if let (Some(migrate), None) = (&container.migrate, &container.version) {
        errors.on(
            migrate,
            "`migrate` reads what older versions have stored, and this state has no version: add `version = 1`",
        );
    }
    container
}

/// Parses the number of a version.
fn version(value: &Expr) -> syn::Result<u32> {
    let expected =
        "expected a number from 1 on, such as `version = 1`; a state without it has version 0";
    let number = match value {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(number) => number.base10_parse().ok(),
            _ => None,
        },
        _ => None,
    };
    match number {
        Some(number) if number > 0 => Ok(number),
        _ => Err(syn::Error::new_spanned(value, expected)),
    }
}

/// Sets an option that may occur once.
fn once<T>(option: &mut Option<T>, path: &Path, value: T) -> syn::Result<()> {
    if option.is_some() {
        let name = path.get_ident().map(Ident::to_string).unwrap_or_default();
        let text = format!("`{name}` is given twice");
        return Err(syn::Error::new_spanned(path, text));
    }
    *option = Some(value);
    Ok(())
}

/// Visits the keys of a `#[state(…)]`.
fn keys(
    attr: &Attribute,
    example: &str,
    key: impl FnMut(syn::meta::ParseNestedMeta<'_>) -> syn::Result<()>,
) -> syn::Result<()> {
    match &attr.meta {
        Meta::List(list) if !list.tokens.is_empty() => attr.parse_nested_meta(key),
        _ => Err(syn::Error::new_spanned(
            attr,
            format!("expected a list of options, such as `#[state({example})]`"),
        )),
    }
}

/// Parses a key without a value.
fn flag(meta: &syn::meta::ParseNestedMeta<'_>) -> syn::Result<()> {
    if meta.input.is_empty() || meta.input.peek(Token![,]) {
        return Ok(());
    }
    let name = meta.path.get_ident().map(Ident::to_string);
    let name = name.unwrap_or_default();
    Err(meta.input.error(format!("`{name}` takes no value")))
}

fn unknown_key(path: &Path, known: &[&str], of: &str) -> syn::Error {
    let name = path.get_ident().map(Ident::to_string).unwrap_or_default();
    let hint = suggestion(&name, known.iter().copied());
    let hint = if hint.is_empty() {
        let mut known: Vec<_> = known.iter().map(|key| format!("`{key}`")).collect();
        let last = known.pop().unwrap_or_default();
        format!(", expected {} or {last}", known.join(", "))
    } else {
        hint
    };
    syn::Error::new_spanned(path, format!("unknown option of {of}{hint}"))
}
