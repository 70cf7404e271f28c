//! Prints the model as builder calls: one block, whose value is the graph.
//!
//! A token that can be wrong keeps the user's span, so that rustc's errors land on it. Everything
//! else is ours (`mixed_site`), at the user's place: no name of the user's is touched, and lints
//! do not look at it.

use std::path::Path;
use std::sync::LazyLock;

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{ExprPath, Type};

use super::ast::{Let, name_span};
use super::model::{Beside, Model, Node, Place};
use crate::diag::Errors;
use crate::paths::Root;
use langgraph_topology::flow::{END, START};

mod switch;
mod writes;

/// What was written around the chains.
pub(crate) struct Frame<'a> {
    /// `type State = …;`
    pub(crate) state: Option<&'a Type>,
    /// The `let`s, in order.
    pub(crate) lets: &'a [Let],
    /// What could be read of a part that could not.
    pub(crate) fragments: &'a [TokenStream],
    /// True when a part could not be read.
    pub(crate) broken: bool,
}

/// The block that makes the graph, and reports the errors.
pub(crate) fn expand(
    model: &Model,
    frame: &Frame<'_>,
    errors: &Errors,
    root: &Root,
) -> TokenStream {
    let lets = frame.lets.iter();
    let lost: Vec<&Ident> = lets.flat_map(|statement| &statement.lost).collect();
    let mut printer = Printer {
        model,
        root,
        lost,
        beside: Vec::new(),
    };
    if !frame.broken {
        printer.beside = printer.known(model.beside());
    }
    let graph = graph();
    let of = frame
        .state
        .map_or_else(|| quote!(_), ToTokens::to_token_stream);
    let errors = errors.to_compile_errors();
    let statements = frame.lets.iter().map(statement);
    let ends = printer.ends();
    let nodes = printer.nodes();
    let edges = printer.edges();
    let joins = printer.joins();
    let switches = model.switches.iter().map(|switch| printer.switch(switch));
    let gotos = printer.gotos();
    let writes = printer.writes();
    let answers = printer.answers();
    let private = private_at(Span::mixed_site());
    let names = if in_an_editor() {
        printer.names_first(frame.fragments)
    } else {
        TokenStream::new()
    };
    // One name for what is called: a long path in every call is work for rustc. What looks up
    // methods stands before the closures of the routers, whose bounds it would look at each time.
    let body = quote_spanned! {Span::mixed_site()=>
        use #root::__private as #private;
        #answers
        #(#statements)*
        #names
        let mut #graph = #private::closed::<#of>();
        #ends
        #nodes
        #writes
        #edges
        #joins
        #(#switches)*
        #gotos
        #errors
        #graph
    };
    let mut block = Group::new(Delimiter::Brace, body);
    block.set_span(Span::mixed_site());
    block.into_token_stream()
}

/// A `let`, and what keeps rustc from reporting again that nothing uses it.
fn statement(written: &Let) -> TokenStream {
    let (statement, unused) = (&written.statement, &written.unused);
    quote!(#statement #(let _ = &#unused;)*)
}

struct Printer<'a> {
    model: &'a Model,
    root: &'a Root,
    /// What a `let` that could not be read would have bound: to name it would be a second error.
    lost: Vec<&'a Ident>,
    /// The nodes that run side by side.
    beside: Vec<Beside>,
}

/// Our own code at the user's place, where rustc's errors about it belong.
///
/// Not in an editor: rust-analyzer takes every name at a place for what the user wrote there, and
/// would go from a node to the methods of the builder too.
fn at(span: Span) -> Span {
    if in_an_editor() {
        Span::mixed_site()
    } else {
        Span::mixed_site().located_at(span)
    }
}

/// True when it is rust-analyzer that expands the macro: `rust-analyzer-proc-macro-srv`, or its own
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

    /// All names, for an editor, before anything that depends on how long they are: it completes a
    /// name where that stands in the expansion without it.
    fn names_first(&self, fragments: &[TokenStream]) -> TokenStream {
        let nodes = self.model.nodes.iter().filter(|node| !self.is_lost(node));
        let mentions = nodes.flat_map(|node| &node.mentions);
        quote!(#(let _ = &#mentions;)* #(let _ = &#fragments;)*)
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

    /// What tells the answers of routers apart.
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

    /// A node is added with its first mention; the others are tied to the same type, so that
    /// each is a name that an editor can follow.
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
        let add = if node.worker.is_some() {
            let worker = worker_handle(name);
            quote_spanned!(span=> let #worker = #graph.add_worker(#name, #value);)
        } else if let Some(kind) = self.kind_of(name) {
            quote_spanned!(span=> let #kind = #private::add(&mut #graph, #name, #value);)
        } else {
            quote_spanned!(span=> #graph.add_node(#name, #value);)
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

    fn gotos(&self) -> TokenStream {
        let (private, graph) = (private_at(Span::mixed_site()), graph());
        let gotos = self.model.gotos.iter().map(|goto| {
            let (from, to) = (self.name(goto.source.vertex), self.names(&goto.targets));
            quote!(#private::add_destinations(&mut #graph, #from, #to);)
        });
        gotos.collect()
    }
}

/// The name of what expansions call.
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
