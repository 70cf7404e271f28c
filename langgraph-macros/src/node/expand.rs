//! The expansion of a node function.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{GenericParam, Generics, Ident, Lifetime, Pat, ReturnType, Type, parse_quote_spanned};

use super::answer;
use super::attr::NodeOptions;
use super::checked;
use super::expansion::{Expansion, Scope};
use super::lifetime::{one_lifetime, shared_lifetime};
use super::metadata::{meta, read_needs};
use super::signature::{Argument, NodeFn, Role, output_span};
use crate::function::{split_attributes, type_span};
use crate::paths::Root;

/// Returns the answer of a node that names the fields that it writes.
fn written(
    node: &NodeFn<'_>,
    options: &NodeOptions,
    output: &Type,
    call: &TokenStream,
) -> Option<answer::Written> {
    let called = if node.is_async() {
        quote!(#call.await)
    } else {
        call.clone()
    };
    match (&options.writes, node.state) {
        _ if options.writes_unread => Some(answer::nothing(&called)),
        (Some(fields), Some(state)) => {
            let root = &options.root;
            Some(answer::written(root, state, fields, Some(output), &called))
        }
        _ => None,
    }
}

/// Prints the function, its marker and the marker's metadata.
pub(super) fn expand(node: &NodeFn<'_>, options: &NodeOptions, place: Scope<'_>) -> Expansion {
    if !node.is_async() && !options.need_a_marker() {
        return super::sync::expand(node, options, place);
    }
    let root = &options.root;
    let marker = marker(&node.item.sig.ident, place);
    let vis = &node.item.vis;
    let name = &node.item.sig.ident;
    let needs = read_needs(node, &marker, place);
    let (outer_attrs, inner_attrs) = split_attributes(&node.item.attrs);
    let generics = without_lifetimes(&node.item.sig.generics);
    let mut roles = node.arguments.iter().map(|argument| argument.role);
    let borrows = roles.any(|role| role != Role::Owned);
    let names = outer_names(&node.arguments);
    let arguments = node.arguments.iter();
    let types = arguments.clone().map(|argument| one_lifetime(argument.ty));
    let checks = arguments
        .zip(&names)
        .map(|(argument, name)| check(root, argument, name));
    let output = node.output.map_or_else(|| no_output(node), one_lifetime);
    let lifetime = if borrows {
        shared_lifetime()
    } else {
        Lifetime::new("'static", Span::call_site())
    };
    let call = call(name, &names, &generics, place);
    let written = written(node, options, &output, &call);
    let is_whole = written.is_none();
    let (answer, body) = match written {
        Some(answer::Written { ty, value }) => (ty, quote!(async move { #value })),
        None if node.is_async() => (output, call),
        None => (output, quote!(async move { #call })),
    };
    let known = checked::known(node, root, place, &marker, &answer);
    let is_known = known.is_some();
    let meta = meta(
        node,
        options,
        &marker,
        place,
        needs.as_ref(),
        known.as_ref(),
    );
    let (future, made) = future(node, root, &marker, is_known, &lifetime, &answer);
    let owned_check = owned_check(node, root, &answer);
    let mut outer_generics = generics.clone();
    if borrows {
        let shared = syn::LifetimeParam::new(shared_lifetime());
        outer_generics
            .params
            .insert(0, GenericParam::Lifetime(shared));
    }
    let (outer_params, _, outer_bounds) = outer_generics.split_for_impl();
    let mut inner = inner(node, inner_attrs, (is_known && is_whole).then_some(&marker));
    if let Some(needs) = needs {
        *inner.block = needs.block;
    }
    let made = quote_spanned!(name.span()=> #made(#body));
    let (within, without) = placed(inner, name, place);
    let function = quote! {
        #(#outer_attrs)*
        #[allow(clippy::type_complexity)]
        #vis fn #name #outer_params(#(#names: #types),*) -> #future #outer_bounds {
            #within
            #(#checks)*
            #owned_check
            #made
        }

        #without
    };
    Expansion {
        function,
        beside: meta,
    }
}

/// Returns the type of a node's output that does not name one: `()`. A state that is none is reported where it stands.
fn no_output(node: &NodeFn<'_>) -> Type {
    let place = node
        .state
        .map_or_else(|| node.item.sig.ident.span(), type_span);
    parse_quote_spanned!(place=> ())
}

/// Prints the call of the function that the user wrote.
fn call(name: &Ident, arguments: &[Ident], generics: &Generics, place: Scope<'_>) -> TokenStream {
    let (_, turbofish, _) = generics.split_for_impl();
    let turbofish = turbofish.as_turbofish();
    match place {
        Scope::Module => quote_spanned!(name.span()=> #name #turbofish(#(#arguments),*)),
        Scope::Block(..) => {
            let hidden = hidden(name);
            quote_spanned!(name.span()=> Self::#hidden #turbofish(#(#arguments),*))
        }
    }
}

/// Prints the function that the user wrote: within the one that takes its name, or beside it.
///
/// A function inside a function does not know `Self`: in a block it becomes a sibling.
fn placed(
    mut inner: syn::ItemFn,
    name: &Ident,
    place: Scope<'_>,
) -> (TokenStream, Option<TokenStream>) {
    match place {
        Scope::Module => (quote!(#[allow(clippy::unused_async)] #inner), None),
        Scope::Block(..) => {
            inner.sig.ident = hidden(name);
            let without = quote!(#[doc(hidden)] #[allow(clippy::unused_async)] #inner);
            (TokenStream::new(), Some(without))
        }
    }
}

/// Returns the function that the user wrote. With the `marker` that knows the function's output, it names
/// this output: rustc would report a type that does not exist here again, with another proposal.
fn inner(node: &NodeFn<'_>, attrs: Vec<syn::Attribute>, marker: Option<&Ident>) -> syn::ItemFn {
    let mut inner = node.item.clone();
    inner.attrs = attrs;
    inner.vis = syn::Visibility::Inherited;
    if let (ReturnType::Type(_, output), Some(marker)) = (&mut inner.sig.output, marker) {
        let mut answers = checked::answers(marker);
        answers.set_span(output.span());
        **output = Type::Path(syn::TypePath {
            attrs: Vec::new(),
            qself: None,
            path: answers.into(),
        });
    }
    inner
}

/// Returns the name of the function that the user wrote in a block.
fn hidden(name: &Ident) -> Ident {
    let plain = syn::ext::IdentExt::unraw(name);
    format_ident!("__{}_body", plain, span = name.span())
}

/// Returns the type of the future that the function returns, and its constructor.
fn future(
    node: &NodeFn<'_>,
    root: &Root,
    marker: &Ident,
    is_known: bool,
    lifetime: &Lifetime,
    answer: &Type,
) -> (TokenStream, TokenStream) {
    match node.state {
        Some(state) if !node.is_owned() => {
            let state = one_lifetime(state);
            let at_state = root.at(state.span());
            let marker = if is_known {
                quote!(#root::__private::Checked<#marker>)
            } else {
                marker.to_token_stream()
            };
            let future = quote_spanned!(state.span()=>
                #at_state::node::NodeFuture<#lifetime, #state, #answer, #marker>);
            let root = root.at(output_span(node));
            let made = quote_spanned!(output_span(node)=>
                #root::__private::node_future::<#state, #answer, #marker>);
            (future, made)
        }
        _ => {
            let answer = if is_known {
                let mut known = checked::answers(marker);
                known.set_span(output_span(node));
                known.into_token_stream()
            } else {
                answer.to_token_stream()
            };
            let future = quote!(#root::node::OwnedFuture<#lifetime, #answer, #marker>);
            let made = quote!(#root::node::OwnedFuture::<#lifetime, #answer, #marker>::new);
            (future, made)
        }
    }
}

/// Prints an obligation that fails at the output type, if the future does not check it.
fn owned_check(node: &NodeFn<'_>, root: &Root, answer: &Type) -> TokenStream {
    match node.state {
        Some(state) if node.is_owned() => {
            let root = root.at(output_span(node));
            let answers = quote_spanned!(output_span(node)=>
                #root::__private::answers::<#state, #answer>);
            quote!(#answers();)
        }
        _ => TokenStream::new(),
    }
}

/// Returns the hidden type with the metadata of the node.
fn marker(name: &Ident, place: Scope<'_>) -> Ident {
    let plain = syn::ext::IdentExt::unraw(name);
    match place {
        Scope::Module => format_ident!("__{}_node", plain, span = name.span()),
        Scope::Block(of, _) => format_ident!("__{}_{}_node", of, plain, span = name.span()),
    }
}

fn without_lifetimes(generics: &Generics) -> Generics {
    let mut generics = generics.clone();
    generics.params = generics
        .params
        .into_iter()
        .filter(|param| !matches!(param, GenericParam::Lifetime(_)))
        .collect();
    if let Some(bounds) = &mut generics.where_clause {
        bounds.predicates = std::mem::take(&mut bounds.predicates)
            .into_iter()
            .filter(|predicate| !matches!(predicate, syn::WherePredicate::Lifetime(_)))
            .collect();
    }
    generics
}

/// Returns a name without a leading underscore, which means that the body does not use it: the call does. `None` if
/// nothing is left.
fn used(name: &Ident) -> Option<Ident> {
    let written = name.to_string();
    if !written.starts_with('_') {
        return Some(name.clone());
    }
    syn::parse_str(written.trim_start_matches('_')).ok()
}

/// Returns the names of the arguments in the outer function, which documentation shows.
pub(super) fn outer_names(arguments: &[Argument<'_>]) -> Vec<Ident> {
    let mut names: Vec<Ident> = Vec::new();
    for argument in arguments {
        let role = match argument.role {
            Role::State => "state",
            Role::Owned => "item",
            Role::Context => "cx",
            Role::StateOrContext => "borrowed",
        };
        let name = match argument.pat {
            Pat::Ident(pat) => used(&pat.ident),
            _ => None,
        };
        let mut name = name.unwrap_or_else(|| Ident::new(role, Span::mixed_site()));
        if names.contains(&name) {
            name = format_ident!("other_{}", syn::ext::IdentExt::unraw(&name));
        }
        while names.contains(&name) {
            name = format_ident!("{name}_");
        }
        name.set_span(Span::mixed_site());
        names.push(name);
    }
    names
}

/// Prints an obligation that fails at the context's type if it is wrong.
pub(super) fn check(root: &Root, argument: &Argument<'_>, name: &Ident) -> TokenStream {
    if argument.role != Role::Context {
        return TokenStream::new();
    }
    let span = type_span(argument.ty);
    let root = root.at(span);
    let cx = Ident::new(&name.to_string(), span.resolved_at(Span::mixed_site()));
    quote_spanned!(span=> let _: &#root::node::Context = #cx;)
}
