//! How an update holds what it writes: a field for each field of the state, or a list if these are many.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};

use super::{Field, StateModel};

/// The most fields of a state whose update has a field for each of them.
///
/// A turn that writes one of so many texts takes less than half as long with a list, and one that writes four takes two
/// thirds; with half as many fields the lists gain little, and fields can be read.
const MOST_FIELDS: usize = 32;

/// The layout of an update.
pub(super) struct Layout<'a> {
    model: &'a StateModel<'a>,
    /// The enum of the parts, if the update is a list of them.
    part: Option<Ident>,
}

/// How a visit takes the parts of an update.
#[derive(Clone, Copy)]
pub(super) enum Access {
    Shared,
    Mutable,
    Owned,
}

/// What a visit does with `value`, the part of a field, for each field that it does not skip.
pub(super) type Bodies<'m> = Vec<(&'m Field<'m>, TokenStream)>;

impl<'a> Layout<'a> {
    pub(super) fn new(model: &'a StateModel<'_>) -> Self {
        let is_list = model.fields.len() > MOST_FIELDS;
        Self {
            model,
            part: is_list.then(|| format_ident!("__{}Part", model.input.ident)),
        }
    }

    /// Returns the enum of the parts, if the update is a list of them.
    pub(super) fn part(&self) -> Option<&Ident> {
        self.part.as_ref()
    }

