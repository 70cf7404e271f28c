//! The attribute `#[reducer(…)]`: how a field takes an update.

use proc_macro2::TokenStream;
use quote::quote_spanned;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, ExprClosure, Ident, Lit, Meta, Path, Token, Type};

use crate::compact::compact;
use crate::paths::Root;

/// The built-in reducers: their names and their types.
const BUILT_IN: [(&str, &str); 12] = [
    ("replace", "Replace"),
    ("append", "Append"),
    ("add", "Add"),
    ("max", "Max"),
    ("min", "Min"),
    ("merge_map", "MergeMap"),
    ("union", "Union"),
    ("and", "And"),
    ("or", "Or"),
    ("keep_first", "KeepFirst"),
    ("add_messages", "AddMessages"),
    ("add_messages_strict", "AddMessagesStrict"),
];

/// How a field takes an update.
#[derive(Default)]
pub(super) enum Rule {
    /// The update replaces the value.
    #[default]
    Replace,
    /// A built-in reducer.
    BuiltIn { name: Ident, index: usize },
    /// A closure; its types are the field's.
    Closure(ExprClosure),
    /// A function, or a value that implements `Reducer`.
    Value(Expr),
}

impl Rule {
    /// Returns true if the field is a chat history.
    pub(super) fn is_messages(&self) -> bool {
        match self {
            Self::BuiltIn { index, .. } => BUILT_IN
                .get(*index)
                .is_some_and(|(name, _)| name.starts_with("add_messages")),
            Self::Value(Expr::Path(value)) => value.path.segments.last().is_some_and(|last| {
                last.ident == "AddMessages" || last.ident == "AddMessagesStrict"
            }),
            _ => false,
        }
    }

    /// Returns the path of the built-in reducer at `index`, with the span of the user's name.
    pub(super) fn built_in(root: &Root, name: &Ident, index: usize) -> TokenStream {
        let Some((_, reducer)) = BUILT_IN.get(index) else {
            return TokenStream::new();
        };
        let reducer = Ident::new(reducer, name.span());
        quote_spanned!(name.span()=> #root::state::#reducer)
    }

    /// Returns the text by which a change of the reducer is noticed, if there is one.
    pub(super) fn name(&self) -> Option<String> {
        match self {
            Self::Replace => None,
            Self::BuiltIn { name, .. } => Some(name.to_string()),
            Self::Closure(closure) => Some(compact(closure)),
            Self::Value(value) => Some(compact(value)),
        }
    }

    /// Returns the description of the reducer for the documentation.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Replace => "replaces the value".to_owned(),
            Self::BuiltIn { name, .. } => format!("merged by `{name}`"),
            Self::Closure(_) => "merged by a closure".to_owned(),
            Self::Value(Expr::Path(value)) => {
                let segments = value
                    .path
                    .segments
                    .iter()
                    .map(|part| part.ident.to_string());
                format!("merged by `{}`", segments.collect::<Vec<_>>().join("::"))
            }
            Self::Value(_) => "merged by its reducer".to_owned(),
        }
    }
}

/// Parses the content of a `#[reducer(…)]`: the reducer, and the type of its updates.
pub(super) fn rule(attr: &Attribute) -> syn::Result<(Rule, Option<Type>)> {
    let list = match &attr.meta {
        Meta::List(list) if !list.tokens.is_empty() => list,
        Meta::NameValue(meta) => {
            return Err(syn::Error::new_spanned(
                meta,
                format!("a reducer stands in parentheses{}", instead(&meta.value)),
            ));
        }
        _ => {
            return Err(syn::Error::new_spanned(
                attr,
                "expected a reducer, such as `#[reducer(append)]`, `#[reducer(my_function)]` or \
                 `#[reducer(|old, new| old + new)]`",
            ));
        }
    };
    let expression = attr.parse_args_with(|input: syn::parse::ParseStream<'_>| {
        let expression: Expr = input.parse()?;
        let update = update_type(input)?;
        if !input.is_empty() {
            let rest: TokenStream = input.parse()?;
            return Err(syn::Error::new_spanned(
                rest,
                "a field has one reducer; found more after it",
            ));
        }
        Ok((expression, update))
    });
    let (expression, update) =
        expression.map_err(|error| crate::diag::anchored(error, &list.tokens))?;
    let rule = of_expression(expression)?;
    if let (Some(update), Rule::Replace | Rule::BuiltIn { .. }) = (&update, &rule) {
        return Err(syn::Error::new_spanned(
            update,
            "a built-in reducer takes updates of the field's type: `update = …` is for a function or a value \
             of your own",
        ));
    }
    Ok((rule, update))
}

/// Parses `, update = Type`.
fn update_type(input: syn::parse::ParseStream<'_>) -> syn::Result<Option<Type>> {
    let fork = input.fork();
    let found = fork.parse::<Token![,]>().is_ok()
        && fork.parse::<Ident>().is_ok_and(|key| key == "update")
        && fork.peek(Token![=]);
    if !found {
        return Ok(None);
    }
    input.parse::<Token![,]>()?;
    input.parse::<Ident>()?;
    input.parse::<Token![=]>()?;
    let update = input.parse()?;
    input.parse::<Option<Token![,]>>()?;
    Ok(Some(update))
}

/// Returns the rule that the reducer's expression means.
fn of_expression(expression: Expr) -> syn::Result<Rule> {
    match expression {
        Expr::Closure(closure) => match closure.inputs.len() {
            2 => Ok(Rule::Closure(closure)),
            found => Err(syn::Error::new(
                closure.inputs_begin.span(),
                format!(
                    "a reducer takes two values, the current one and the update: `|current, update| …`; found {found}"
                ),
            )),
        },
        Expr::Lit(literal) => Err(syn::Error::new_spanned(
            &literal,
            format!(
                "a reducer is a name, a function or a closure, not a literal{}",
                instead(&Expr::Lit(literal.clone()))
            ),
        )),
        Expr::Path(value) if value.qself.is_none() => Ok(named(value)),
        value => Ok(Rule::Value(value)),
    }
}

/// A built-in name, or a path of the user's.
fn named(value: syn::ExprPath) -> Rule {
    let index_of = |name: &Ident| BUILT_IN.iter().position(|(known, _)| name == known);
    if let Some(name) = value.path.get_ident()
        && let Some(index) = index_of(name)
    {
        if name == "replace" {
            return Rule::Replace;
        }
        return Rule::BuiltIn {
            name: name.clone(),
            index,
        };
    }
    // The function itself generates ids while it merges; the reducer of the same name does so
    // before.
    let mut back = value.path.segments.iter().rev();
    if let (Some(last), Some(module)) = (back.next(), back.next())
        && (module.ident == "message" || module.ident == "state")
        && (last.ident == "add_messages" || last.ident == "add_messages_strict")
        && let Some(index) = index_of(&last.ident)
    {
        return Rule::BuiltIn {
            name: last.ident.clone(),
            index,
        };
    }
    Rule::Value(Expr::Path(value))
}

/// Returns ": write `#[reducer(append)]`", if the text shows the intention.
fn instead(value: &Expr) -> String {
    let name = match value {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Str(text) => text.value(),
            _ => return String::new(),
        },
        Expr::Path(path) => match path.path.get_ident() {
            Some(name) => name.to_string(),
            None => return String::new(),
        },
        _ => return String::new(),
    };
    if syn::parse_str::<Path>(&name).is_ok() {
        format!(": write `#[reducer({name})]`")
    } else {
        String::new()
    }
}
