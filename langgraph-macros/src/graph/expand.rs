//! Prints the model as builder calls: one block, whose value is the graph.
//!
//! A token that can be wrong keeps the user's span, so that rustc's errors land on it. Everything
//! else is ours (`mixed_site`), at the user's place: no name of the user's is touched, and lints
//! do not look at it.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::{ExprPath, Type};

use super::ast::{Form, Let, name_span};
use super::flow::{END, START};
use super::model::{Arm, Map, Model, Node, Place, Switch};
use crate::diag::Errors;
use crate::paths::Root;

/// The block that makes the graph, and reports the errors.
pub(crate) fn expand(
    model: &Model,
    state: Option<&Type>,
    lets: &[Let],
    errors: &Errors,
    root: &Root,
) -> TokenStream {
    let lost: Vec<&Ident> = lets.iter().flat_map(|statement| &statement.lost).collect();
    let printer = Printer { model, root, lost };
    let graph = printer.graph();
    let of = state.map_or_else(|| quote!(_), ToTokens::to_token_stream);
    let errors = errors.to_compile_errors();
    let statements = lets.iter().map(|statement| &statement.statement);
    let ends = printer.ends();
    let nodes = printer.nodes();
    let edges = printer.edges();
    let joins = printer.joins();
    let switches = model.switches.iter().map(|switch| printer.switch(switch));
    let gotos = printer.gotos();
    let body = quote_spanned! {Span::mixed_site()=>
        #errors
        #(#statements)*
        let mut #graph = #root::__private::closed::<#of>();
        #ends
        #nodes
        #edges
        #joins
        #(#switches)*
        #gotos
        #graph
    };
    let mut block = Group::new(Delimiter::Brace, body);
    block.set_span(Span::mixed_site());
    block.into_token_stream()
}

struct Printer<'a> {
    model: &'a Model,
    root: &'a Root,
    /// What a `let` that could not be read would have bound: to name it would be a second error.
    lost: Vec<&'a Ident>,
}

/// Our own code at the user's place.
fn at(span: Span) -> Span {
    Span::mixed_site().located_at(span)
}

