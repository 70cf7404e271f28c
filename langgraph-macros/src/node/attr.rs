//! The options of `#[node(…)]`.

use proc_macro2::TokenStream;
use syn::meta::ParseNestedMeta;
use syn::punctuated::Punctuated;
use syn::{Ident, LitInt, LitStr, Token, Type};

use crate::diag::{Errors, suggestion};
use crate::paths::Root;
use langgraph_topology::similar::did_you_mean;

const KEYS: [&str; 7] = [
    "writes",
    "reads",
    "alias",
    "interrupts",
    "calls",
    "state",
    "crate",
];
/// Options that are methods of the node, not options of the attribute.
const METHODS: [&str; 5] = ["retry", "timeout", "defer", "metadata", "tag"];

/// The options of `#[node(…)]`.
#[derive(Default)]
pub(super) struct NodeOptions {
    pub(super) root: Root,
    /// The fields that receive the function's value.
    pub(super) writes: Option<Vec<Ident>>,
    /// The fields that the function reads, through other functions too.
    pub(super) reads: Option<Vec<Ident>>,
    pub(super) aliases: Vec<LitStr>,
    /// The word `interrupts`, if the function declares that it may interrupt.
    pub(super) interrupts: Option<Ident>,
    /// `calls(model = 1, tool = 3)`
    pub(super) calls: Option<Calls>,
    /// True if `writes` did not parse. The function's return type may then not be a valid output,
    /// and that is not another mistake.
    pub(super) writes_unread: bool,
    /// The state, if the arguments do not show it.
    pub(super) state: Option<Type>,
}

impl NodeOptions {
    /// Reads the options; it reports each mistake and keeps the rest.
    pub(super) fn read(tokens: TokenStream, errors: &mut Errors) -> Self {
        let mut options = Self::default();
        let mut twice = Vec::new();
        let parser = syn::meta::parser(|meta| {
            if meta.path.is_ident("crate") {
                options.root = Root::given(meta.value()?.parse()?);
            } else if meta.path.is_ident("alias") {
                options.aliases.push(meta.value()?.parse()?);
            } else if meta.path.is_ident("interrupts") {
                options.interrupts = meta.path.get_ident().cloned();
            } else if meta.path.is_ident("calls") {
                let mut calls = Calls::default();
                let word = meta.path.get_ident().cloned();
                meta.parse_nested_meta(|called| calls.read(&called))?;
                if calls.model == 0 && calls.tool == 0 {
                    return Err(meta.error("expected what it calls, such as `calls(model)`"));
                }
                options.calls = Some(Calls { word, ..calls });
            } else if meta.path.is_ident("state") {
                options.state = Some(meta.value()?.parse()?);
            } else if meta.path.is_ident("writes") {
                options.writes_unread = true;
                let given = options.writes.is_some();
                options.writes = Some(fields("writes", given, &meta, &mut twice)?);
                options.writes_unread = false;
            } else if meta.path.is_ident("reads") {
                let given = options.reads.is_some();
                options.reads = Some(fields("reads", given, &meta, &mut twice)?);
            } else {
                let name = meta.path.get_ident().map(Ident::to_string);
                let name = name.unwrap_or_default();
                options.writes_unread |= did_you_mean(&name, KEYS) == Some("writes");
                return Err(syn::Error::new_spanned(&meta.path, unknown(&name)));
            }
            Ok(())
        });
        errors.ok(syn::parse::Parser::parse2(parser, tokens));
        for error in twice {
            errors.push(error);
        }
        options
    }
}

impl NodeOptions {
    /// Returns true if an option has to be part of the function's type.
    pub(super) fn need_a_marker(&self) -> bool {
        self.writes.is_some()
            || self.writes_unread
            || self.reads.is_some()
            || !self.aliases.is_empty()
            || self.interrupts.is_some()
            || self.calls.is_some()
    }
}

/// Reads the fields of `writes(…)` or `reads(…)`.
fn fields(
    option: &str,
    is_given: bool,
    meta: &ParseNestedMeta<'_>,
    twice: &mut Vec<syn::Error>,
) -> syn::Result<Vec<Ident>> {
    if !meta.input.peek(syn::token::Paren) {
        let text = format!("expected the fields, such as `{option}(plan, log)`");
        return Err(meta.error(text));
    }
    let content;
    syn::parenthesized!(content in meta.input);
    let fields = Punctuated::<Ident, Token![,]>::parse_terminated(&content)?;
    if fields.is_empty() {
        let text = format!("expected at least one field, such as `{option}(plan)`");
        return Err(meta.error(text));
    }
    if is_given {
        let text = format!("`{option}` is given twice: name all fields in one");
        return Err(meta.error(text));
    }
    let mut once: Vec<Ident> = Vec::new();
    for field in fields {
        if once.contains(&field) {
            let text = format!("`{field}` is named twice");
            twice.push(syn::Error::new_spanned(field, text));
        } else {
            once.push(field);
        }
    }
    Ok(once)
}

/// What a run of the node calls.
#[derive(Default)]
pub(super) struct Calls {
    /// The word `calls`.
    pub(super) word: Option<Ident>,
    pub(super) model: u32,
    pub(super) tool: u32,
}

impl Calls {
    /// Reads `model`, or `model = 2`.
    fn read(&mut self, called: &ParseNestedMeta<'_>) -> syn::Result<()> {
        let count = match called.path.get_ident().map(Ident::to_string).as_deref() {
            Some("model") => &mut self.model,
            Some("tool") => &mut self.tool,
            _ => return Err(called.error("expected `model` or `tool`, such as `calls(model)`")),
        };
        *count = if called.input.peek(Token![=]) {
            called.value()?.parse::<LitInt>()?.base10_parse()?
        } else {
            1
        };
        Ok(())
    }
}

fn unknown(name: &str) -> String {
    if METHODS.contains(&name) {
        return format!(
            "`{name}` is a method of the node, not an option of `#[node]`: write `.{name}(…)` where the node is added"
        );
    }
    let hint = suggestion(name, KEYS);
    if hint.is_empty() {
        "unknown option of `#[node]`, expected `writes(…)`, `reads(…)`, `alias = \"…\"`, `interrupts`, `calls(…)`, `state = …` or `crate = …`".to_owned()
    } else {
        format!("unknown option of `#[node]`{hint}")
    }
}
