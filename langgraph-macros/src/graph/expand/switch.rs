//! Expands decisions: the call of a router, and the user's own `match` on its answer.

use proc_macro2::{Delimiter, Group, Ident, Literal, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Expr, ExprPath};

use super::{Printer, at, graph, private_at, worker_handle};
use crate::graph::ast::{Form, name_span};
use crate::graph::model::{Arm, Map, Switch};

/// A router, its keyword, and its arms.
#[derive(Clone, Copy)]
struct RouterCall<'a> {
    router: &'a Expr,
    keyword: Span,
    arms: &'a [Arm],
}

/// How an answer is read.
enum Reading {
    /// As the number of an arm, which depends only on the answer.
    Pick(TokenStream),
    /// As anything else.
    Run(TokenStream),
}

impl Printer<'_> {
    /// Prints the call of a router and the reading of its answer; for `else if`, of several
    /// routers.
    pub(super) fn switch(&self, switch: &Switch) -> TokenStream {
        let (graph, source) = (graph(), self.names(&switch.sources));
        let first = RouterCall {
            router: &switch.router,
            keyword: switch.keyword,
            arms: &switch.arms,
        };
        let each = switch.arms.first().and_then(|arm| arm.map.as_ref());
        let private = private_at(Span::mixed_site());
        if let (None, Some(map)) = (switch.form, each) {
            let worker = self.name(map.worker);
            let items = self.closure(&first, |answer, _| {
                let sends = self.sends(map, &answer.to_token_stream(), switch.keyword)?;
                Some(Reading::Run(sends))
            });
            return items
                .map(|items| {
                    quote_spanned! {Span::mixed_site()=>
                        #private::ask_map(#private::add_map(&mut #graph, #source, #worker), #items);
                    }
                })
                .unwrap_or_default();
        }
        let (add, arms) = self.arms(&switch.arms);
        let picks = match switch.form {
            Some(Form::Match) => {
                let last = self.closure(&first, |answer, state| {
                    Some(self.matched(switch, answer, state))
                });
                last.map(|last| vec![last])
            }
            _ => self.conditions(switch, first),
        };
        let mut picks = picks.unwrap_or_default();
        let last = picks.pop();
        let mut added = quote_spanned! {Span::mixed_site()=>
            #private::#add(&mut #graph, #source, &[#(#arms),*])
        };
        for pick in picks {
            added = quote_spanned!(Span::mixed_site()=> #private::ask_first(#added, #pick));
        }
        if let Some(last) = last {
            added = quote_spanned!(Span::mixed_site()=> #private::ask_last(#added, #last));
        }
        quote!(#added;)
    }

    /// Prints a closure around the call of a router and the reading of its answer.
    fn closure(
        &self,
        asked: &RouterCall<'_>,
        read: impl Fn(&Ident, &Ident) -> Option<Reading>,
    ) -> Option<TokenStream> {
        let (router, workers) = (asked.router, self.workers(asked.arms));
        // Our names have the router's span, so that rustc's errors about the call, or about the
        // answer in the `match`, point there.
        let span = at(first_span(router, asked.keyword));
        let [router_name, state, cx, answer] =
            ["__router", "__state", "__cx", "__answer"].map(|name| Ident::new(name, span));
        let private = private_at(span);
        let call = quote_spanned!(span=> #private::ask(&#router_name, #state, #cx));
        let (how, value) = match read(&answer, &state)? {
            Reading::Pick(value) => ("pick", value),
            Reading::Run(value) => ("run", value),
        };
        let how = Ident::new(how, span);
        let read = quote_spanned! {span=>
            (&#private::Of(&#answer)).kind().#how(#answer, move |#answer| #value)
        };
        Some(quote_spanned! {Span::mixed_site()=> {
            let #router_name = #router;
            #workers
            move |#state, #cx| {
                #workers
                let #answer = #call;
                #read
            }
        }})
    }

    /// Prints the routers of an `if`, one after the other until one matches.
    fn conditions(&self, switch: &Switch, first: RouterCall<'_>) -> Option<Vec<TokenStream>> {
        let (_, asking) = switch.arms.split_last()?;
        let last = asking.len().checked_sub(1)?;
        let mut calls = Vec::new();
        for (index, arm) in asking.iter().enumerate() {
            let (router, keyword) = match &arm.asks {
                None => (first.router, first.keyword),
                Some(asks) => (&asks.router, asks.keyword),
            };
            let arms = switch.arms.get(index..index + 2)?;
            let arms = if index == last { arms } else { arms.get(..1)? };
            let asked = RouterCall {
                router,
                keyword,
                arms,
            };
            let closure = self.closure(&asked, |answer, state| {
                Some(self.condition(&asked, index, answer, state))
            })?;
            calls.push(closure);
        }
        Some(calls)
    }

    /// Prints an `if` on an answer, between two arms, or between an arm and the next router.
    fn condition(
        &self,
        asked: &RouterCall<'_>,
        index: usize,
        answer: &Ident,
        state: &Ident,
    ) -> Reading {
        let keyword = Ident::new("if", asked.keyword);
        let pattern = asked.arms.first().and_then(|arm| arm.pattern.as_ref());
        let condition = match pattern {
            Some(pattern) => quote!(let #pattern = #answer),
            None => answer.to_token_stream(),
        };
        let plain = asked.arms.iter().all(|arm| arm.map.is_none());
        match asked.arms {
            [then, otherwise] if plain => {
                let then = number(index, at(place(then)));
                let otherwise = number(index + 1, at(place(otherwise)));
                Reading::Pick(quote!(#keyword #condition { #then } else { #otherwise }))
            }
            [then, otherwise] => {
                let then = self.body(index, then, state);
                let otherwise = self.body(index + 1, otherwise, state);
                Reading::Run(quote!(#keyword #condition { #then } else { #otherwise }))
            }
            arms => {
                let then = arms.iter().map(|arm| self.body(index, arm, state));
                Reading::Run(quote! {
                    #keyword #condition {
                        ::core::option::Option::Some(#(#then)*)
                    } else {
                        ::core::option::Option::None
                    }
                })
            }
        }
    }

    /// Returns the function that adds a switch, and its argument for each arm. A usual arm leads to
    /// one node, and is easier for rustc.
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

    /// Prints the handles of the arms' workers, which move into the closures.
    fn workers(&self, arms: &[Arm]) -> TokenStream {
        let maps = arms.iter().filter_map(|arm| arm.map.as_ref());
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

    /// Prints the user's `match`, with a value for each arm.
    fn matched(&self, switch: &Switch, answer: &Ident, state: &Ident) -> Reading {
        // A guard may use variables around the graph, and then the `match` is not a plain function.
        let mut arms = switch.arms.iter();
        let plain = arms.all(|arm| arm.map.is_none() && arm.guard.is_none());
        let keyword = Ident::new("match", switch.keyword);
        let arms = switch.arms.iter().enumerate().map(|(index, arm)| {
            let body = if plain {
                number(index, at(place(arm)))
            } else {
                self.body(index, arm, state)
            };
            let pattern = &arm.pattern;
            let guard = arm
                .guard
                .as_ref()
                .map(|(keyword, guard)| quote!(#keyword #guard));
            quote!(#pattern #guard => #body,)
        });
        let mut arms: TokenStream = arms.collect();
        if switch.broken {
            let body = if plain {
                number(0, Span::mixed_site())
            } else {
                pick(0, Span::mixed_site())
            };
            arms.extend(quote!(#[allow(unreachable_patterns)] _ => #body,));
        }
        let mut braces = Group::new(Delimiter::Brace, arms);
        if let Some(brace) = &switch.brace {
            // With this span, rustc suggests a missing arm inside the user's braces.
            braces.set_span(brace.span.join());
        }
        let value = quote!(#keyword #answer #braces);
        if plain {
            Reading::Pick(value)
        } else {
            Reading::Run(value)
        }
    }

    /// Returns the value of an arm: its number, or its sends.
    fn body(&self, index: usize, arm: &Arm, state: &Ident) -> TokenStream {
        let span = at(place(arm));
        let private = private_at(span);
        let Some(map) = &arm.map else {
            return pick(index, span);
        };
        let Some(items) = &map.items else {
            return pick(index, span);
        };
        // A name that the pattern does not bind is a function of the state, as elsewhere.
        let items = match items {
            Expr::Path(path) if !binds(arm, path) => {
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

    /// Prints one send per item.
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

/// Returns the span of an arm's target.
fn place(arm: &Arm) -> Span {
    let first = arm.targets.first();
    first.map_or_else(Span::mixed_site, |place| place.span)
}

/// Prints the number of an arm.
fn number(index: usize, span: Span) -> TokenStream {
    let mut number = Literal::usize_suffixed(index);
    number.set_span(span);
    number.into_token_stream()
}

/// Prints the number of an arm, if other arms have sends.
fn pick(index: usize, span: Span) -> TokenStream {
    let private = private_at(span);
    quote_spanned!(span=> #private::Pick::arm(#index))
}

/// Returns true if the pattern of an arm binds the path's name.
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
