//! What is different when the body of an entrypoint runs again, where its tokens show it.

use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};
use quote::{format_ident, quote, quote_spanned};

/// Collections whose order differs in each process.
const UNORDERED: [&str; 2] = ["HashMap", "HashSet"];

/// Methods that visit the values of a collection in its order.
const VISITS: [&str; 9] = [
    "iter",
    "iter_mut",
    "into_iter",
    "keys",
    "into_keys",
    "values",
    "values_mut",
    "into_values",
    "drain",
];

/// Functions of `rand` and `fastrand` that take their numbers from the system. A generator with a seed does not.
const RANDOM: [&str; 6] = [
    "random",
    "random_bool",
    "random_iter",
    "random_range",
    "rng",
    "thread_rng",
];

/// A place, and what to write there.
#[derive(Debug)]
pub(super) struct Finding {
    span: Span,
    pub(super) message: String,
}

/// Returns what a body contains that may be different when it runs again. `unordered` are arguments.
pub(super) fn findings(body: TokenStream, unordered: Vec<Ident>) -> Vec<Finding> {
    let mut search = Search {
        unordered,
        findings: Vec::new(),
    };
    search.block(body);
    search.findings
}

/// Prints a warning at each finding. An attribute cannot warn by itself on stable Rust, but the use of a deprecated
/// item is reported at the tokens of the use.
pub(super) fn warnings(findings: &[Finding]) -> TokenStream {
    let each = findings.iter().map(|Finding { span, message }| {
        let name = format_ident!("not_recorded", span = *span);
        let used = quote_spanned!(*span=> let _ = #name;);
        quote! {
            const _: () = {
                #[deprecated(note = #message)]
                #[allow(non_upper_case_globals)]
                const #name: () = ();
                #used
            };
        }
    });
    each.collect()
}

struct Search {
    /// The names of collections without an order.
    unordered: Vec<Ident>,
    findings: Vec<Finding>,
}

impl Search {
    fn block(&mut self, tokens: TokenStream) {
        let trees: Vec<TokenTree> = tokens.into_iter().collect();
        for (at, tree) in trees.iter().enumerate() {
            let rest = trees.get(at + 1..).unwrap_or_default();
            match tree {
                TokenTree::Group(group) => self.block(group.stream()),
                TokenTree::Ident(ident) if ident == "let" => self.bound(rest),
                TokenTree::Ident(ident) if ident == "in" => self.visited(rest),
                TokenTree::Ident(ident) => {
                    let after_path = at >= 3
                        && is_path(&trees, at - 2)
                        && matches!(trees.get(at - 3), Some(TokenTree::Ident(_)));
                    self.called(ident, rest, after_path);
                }
                _ => {}
            }
        }
    }

    /// Notes the name of `let name: HashMap<…> = …` and of `let name = HashMap::new()`.
    fn bound(&mut self, rest: &[TokenTree]) {
        let statement = rest.iter().take_while(|tree| !is_punct(tree, ';'));
        let mut idents = statement.filter_map(|tree| match tree {
            TokenTree::Ident(ident) if ident != "mut" => Some(ident),
            _ => None,
        });
        if let Some(name) = idents.next()
            && idents.any(|ident| UNORDERED.iter().any(|unordered| ident == unordered))
        {
            self.unordered.push(name.clone());
        }
    }

    /// Reports `in map {`, `in &map {` and `in &mut map {`.
    fn visited(&mut self, rest: &[TokenTree]) {
        let is_borrow = |tree: &TokenTree| {
            is_punct(tree, '&') || matches!(tree, TokenTree::Ident(ident) if ident == "mut")
        };
        let mut rest = rest.iter().skip_while(|tree| is_borrow(tree));
        if let (Some(TokenTree::Ident(name)), Some(TokenTree::Group(body))) =
            (rest.next(), rest.next())
            && body.delimiter() == Delimiter::Brace
            && self.unordered.contains(name)
        {
            self.order_of(name);
        }
    }

    /// Reports the calls that are known by their path, and `map.iter()`.
    fn called(&mut self, ident: &Ident, rest: &[TokenTree], after_path: bool) {
        let next = is_path(rest, 0).then(|| rest.get(2)).flatten();
        let next = match next {
            Some(TokenTree::Ident(next)) => next.to_string(),
            _ => String::new(),
        };
        let (text, replacement) = match (ident.to_string().as_str(), next.as_str()) {
            ("SystemTime" | "Instant" | "Utc" | "Local", "now") => {
                ("the time", "`cx.now().await?`")
            }
            ("Uuid", "new_v4" | "now_v7") => ("the id", "`cx.uuid().await?`"),
            ("rand", _) if RANDOM.contains(&next.as_str()) && !after_path => {
                ("the number", "`cx.random().await?`")
            }
            ("fastrand", _) if !after_path && next.starts_with(char::is_lowercase) => {
                ("the number", "`cx.random().await?`")
            }
            _ => {
                if let [TokenTree::Punct(dot), TokenTree::Ident(method), ..] = rest
                    && dot.as_char() == '.'
                    && VISITS.iter().any(|visit| method == visit)
                    && self.unordered.contains(ident)
                {
                    self.order_of(ident);
                }
                return;
            }
        };
        let path = format!("{ident}::{next}");
        self.findings.push(Finding {
            span: ident.span(),
            message: format!(
                "{text} of `{path}` is different when the entrypoint runs again: write {replacement}, which is \
                 recorded, call it in a task, or allow it by `#[entrypoint(allow(nondeterminism))]`"
            ),
        });
    }

    fn order_of(&mut self, name: &Ident) {
        self.findings.push(Finding {
            span: name.span(),
            message: format!(
                "the order of `{name}` is different when the entrypoint runs again: use a `BTreeMap`, a `BTreeSet` or \
                 a sorted list, or allow it by `#[entrypoint(allow(nondeterminism))]`"
            ),
        });
    }
}

fn is_punct(tree: &TokenTree, punct: char) -> bool {
    matches!(tree, TokenTree::Punct(found) if found.as_char() == punct)
}

/// Returns true if `::` stands there.
fn is_path(trees: &[TokenTree], at: usize) -> bool {
    let colons = trees.get(at..at + 2);
    colons.is_some_and(|colons| colons.iter().all(|tree| is_punct(tree, ':')))
}

/// Returns true if a type is a collection without an order.
pub(super) fn is_unordered(ty: &syn::Type) -> bool {
    let syn::Type::Path(path) = ty else {
        return false;
    };
    let last = path.path.segments.last();
    last.is_some_and(|last| UNORDERED.iter().any(|unordered| last.ident == unordered))
}
