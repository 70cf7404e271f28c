//! The fields of the state that a body reads.

use proc_macro2::{TokenStream, TokenTree};
use syn::{Ident, Member, Pat};

use crate::function::reference;
use crate::node::signature::{Argument, Role, is_context};

/// The fields of the state that a body names.
#[derive(Default)]
pub(super) struct Reads {
    pub(super) fields: Vec<Ident>,
    /// True if the body may read others.
    unknown: bool,
}

impl Reads {
    pub(super) fn known(self) -> Option<Vec<String>> {
        (!self.unknown).then(|| self.fields.iter().map(super::name).collect())
    }

    fn add(&mut self, field: &Ident) {
        if !self.fields.contains(field) {
            self.fields.push(field.clone());
        }
    }

    /// Reads the uses of `state` in a body.
    fn body(&mut self, tokens: TokenStream, state: &Ident) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        for (index, token) in tokens.iter().enumerate() {
            match token {
                TokenTree::Group(group) => self.body(group.stream(), state),
                TokenTree::Literal(literal) => {
                    // A format string may name the state.
                    let text = literal.to_string();
                    let names = |end: &str| text.contains(&format!("{{{state}{end}"));
                    self.unknown |= names("}") || names(":");
                }
                TokenTree::Ident(word) if word == state => {
                    let before = index.checked_sub(1).and_then(|at| tokens.get(at));
                    let rest = tokens.get(index + 1..).unwrap_or_default();
                    match (before.is_some_and(is_dot), field(rest)) {
                        // A field of this name, of something else.
                        (true, _) => {}
                        (false, Some(field)) => self.add(field),
                        (false, None) => self.unknown = true,
                    }
                }
                _ => {}
            }
        }
    }
}

/// Returns the field in `.field`, unless it is a method.
fn field(rest: &[TokenTree]) -> Option<&Ident> {
    let [dot, TokenTree::Ident(field), rest @ ..] = rest else {
        return None;
    };
    let is_method = match rest {
        [TokenTree::Group(group), ..] => group.delimiter() == proc_macro2::Delimiter::Parenthesis,
        [TokenTree::Punct(first), TokenTree::Punct(second), ..] => {
            (first.as_char(), second.as_char()) == (':', ':')
        }
        _ => false,
    };
    (is_dot(dot) && !is_method && field != "await").then_some(field)
}

fn is_dot(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == '.')
}

/// Finds the fields that a body reads.
pub(super) fn read(arguments: &[Argument<'_>], body: TokenStream) -> Reads {
    let mut reads = Reads::default();
    let mut arguments = arguments.iter();
    let state = arguments.find(|argument| match argument.role {
        Role::State => true,
        Role::StateOrContext => {
            reference(argument.ty).is_some_and(|borrow| !is_context(&borrow.elem))
        }
        Role::Owned | Role::Context => false,
    });
    match state.map(|argument| argument.pat) {
        Some(Pat::Wild(_)) => {}
        Some(Pat::Ident(pat)) if pat.subpat.is_none() => reads.body(body, &pat.ident),
        Some(Pat::Struct(pat)) => {
            for field in &pat.fields {
                match &field.member {
                    Member::Named(field) => reads.add(field),
                    Member::Unnamed(_) => reads.unknown = true,
                }
            }
        }
        // A worker that takes its item alone, or a node that takes the state by value.
        _ => reads.unknown = true,
    }
    reads
}

#[cfg(test)]
mod tests {
    use quote::ToTokens as _;
    use syn::{ItemFn, parse_quote};

    use super::read;
    use crate::diag::Errors;
    use crate::node::attr::NodeOptions;
    use crate::node::signature;

    #[allow(clippy::needless_pass_by_value)] // as `parse_quote!` gives it
    fn reads(function: ItemFn) -> Option<Vec<String>> {
        let options = NodeOptions::default();
        let node = signature::read(&function, &options, &mut Errors::new());
        let node = node.expect("the function of a test is a node");
        read(&node.arguments, node.item.block.to_token_stream()).known()
    }

    #[test]
    fn reads_are_the_fields_that_the_body_names() {
        let function: ItemFn = parse_quote! {
            async fn plan(trip: &Trip, cx: &Context) -> TripUpdate {
                let goal = trip.goal.clone();
                log(format!("{} {}", trip.days + other.trip, &trip.legs[0]));
                TripUpdate::default().plan(goal)
            }
        };
        assert_eq!(reads(function).expect("known"), ["goal", "days", "legs"]);
        assert_eq!(
            reads(parse_quote!(
                async fn a(_: &Trip) {}
            )),
            Some(vec![])
        );
        let pattern = parse_quote!(
            async fn a(Trip { goal, days: n, .. }: &Trip) {}
        );
        assert_eq!(reads(pattern).expect("known"), ["goal", "days"]);
        let worker = parse_quote!(
            async fn a(leg: Leg, trip: &Trip) {
                trip.goal;
            }
        );
        assert_eq!(reads(worker).expect("known"), ["goal"]);
    }

    #[test]
    fn what_passes_the_state_on_reads_what_is_unknown() {
        for body in [
            "helper(trip);",
            "trip.length();",
            "trip.get::<u8>();",
            "let trip = other; trip.goal;",
            "|trip| trip.goal;",
            "println!(\"{trip:?}\");",
            "println!(\"{trip}\");",
            "let Trip { goal, .. } = trip;",
        ] {
            let function = format!("async fn a(trip: &Trip) {{ {body} }}");
            let function = syn::parse_str(&function).expect("a function");
            assert_eq!(reads(function), None, "{body}");
        }
        assert_eq!(
            reads(parse_quote!(
                async fn a(trip: Trip) {
                    trip.goal;
                }
            )),
            None
        );
    }
}
