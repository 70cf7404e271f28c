//! Prints the decisions: the call of a router, and the user's own `match` over its answer.

use proc_macro2::{Delimiter, Group, Ident, Literal, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::ExprPath;

use super::{Printer, at, graph, private_at, worker_handle};
use crate::graph::ast::{Form, name_span};
use crate::graph::model::{Arm, Map, Switch};

impl Printer<'_> {
    /// The call of a router, with what becomes of its answer.
    pub(super) fn switch(&self, switch: &Switch) -> TokenStream {
        let (graph, router) = (graph(), &switch.router);
        let source = self.name(switch.source.vertex);
        // Our names stand under the router's: what rustc says of the call, or of the answer in the
        // `match`, lands there.
        let router_span = at(first_span(router, switch.keyword));
        let [router_name, state, cx, answer] =
            ["__router", "__state", "__cx", "__answer"].map(|name| Ident::new(name, router_span));
        let each = switch.arms.first().and_then(|arm| arm.map.as_ref());
        let each = each.filter(|_| switch.form.is_none());
        let (add, picked) = if let Some(map) = each {
            let worker = self.name(map.worker);
            let Some(sends) = self.sends(map, &answer.to_token_stream(), switch.keyword) else {
                return TokenStream::new();
            };
            let add = quote!(add_map(&mut #graph, #source, #worker));
            (add, sends)
        } else {
            let (add, arms) = self.arms(&switch.arms);
            let add = quote!(#add(&mut #graph, #source, &[#(#arms),*]));
            (add, self.picked(switch, &answer, &state))
        };
        let workers = self.workers(switch);
        let asks = private_at(router_span);
        let private = private_at(Span::mixed_site());
        let asked = quote_spanned! {router_span=>
            #asks::ask(&#router_name, #state, #cx)
        };
        let read = Ident::new(
            if sends(&switch.arms) { "run" } else { "pick" },
            router_span,
        );
        let read = quote_spanned! {router_span=>
            (&&&&#asks::Of(&#answer)).kind().#read(#answer, move |#answer| #picked)
        };
        quote_spanned! {Span::mixed_site()=>
            #private::#add.asking({
                let #router_name = #router;
                #workers
                move |#state, #cx| {
                    #workers
                    let #answer = #asked;
                    #read
                }
            });
        }
    }

    /// The function that adds a switch, and what it is told of each arm. The usual arm leads to one
    /// node, and is easier for rustc to read.
    fn arms(&self, arms: &[Arm]) -> (Ident, Vec<TokenStream>) {
        let simple = |arm: &Arm| match (arm.targets.as_slice(), &arm.map) {
            ([only], None) => {
                let (label, target) = (&arm.label, self.name(only.vertex));
                Some(quote!((#label, #target)))
            }
            _ => None,
        };
        if let Some(arms) = arms.iter().map(simple).collect() {
            return (Ident::new("add_choice", Span::mixed_site()), arms);
        }
        let arms = arms.iter().map(|arm| {
            let (targets, map) = (self.names(&arm.targets), arm.map.is_some());
            let label = &arm.label;
            quote!((#label, #targets, #map))
        });
        (Ident::new("add_switch", Span::mixed_site()), arms.collect())
    }

    /// The handles of the workers that a switch starts, to be moved into its closures.
    fn workers(&self, switch: &Switch) -> TokenStream {
        let maps = switch.arms.iter().filter_map(|arm| arm.map.as_ref());
        let mut workers: Vec<usize> = maps.map(|map| map.worker).collect();
        workers.sort_unstable();
        workers.dedup();
        let handles = workers
            .into_iter()
            .filter_map(|worker| self.model.node(worker))
            .filter(|node| !self.is_lost(node))
            .map(|node| worker_handle(&node.name));
        handles
            .map(|handle| quote!(let #handle = ::core::clone::Clone::clone(&#handle);))
            .collect()
    }

    /// The user's `match`, with what each arm stands for.
    fn picked(&self, switch: &Switch, answer: &Ident, state: &Ident) -> TokenStream {
        let bodies: Vec<TokenStream> = switch
            .arms
            .iter()
            .enumerate()
            .map(|(index, arm)| {
                if sends(&switch.arms) {
                    self.body(index, arm, state)
                } else {
                    number(index, at(place(arm)))
                }
            })
            .collect();
        let pattern = switch.arms.first().and_then(|arm| arm.pattern.as_ref());
        if switch.form != Some(Form::Match) {
            let keyword = Ident::new("if", switch.keyword);
            let condition = match pattern {
                Some(pattern) => quote!(let #pattern = #answer),
                None => answer.to_token_stream(),
            };
            let mut bodies = bodies.into_iter();
            let (then, otherwise) = (bodies.next(), bodies.next());
            return quote!(#keyword #condition { #then } else { #otherwise });
        }
        let keyword = Ident::new("match", switch.keyword);
        let arms = switch.arms.iter().zip(&bodies).map(|(arm, body)| {
            let pattern = &arm.pattern;
            let guard = arm
                .guard
                .as_ref()
                .map(|(keyword, guard)| quote!(#keyword #guard));
            quote!(#pattern #guard => #body,)
        });
        let mut arms: TokenStream = arms.collect();
        if switch.broken {
            let body = if sends(&switch.arms) {
                pick(0, Span::mixed_site())
            } else {
                number(0, Span::mixed_site())
            };
            arms.extend(quote!(#[allow(unreachable_patterns)] _ => #body,));
        }
        let mut braces = Group::new(Delimiter::Brace, arms);
        if let Some(brace) = &switch.brace {
            // So that the arm that rustc suggests goes inside the user's braces.
            braces.set_span(brace.span.join());
        }
        quote!(#keyword #answer #braces)
    }

    /// What an arm stands for, where some arms have sends: its number, or its sends.
    fn body(&self, index: usize, arm: &Arm, state: &Ident) -> TokenStream {
        let span = at(place(arm));
        let private = private_at(span);
        let Some(map) = &arm.map else {
            return pick(index, span);
        };
        let Some(items) = &map.items else {
            return pick(index, span);
        };
        // A name that the pattern does not bind is a function of the state, as everywhere else.
        let items = match items {
            syn::Expr::Path(path) if !binds(arm, path) => {
                let call = quote_spanned!(at(name_span(path))=> (#state));
                quote!(#path #call)
            }
            items => items.to_token_stream(),
        };
        match self.sends(map, &items, map.keyword) {
            Some(sends) => {
                quote_spanned!(span=> #private::Pick::each(#index, #sends))
            }
            None => pick(index, span),
        }
    }

    /// One send per item.
    fn sends(&self, map: &Map, items: &TokenStream, span: Span) -> Option<TokenStream> {
        let node = self
            .model
            .node(map.worker)
            .filter(|node| !self.is_lost(node))?;
        let handle = worker_handle(&node.name);
        let (pattern, item) = (&map.pattern, &map.item);
        let call = at(map.paren.span.join());
        let mut arguments = Group::new(Delimiter::Parenthesis, quote!(&#handle, #item));
        arguments.set_span(call);
        let private = private_at(call);
        let send = quote_spanned!(call=> #private::send #arguments);
        let span = at(first_span(items, span));
        let private = private_at(span);
        Some(quote_spanned!(span=> #private::sends(#items, move |#pattern| #send)))
    }
}

/// True when an arm is a map.
fn sends(arms: &[Arm]) -> bool {
    arms.iter().any(|arm| arm.map.is_some())
}

/// Where an arm leads.
fn place(arm: &Arm) -> Span {
    let first = arm.targets.first();
    first.map_or_else(Span::mixed_site, |place| place.span)
}

/// The number of an arm.
fn number(index: usize, span: Span) -> TokenStream {
    let mut number = Literal::usize_suffixed(index);
    number.set_span(span);
    number.into_token_stream()
}

/// The number of an arm beside arms that have sends.
fn pick(index: usize, span: Span) -> TokenStream {
    let private = private_at(span);
    quote_spanned!(span=> #private::Pick::arm(#index))
}

/// True when the pattern of an arm binds the name that a path is.
fn binds(arm: &Arm, path: &ExprPath) -> bool {
    fn names(tokens: TokenStream, name: &Ident) -> bool {
        tokens.into_iter().any(|tree| match tree {
            TokenTree::Ident(ident) => ident == *name,
            TokenTree::Group(group) => names(group.stream(), name),
            _ => false,
        })
    }
    let pattern = arm.pattern.to_token_stream();
    path.path
        .get_ident()
        .is_some_and(|name| names(pattern, name))
}

fn first_span(tokens: &impl ToTokens, otherwise: Span) -> Span {
    tokens
        .to_token_stream()
        .into_iter()
        .next()
        .map_or(otherwise, |tree| tree.span())
}
