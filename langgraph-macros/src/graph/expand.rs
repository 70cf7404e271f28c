//! Expands the model to builder calls: one block, whose value is the graph.
//!
//! A token that can be wrong keeps the user's span, so that rustc's errors point at it. Everything
//! else is ours (`mixed_site`), at the user's place, so it shadows no name of the user's and lints
//! ignore it.

use std::path::Path;
use std::sync::LazyLock;

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{ExprPath, Type};

use super::ast::{Attributes, Let, name_span};
use super::model::{Beside, Model, Node, Place};
use crate::diag::Errors;
use crate::paths::Root;
use langgraph_topology::flow::{END, START};

mod gotos;
mod locations;
mod optioned_nodes;
mod reads;
mod switch;
mod writes;

use gotos::UndeclaredGotos;
use optioned_nodes::OptionedNodes;

/// The parts of the input besides the chains.
pub(crate) struct Frame<'a> {
    /// `type State = …;`
    pub(crate) state: Option<&'a Type>,
    /// The `let`s, in order.
    pub(crate) lets: &'a [Let],
    /// The names of the decisions, for editors.
    pub(crate) decisions: &'a TokenStream,
    /// `#![…]`
    pub(crate) attributes: &'a Attributes,
    /// The parsed pieces of broken parts.
    pub(crate) fragments: &'a [TokenStream],
    /// True if a part did not parse.
    pub(crate) broken: bool,
}