impl Printer<'_> {
    fn graph(&self) -> Ident {
        Ident::new("__graph", Span::mixed_site())
    }

    /// The name of a vertex as the builder knows it.
    fn name(&self, vertex: usize) -> &str {
        match vertex {
            START => "__start__",
            END => "__end__",
            vertex => self.model.name(vertex),
        }
    }

    fn names(&self, places: &[Place]) -> TokenStream {
        let names = places.iter().map(|place| self.name(place.vertex));
        quote!(&[#(#names),*])
    }

    /// START and END as documented items, wherever they are written.
    fn ends(&self) -> TokenStream {
        let root = self.root;
        let mentions = self.model.ends.iter().map(|(vertex, path)| {
            if path.path.segments.len() > 1 {
                return path.to_token_stream();
            }
            let name = if *vertex == START { "START" } else { "END" };
            let name = Ident::new(name, name_span(path));
            quote!(#root::#name)
        });
        let mentions: Vec<TokenStream> = mentions.collect();
        if mentions.is_empty() {
            TokenStream::new()
        } else {
            quote!(let _ = [#(#mentions),*];)
        }
    }

    fn is_lost(&self, node: &Node) -> bool {
        let path = node.mentions.first().and_then(|path| path.path.get_ident());
        path.is_some_and(|path| self.lost.contains(&path))
    }

    fn nodes(&self) -> TokenStream {
        let nodes = self.model.nodes.iter().filter(|node| !self.is_lost(node));
        nodes.map(|node| self.node(node)).collect()
    }

    /// A node is added with its first mention; the others are tied to the same type, so that
    /// each is a name that an editor can follow.
    fn node(&self, node: &Node) -> TokenStream {
        let Some((first, others)) = node.mentions.split_first() else {
            return TokenStream::new();
        };
        let (root, graph, name) = (self.root, self.graph(), &node.name);
        let span = at(name_span(first));
        let value = if others.is_empty() {
            first.to_token_stream()
        } else {
            let tied = others.iter().map(|path| {
                let reference = quote_spanned!(at(name_span(path))=> &);
                quote!(#reference #path)
            });
            quote_spanned!(span=> #root::__private::mentions([#(#tied),*]).of(#first))
        };
        let clashes = node
            .clashes
            .iter()
            .map(|path: &ExprPath| quote!(let _ = &#path;));
        let clashes: TokenStream = clashes.collect();
        let add = if node.worker.is_some() {
            let worker = worker_handle(name);
            quote_spanned!(span=> let #worker = #graph.add_worker(#name, #value);)
        } else {
            quote_spanned!(span=> #graph.add_node(#name, #value);)
        };
        quote!(#clashes #add)
    }

    fn edges(&self) -> TokenStream {
        if self.model.edges.is_empty() {
            return TokenStream::new();
        }
        let (root, graph) = (self.root, self.graph());
        let edges = self.model.edges.iter().map(|edge| {
            let (from, to) = (self.name(edge.from.vertex), self.name(edge.to.vertex));
            quote!((#from, #to))
        });
        quote!(#root::__private::add_edges(&mut #graph, &[#(#edges),*]);)
    }

    fn joins(&self) -> TokenStream {
        if self.model.joins.is_empty() {
            return TokenStream::new();
        }
        let (root, graph) = (self.root, self.graph());
        let joins = self.model.joins.iter().map(|join| {
            let (from, to) = (self.names(&join.sources), self.name(join.target.vertex));
            quote!((#from, #to))
        });
        quote!(#root::__private::add_joins(&mut #graph, &[#(#joins),*]);)
    }

    fn gotos(&self) -> TokenStream {
        let (root, graph) = (self.root, self.graph());
        let gotos = self.model.gotos.iter().map(|goto| {
            let (from, to) = (self.name(goto.source.vertex), self.names(&goto.targets));
            quote!(#root::__private::add_destinations(&mut #graph, #from, #to);)
        });
        gotos.collect()
    }

    /// The call of a router, with what becomes of its answer.
    fn switch(&self, switch: &Switch) -> TokenStream {
        let (root, graph, router) = (self.root, self.graph(), &switch.router);
        let source = self.name(switch.source.vertex);
        let [router_name, state, cx, answer] = ["__router", "__state", "__cx", "__answer"]
            .map(|name| Ident::new(name, Span::mixed_site()));
        let router_span = first_span(router, switch.keyword);
        // The answer stands under the router's name: what `match` says of it lands there.
        let given = Ident::new("__answer", at(router_span));
        let first_map = switch.arms.first().and_then(|arm| arm.map.as_ref());
        let (call, picked) = match (switch.form, first_map) {
            (None, Some(map)) => {
                let Some(sends) = self.sends(map, &given.to_token_stream(), switch.keyword) else {
                    return TokenStream::new();
                };
                let worker = self.name(map.worker);
                (
                    quote!(add_map(&mut #graph, #source, #worker,)),
                    quote!(#sends.collect()),
                )
            }
            _ => {
                let arms = switch.arms.iter().map(|arm| {
                    let (label, targets, map) =
                        (&arm.label, self.names(&arm.targets), arm.map.is_some());
                    quote!((#label, #targets, #map))
                });
                let picked = self.picked(switch, &given, &state);
                (
                    quote!(add_switch(&mut #graph, #source, &[#(#arms),*],)),
                    picked,
                )
            }
        };
        let workers = self.workers(switch);
        let mut call = call.into_iter();
        let (function, arguments) = (call.next(), call.next());
        let arguments = match arguments {
            Some(TokenTree::Group(group)) => group.stream(),
            _ => TokenStream::new(),
        };
        let ask = quote_spanned!(at(router_span)=> ask(&#router_name, #state, #cx));
        let run = quote_spanned!(at(router_span)=> run);
        quote_spanned! {Span::mixed_site()=>
            #root::__private::#function(#arguments {
                let #router_name = #router;
                #workers
                move |#state, #cx| {
                    use #root::__private::{
                        FutureAnswer as _, PlainAnswer as _, ResultAnswer as _,
                        TryFutureAnswer as _,
                    };
                    #workers
                    let #answer = #root::__private::#ask;
                    (&&&&#root::__private::Of(&#answer)).kind().#run(#answer, move |#answer| #picked)
                }
            });
        }
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
            .map(|(index, arm)| self.body(index, arm, state))
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
            let body = self.pick(0, Span::mixed_site());
            arms.extend(quote!(#[allow(unreachable_patterns)] _ => #body,));
        }
        let mut braces = Group::new(Delimiter::Brace, arms);
        if let Some(brace) = &switch.brace {
            // So that the arm that rustc suggests goes inside the user's braces.
            braces.set_span(brace.span.join());
        }
        quote!(#keyword #answer #braces)
    }

    fn pick(&self, index: usize, span: Span) -> TokenStream {
        let root = self.root;
        quote_spanned!(span=> #root::__private::Pick::arm(#index))
    }

    /// What an arm stands for: its number, or its sends.
    fn body(&self, index: usize, arm: &Arm, state: &Ident) -> TokenStream {
        let root = self.root;
        let span = arm
            .targets
            .first()
            .map_or_else(Span::mixed_site, |place| place.span);
        let Some(map) = &arm.map else {
            return self.pick(index, span);
        };
        let Some(items) = &map.items else {
            return self.pick(index, span);
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
                quote_spanned!(at(span)=> #root::__private::Pick::each(#index, #sends))
            }
            None => self.pick(index, span),
        }
    }

    /// One send per item.
    fn sends(&self, map: &Map, items: &TokenStream, span: Span) -> Option<TokenStream> {
        let root = self.root;
        let node = self
            .model
            .node(map.worker)
            .filter(|node| !self.is_lost(node))?;
        let handle = worker_handle(&node.name);
        let (pattern, item) = (&map.pattern, &map.item);
        let items_span = items
            .clone()
            .into_iter()
            .next()
            .map_or(span, |tree| tree.span());
        let items = quote_spanned!(at(items_span)=> ::core::iter::IntoIterator::into_iter(#items));
        let mut arguments = Group::new(Delimiter::Parenthesis, quote!(&#handle, #item));
        arguments.set_span(at(map.paren.span.join()));
        let send = quote_spanned!(at(map.paren.span.join())=> #root::__private::send #arguments);
        Some(quote_spanned! {at(span)=>
            ::core::iter::Iterator::map(#items, move |#pattern| #send)
        })
    }
}

/// The variable that holds a worker's handle.
fn worker_handle(name: &str) -> Ident {
    Ident::new(&format!("__worker_{name}"), Span::mixed_site())
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