    /// Returns what the documentation of the update says of its fields.
    pub(super) fn docs(&self) -> &'static str {
        match self.part {
            None => "A field that is `None` stays as it is.",
            Some(_) => {
                "It is a list of what it writes, because the state has many fields: it has a setter for each, and \
                 none of them as a field."
            }
        }
    }

    /// Prints the fields of the struct.
    pub(super) fn fields(&self) -> TokenStream {
        let root = &self.model.root;
        if let Some(part) = &self.part {
            let (_, ty_generics, _) = self.model.input.generics.split_for_impl();
            return quote!(parts: #root::__private::Parts<#part #ty_generics>);
        }
        let fields = self.model.fields.iter().map(|field| {
            let (ident, part) = (field.ident, field.part(root));
            let docs = field_docs(field);
            quote_spanned!(ident.span()=> #docs pub #ident: ::core::option::Option<#part>,)
        });
        fields.collect()
    }

    /// Prints an update of nothing.
    pub(super) fn nothing(&self) -> TokenStream {
        if self.part.is_some() {
            return quote!(Self {
                parts: ::core::default::Default::default()
            });
        }
        let fields = self.idents();
        quote!(Self { #(#fields: ::core::option::Option::None,)* })
    }

    /// Prints an update of all fields, to their values in `state`.
    pub(super) fn everything(&self) -> TokenStream {
        let root = &self.model.root;
        let wholes = self.model.fields.iter().map(|field| {
            let ident = field.ident;
            field.whole_part(root, &quote!(state.#ident))
        });
        if self.part.is_some() {
            let count = self.model.fields.len();
            let update = quote!(update);
            let sets = self.model.fields.iter().zip(wholes);
            let sets = sets.map(|(field, whole)| self.set(&update, field, &whole));
            return quote! {
                let mut update = Self { parts: #root::__private::Parts::with_capacity(#count) };
                #(#sets)*
                update
            };
        }
        let fields = self.idents();
        quote!(Self { #(#fields: ::core::option::Option::Some(#wholes),)* })
    }

    /// Prints a clone of `self`.
    pub(super) fn cloned(&self) -> TokenStream {
        if self.part.is_some() {
            return quote!(Self {
                parts: ::core::clone::Clone::clone(&self.parts)
            });
        }
        let (root, fields) = (&self.model.root, self.idents());
        let fields =
            fields.map(|field| quote!(#field: #root::__private::CloneField(&self.#field).cloned()));
        quote! {
            // The state's own `Clone` reports a field that has none.
            use #root::__private::NotClone as _;
            Self { #(#fields,)* }
        }
    }

    /// Prints whether `self` and `other` write the same.
    pub(super) fn equality(&self) -> TokenStream {
        if self.part.is_some() {
            return quote!(self.parts == other.parts);
        }
        let fields = self.idents();
        quote!(true #(&& self.#fields == other.#fields)*)
    }

    /// Prints whether `self` writes nothing.
    pub(super) fn emptiness(&self) -> TokenStream {
        if self.part.is_some() {
            return quote!(self.parts.is_empty());
        }
        let fields = self.idents();
        quote!(true #(&& self.#fields.is_none())*)
    }

    /// Prints how many of these fields `self` writes.
    pub(super) fn count(&self, counted: &[&Field<'_>]) -> TokenStream {
        let Some(part) = &self.part else {
            let fields = counted.iter().map(|field| field.ident);
            let usize = quote!(<::core::primitive::usize as ::core::convert::From<_>>);
            return quote!(0_usize #(+ #usize::from(self.#fields.is_some()))*);
        };
        if counted.len() == self.model.fields.len() {
            return quote!(self.parts.len());
        }
        let fields = counted.iter().map(|field| field.ident);
        quote! {
            ::core::iter::Iterator::count(::core::iter::Iterator::filter(
                self.parts.iter(),
                |part| ::core::matches!(part, #(#part::#fields(_))|*),
            ))
        }
    }

    /// Prints the set of the fields that `update` writes.
    pub(super) fn written(&self) -> TokenStream {
        if self.part.is_some() {
            return quote!(update.parts.written());
        }
        let (root, fields) = (&self.model.root, self.idents());
        let places = super::places();
        quote! {
            let mut written = #root::state::FieldSet::new();
            #(if update.#fields.is_some() {
                written.insert(#places);
            })*
            written
        }
    }

    /// Prints how `update` loses what it writes to `fields`.
    pub(super) fn discard(&self) -> TokenStream {
        if self.part.is_some() {
            return quote!(update.parts.discard(fields););
        }
        let (fields, places) = (self.idents(), super::places());
        quote! {
            #(if fields.contains(#places) {
                update.#fields = ::core::option::Option::None;
            })*
        }
    }

    /// Prints how `update` gets the part of a field.
    pub(super) fn set(
        &self,
        update: &TokenStream,
        field: &Field<'_>,
        value: &TokenStream,
    ) -> TokenStream {
        let ident = field.ident;
        match &self.part {
            None => quote!(#update.#ident = ::core::option::Option::Some(#value);),
            Some(part) => quote!(#update.parts.set(#part::#ident(#value));),
        }
    }

    /// Prints a visit of the parts of `update` that are there, in the order of the fields.
    pub(super) fn visit(
        &self,
        update: &TokenStream,
        access: Access,
        bodies: &Bodies<'_>,
    ) -> TokenStream {
        let (borrow, iter) = match access {
            Access::Shared => (quote!(&), quote!(.iter())),
            Access::Mutable => (quote!(&mut), quote!(.iter_mut())),
            Access::Owned => (TokenStream::new(), TokenStream::new()),
        };
        let Some(part) = &self.part else {
            let visit = |(field, body): &(&Field<'_>, TokenStream)| {
                let ident = field.ident;
                quote! {
                    if let ::core::option::Option::Some(value) = #borrow #update.#ident {
                        #body
                    }
                }
            };
            return bodies.iter().map(visit).collect();
        };
        if bodies.is_empty() {
            return TokenStream::new();
        }
        let arms = bodies.iter().map(|(field, body)| {
            let ident = field.ident;
            quote!(#part::#ident(value) => { #body })
        });
        let rest = (bodies.len() < self.model.fields.len()).then(|| quote!(_ => {}));
        quote! {
            for part in #update.parts #iter {
                match part {
                    #(#arms)*
                    #rest
                }
            }
        }
    }

    fn idents(&self) -> impl Iterator<Item = &'a Ident> {
        self.model.fields.iter().map(|field| field.ident)
    }
}

/// Returns the field's own documentation, for the field of an update.
fn field_docs(field: &Field<'_>) -> TokenStream {
    if field.docs.is_empty() {
        let text = format!(
            " What is written to `{}`: {}.",
            field.name,
            field.options.rule.describe()
        );
        return quote!(#[doc = #text]);
    }
    let docs = &field.docs;
    quote!(#(#docs)*)
}