/// Returns the block that builds the graph and reports the errors.
pub(crate) fn expand(
    model: &Model,
    frame: &Frame<'_>,
    errors: &Errors,
    root: &Root,
) -> TokenStream {
    let printer = Printer::new(model, frame, errors, root);
    let graph = graph();
    let of = frame.state.map(|state| quote!(::<#state>));
    let errors = errors.to_compile_errors();
    let statements = frame.lets.iter().enumerate();
    let statements = statements.map(|(index, written)| printer.statement(index, written));
    let ends = printer.ends();
    let nodes = printer.nodes();
    let edges = printer.edges();
    let joins = printer.joins();
    let switches = model.switches.iter().map(|switch| printer.switch(switch));
    let gotos = printer.gotos();
    let bounds = printer.bounds();
    let writes = printer.writes();
    let reads = printer.reads(frame.attributes);
    let UndeclaredGotos {
        of_nodes,
        of_workers,
    } = printer.undeclared_gotos();
    let answers = printer.answers();
    let locations = printer.locations(frame.state);
    let private = private_at(Span::mixed_site());
    let decisions = frame.decisions;
    let names = if in_an_editor() {
        printer.names_first(frame.fragments)
    } else {
        TokenStream::new()
    };
    // Each called function is imported once, because a long path in every call is work for rustc.
    // The traits come before the routers' closures, because rustc would check the closures' bounds
    // at each lookup.
    let body = quote_spanned! {Span::mixed_site()=>
        use #root::__private as #private;
        #answers
        #(#statements)*
        #decisions
        #names
        let mut #graph = #private::closed #of();
        #ends
        #nodes
        #writes
        #edges
        #joins
        #reads
        #of_nodes
        #(#switches)*
        #gotos
        #of_workers
        #bounds
        #locations
        #errors
        #graph
    };
    let mut block = Group::new(Delimiter::Brace, body);
    block.set_span(Span::mixed_site());
    block.into_token_stream()
}

struct Printer<'a> {
    model: &'a Model,
    root: &'a Root,
    /// The bindings of a `let` that did not parse: naming them must not be a second error.
    lost: Vec<&'a Ident>,
    /// The parallel nodes.
    beside: Vec<Beside>,
    /// The nodes whose reads are checked.
    reads: Vec<reads::ReadCheck>,
    /// The nodes with options.
    options: OptionedNodes,
    /// True if the graph has errors, which explain what else is wrong.
    broken: bool,
}

impl<'a> Printer<'a> {
    fn new(model: &'a Model, frame: &Frame<'a>, errors: &Errors, root: &'a Root) -> Self {
        let lets = frame.lets.iter();
        let lost: Vec<&Ident> = lets.flat_map(|statement| &statement.lost).collect();
        let mut printer = Printer {
            model,
            root,
            lost,
            beside: Vec::new(),
            reads: Vec::new(),
            options: OptionedNodes::default(),
            broken: frame.broken || !errors.is_empty(),
        };
        printer.options = printer.options(frame.lets);
        if !frame.broken {
            printer.beside = printer.known(model.beside());
            printer.reads = printer.readers(frame.attributes);
        }
        printer
    }
}

/// Returns a span for our own code at the user's place, where rustc's errors about it belong.
///
/// In an editor it returns another span: rust-analyzer takes every name at a place for the user's,
/// and would navigate from a node to the builder's methods too.
fn at(span: Span) -> Span {
    if in_an_editor() {
        Span::mixed_site()
    } else {
        Span::mixed_site().located_at(span)
    }
}

/// Returns true if rust-analyzer expands the macro: `rust-analyzer-proc-macro-srv`, or its own
/// `proc-macro` command.
fn in_an_editor() -> bool {
    static ANSWER: LazyLock<bool> = LazyLock::new(|| {
        let program = std::env::current_exe().ok();
        let name = program.as_deref().and_then(Path::file_name);
        name.is_some_and(|name| name.to_string_lossy().starts_with("rust-analyzer"))
    });
    *ANSWER
}

impl Printer<'_> {
    /// Returns the name of a vertex for the builder.
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

    /// Prints all names for an editor, before everything that depends on their lengths: an editor
    /// completes a name at its position in an expansion without it.
    fn names_first(&self, fragments: &[TokenStream]) -> TokenStream {
        let nodes = self.model.nodes.iter().filter(|node| !self.is_lost(node));
        let mentions = nodes.flat_map(|node| &node.mentions);
        quote!(#(let _ = &#mentions;)* #(let _ = &#fragments;)*)
    }

    /// Prints START and END as documented items, at each mention.
    fn ends(&self) -> TokenStream {
        let root = self.root;
        let mentions = self.model.ends.iter().map(|(vertex, path)| {
            if path.path.segments.len() > 1 {
                return path.to_token_stream();
            }
            let name = if *vertex == START { "START" } else { "END" };
            let name = Ident::new(name, name_span(path));
            let root = root.at(at(name_span(path)));
            quote!(#root::#name)
        });
        let mentions: Vec<TokenStream> = mentions.collect();
        if mentions.is_empty() {
            TokenStream::new()
        } else {
            quote!(let _ = [#(#mentions),*];)
        }
    }

    /// Prints what distinguishes the return types of routers.
    fn answers(&self) -> TokenStream {
        if self.model.switches.is_empty() {
            return TokenStream::new();
        }
        let private = private_at(Span::mixed_site());
        quote_spanned! {Span::mixed_site()=>
            use #private::{FutureAnswer as _, PlainAnswer as _, TryFutureAnswer as _};
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

    /// Adds a node at its first mention. The other mentions get the same type, so that an editor
    /// can follow each of them.
    fn node(&self, node: &Node) -> TokenStream {
        let Some((first, others)) = node.mentions.split_first() else {
            return TokenStream::new();
        };
        let span = at(name_span(first));
        let (private, graph, name) = (private_at(span), graph(), &node.name);
        let value = if others.is_empty() {
            first.to_token_stream()
        } else {
            let tied = others.iter().map(|path| {
                let reference = quote_spanned!(at(name_span(path))=> &);
                quote!(#reference #path)
            });
            quote_spanned!(span=> #private::mentions([#(#tied),*]).of(#first))
        };
        let clashes = node
            .clashes
            .iter()
            .map(|path: &ExprPath| quote!(let _ = &#path;));
        let clashes: TokenStream = clashes.collect();
        // rustc reports bounds of a function at its call, and all calls stand at the place of the macro: a
        // state that is none is reported once. What is wrong with the node is reported at the node.
        let arguments = quote_spanned!(span=> &mut #graph, #name, #value);
        let mut arguments = Group::new(Delimiter::Parenthesis, arguments);
        arguments.set_span(Span::mixed_site());
        let add = if node.worker.is_some() {
            let (worker, kind) = (worker_handle(name), self.kind_of(node));
            let kind = kind.map_or_else(|| quote!(_), ToTokens::into_token_stream);
            quote_spanned!(span=> let (#worker, #kind) = #private::add_worker #arguments;)
        } else {
            let kind = self.kind_of(node).map(|kind| quote!(let #kind =));
            quote_spanned!(span=> #kind #private::add #arguments;)
        };
        quote!(#clashes #add)
    }

    fn edges(&self) -> TokenStream {
        if self.model.edges.is_empty() {
            return TokenStream::new();
        }
        let (private, graph) = (private_at(Span::mixed_site()), graph());
        let edges = self.model.edges.iter().map(|edge| {
            let (from, to) = (self.name(edge.from.vertex), self.name(edge.to.vertex));
            quote!((#from, #to))
        });
        quote!(#private::add_edges(&mut #graph, &[#(#edges),*]);)
    }

    fn bounds(&self) -> TokenStream {
        if self.model.bounds.is_empty() {
            return TokenStream::new();
        }
        let (private, graph) = (private_at(Span::mixed_site()), graph());
        let bounds = self.model.edge_bounds().map(|(bound, from)| {
            let (from, to) = (self.name(from.vertex), self.name(bound.to.vertex));
            let (at_most, exit) = (bound.at_most, bound.exit.map(|exit| self.name(exit.vertex)));
            let exit = exit.unwrap_or_default();
            quote!((#from, #to, #at_most, #exit))
        });
        quote!(#private::add_bounds(&mut #graph, &[#(#bounds),*]);)
    }

    fn joins(&self) -> TokenStream {
        if self.model.joins.is_empty() {
            return TokenStream::new();
        }
        let (private, graph) = (private_at(Span::mixed_site()), graph());
        let joins = self.model.joins.iter().map(|join| {
            let (from, to) = (self.names(&join.sources), self.name(join.target.vertex));
            quote!((#from, #to))
        });
        quote!(#private::add_joins(&mut #graph, &[#(#joins),*]);)
    }
}

/// The name of the module that expansions call.
fn private_at(span: Span) -> Ident {
    Ident::new("__langgraph", span)
}

/// The variable that holds the graph.
fn graph() -> Ident {
    Ident::new("__graph", Span::mixed_site())
}

/// The variable that holds a worker's handle.
fn worker_handle(name: &str) -> Ident {
    Ident::new(&format!("__worker_{name}"), Span::mixed_site())
}
