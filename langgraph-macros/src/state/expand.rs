//! The update type and the impls of a state.

use std::collections::BTreeSet;

use proc_macro2::{Literal, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Ident, WhereClause, parse_quote};

use super::attr::Rule;
use super::{Field, Model};

/// Everything the derive writes.
pub(super) fn expand(model: &Model<'_>) -> TokenStream {
    let names = Names::new(model);
    let update = update_type(model, &names);
    let reducers = reducers(model, &names);
    let state = state_impl(model, &names);
    let messages = has_messages(model, &names);
    let serde = serde_impls(model, &names);
    quote! {
        #update
        const _: () = {
            #reducers
            #state
            #messages
            #serde
        };
    }
}

/// The pieces that every impl needs.
struct Names<'a> {
    state: &'a Ident,
    update: Ident,
    impl_generics: syn::ImplGenerics<'a>,
    ty_generics: syn::TypeGenerics<'a>,
    /// The `where` of the struct.
    bounds: Option<&'a WhereClause>,
    /// The same, and what a state needs of its parameters.
    state_bounds: WhereClause,
}

impl<'a> Names<'a> {
    fn new(model: &'a Model<'_>) -> Self {
        let input = model.input;
        let (impl_generics, ty_generics, bounds) = input.generics.split_for_impl();
        let mut state_bounds = bounds.cloned().unwrap_or_else(no_bounds);
        for parameter in input.generics.type_params() {
            let name = &parameter.ident;
            state_bounds.predicates.push(parse_quote! {
                #name: ::core::clone::Clone
                    + ::core::marker::Send
                    + ::core::marker::Sync
                    + 'static
            });
        }
        Self {
            state: &input.ident,
            update: format_ident!("{}Update", input.ident),
            impl_generics,
            ty_generics,
            bounds,
            state_bounds,
        }
    }

    /// The struct's bounds and one more for the type of each of `fields`.
    ///
    /// The binder makes the bound one that is looked at where the impl is used, so a type that
    /// does not fulfil it is no error before.
    fn each(&self, fields: &[&Field<'_>], bound: &TokenStream) -> WhereClause {
        let mut bounds = self.bounds.cloned().unwrap_or_else(no_bounds);
        let mut seen = BTreeSet::new();
        for field in fields {
            let ty = field.ty;
            if seen.insert(ty.to_token_stream().to_string()) {
                bounds
                    .predicates
                    .push(parse_quote!(for<'__field> #ty: #bound));
            }
        }
        bounds
    }
}

fn no_bounds() -> WhereClause {
    parse_quote!(where)
}

/// `FooUpdate`, its setters, and what does not need the state.
fn update_type(model: &Model<'_>, names: &Names<'_>) -> TokenStream {
    let Names {
        state,
        update,
        impl_generics,
        ty_generics,
        bounds,
        ..
    } = names;
    let vis = &model.input.vis;
    let generics = &model.input.generics;
    let title = format!(
        " An update of [`{state}`]: what a node returns.\n\n A field that is `None` stays as it is."
    );
    let all: Vec<_> = model.fields.iter().collect();
    let declarations = model.fields.iter().map(|field| {
        let Field { ident, ty, .. } = field;
        let docs = docs(field);
        quote_spanned!(ident.span()=> #docs pub #ident: ::core::option::Option<#ty>)
    });
    let setters = model.fields.iter().map(|field| {
        let Field {
            ident, ty, name, ..
        } = field;
        let docs = setter_docs(field, name);
        let allow = quote!(#[allow(clippy::all, clippy::pedantic)]);
        let value = Ident::new("value", Span::mixed_site());
        quote! {
            #docs
            #allow
            #[must_use]
            pub fn #ident(mut self, #value: #ty) -> Self {
                self.#ident = ::core::option::Option::Some(#value);
                self
            }
        }
    });
    let nothing = model.fields.iter().map(|field| {
        let ident = field.ident;
        quote!(#ident: ::core::option::Option::None)
    });
    let everything = model.fields.iter().map(|field| {
        let ident = field.ident;
        quote!(#ident: ::core::option::Option::Some(state.#ident))
    });
    let shown = model.fields.iter().map(|field| {
        let Field { ident, name, .. } = field;
        quote! {
            if let ::core::option::Option::Some(value) = &self.#ident {
                shown.field(#name, value);
            }
        }
    });
    let same = model.fields.iter().map(|field| {
        let ident = field.ident;
        quote!(&& self.#ident == other.#ident)
    });
    let debug_bounds = names.each(&all, &quote!(::core::fmt::Debug));
    let eq_bounds = names.each(&all, &quote!(::core::cmp::PartialEq));
    let title_of_name = update.to_string();
    quote! {
        #[doc = #title]
        #[derive(::core::clone::Clone)]
        #[must_use = "an update changes nothing until a node returns it"]
        #[allow(unreachable_pub, private_interfaces, clippy::all, clippy::pedantic)]
        #vis struct #update #generics #bounds {
            #(#declarations,)*
        }

        #[automatically_derived]
        #[allow(dead_code, unreachable_pub, private_interfaces)]
        impl #impl_generics #update #ty_generics #bounds {
            #(#setters)*
        }

        #[automatically_derived]
        impl #impl_generics ::core::default::Default for #update #ty_generics #bounds {
            fn default() -> Self {
                Self { #(#nothing,)* }
            }
        }

        #[automatically_derived]
        #[allow(unused_variables)]
        impl #impl_generics ::core::convert::From<#state #ty_generics> for #update #ty_generics
        #bounds
        {
            fn from(state: #state #ty_generics) -> Self {
                Self { #(#everything,)* }
            }
        }

        #[automatically_derived]
        #[allow(unused_mut)]
        impl #impl_generics ::core::fmt::Debug for #update #ty_generics #debug_bounds {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                let mut shown = f.debug_struct(#title_of_name);
                #(#shown)*
                shown.finish()
            }
        }

        #[automatically_derived]
        #[allow(unused_variables)]
        impl #impl_generics ::core::cmp::PartialEq for #update #ty_generics #eq_bounds {
            fn eq(&self, other: &Self) -> ::core::primitive::bool {
                true #(#same)*
            }
        }
    }
}

/// The field's own documentation.
fn docs(field: &Field<'_>) -> TokenStream {
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

fn setter_docs(field: &Field<'_>, name: &str) -> TokenStream {
    let first = format!(" Writes `{name}`; {}.", field.options.rule.describe());
    let docs = &field.docs;
    if docs.is_empty() {
        return quote!(#[doc = #first]);
    }
    quote!(#[doc = #first] #[doc = ""] #(#docs)*)
}

/// One function per reduced field: the only place where a reducer is mentioned and checked.
fn reducers(model: &Model<'_>, names: &Names<'_>) -> TokenStream {
    let root = &model.root;
    let Names {
        impl_generics,
        state_bounds,
        ..
    } = names;
    model
        .fields
        .iter()
        .filter(|field| field.is_reduced())
        .map(|field| {
            let function = reducer_name(field);
            let ty = field.ty;
            let value = match &field.options.rule {
                Rule::Replace => return TokenStream::new(),
                Rule::BuiltIn { name, index } => {
                    let path = Rule::built_in(root, name, *index);
                    quote_spanned!(name.span()=> #root::__private::reducer::<#ty, _, _>(#path))
                }
                Rule::Closure(closure) => {
                    quote!(#root::__private::closure_reducer::<#ty, _>(#closure))
                }
                Rule::Value(value) => {
                    // So that rustc knows the names that a misspelt one may have meant.
                    let names = value_is_a_name(value).then(|| {
                        quote! {
                            #[allow(unused_imports)]
                            use #root::__private::reducers::*;
                        }
                    });
                    let made =
                        quote_spanned!(value.span()=> #root::__private::reducer::<#ty, _, _>(#value));
                    quote!(#names #made)
                }
            };
            quote! {
                #[allow(non_snake_case)]
                fn #function #impl_generics() -> impl #root::state::Reducer<#ty> #state_bounds {
                    #value
                }
            }
        })
        .collect()
}

fn value_is_a_name(value: &syn::Expr) -> bool {
    matches!(value, syn::Expr::Path(path) if path.path.get_ident().is_some())
}

fn reducer_name(field: &Field<'_>) -> Ident {
    Ident::new(&format!("__reducer_{}", field.name), Span::mixed_site())
}

fn state_impl(model: &Model<'_>, names: &Names<'_>) -> TokenStream {
    let root = &model.root;
    let Names {
        state,
        update,
        impl_generics,
        ty_generics,
        state_bounds,
        ..
    } = names;
    let turbofish = ty_generics.as_turbofish();
    let mut fields = TokenStream::new();
    let mut written = TokenStream::new();
    let mut try_merge = TokenStream::new();
    let mut merge = TokenStream::new();
    let mut overwrite = TokenStream::new();
    let mut discard = TokenStream::new();
    let mut reset = TokenStream::new();
    let mut prepare = TokenStream::new();
    let mut messages = TokenStream::new();
    for (index, field) in model.fields.iter().enumerate() {
        let Field {
            ident,
            name,
            ty,
            options,
            ..
        } = field;
        let index = Literal::usize_unsuffixed(index);
        let set = quote! {
            if let ::core::option::Option::Some(value) = update.#ident {
                self.#ident = value;
            }
        };
        let mut kind = quote!(#root::state::Field::plain(#name));
        written.extend(quote! {
            if update.#ident.is_some() {
                written.insert(#index);
            }
        });
        discard.extend(quote! {
            if fields.contains(#index) {
                update.#ident = ::core::option::Option::None;
            }
        });
        if field.is_reduced() {
            kind.extend(quote!(.reduced()));
            let reducer = reducer_name(field);
            let at_type = root.at(field.type_span());
            let at_type = quote_spanned!(field.type_span()=> #at_type::__private::merge_field);
            try_merge.extend(quote! {
                #at_type(&#reducer #turbofish(), &mut self.#ident, update.#ident, #name)?;
            });
            merge.extend(quote! {
                #ident: #root::__private::merged(&#reducer #turbofish(), self.#ident, update.#ident),
            });
            prepare.extend(quote! {
                if let ::core::option::Option::Some(value) = &mut update.#ident {
                    #root::state::Reducer::prepare(&#reducer #turbofish(), value);
                }
            });
        } else {
            try_merge.extend(set.clone());
            merge.extend(quote!(#ident: update.#ident.unwrap_or(self.#ident),));
        }
        overwrite.extend(set);
        if options.ephemeral {
            kind.extend(quote!(.ephemeral()));
        }
        if options.untracked {
            kind.extend(quote!(.untracked()));
        }
        if options.ephemeral || options.untracked {
            let default =
                quote_spanned!(field.type_span()=> <#ty as ::core::default::Default>::default());
            reset.extend(quote! {
                if fields.contains(#index) {
                    self.#ident = #default;
                }
            });
        }
        if options.rule.is_messages() {
            messages.extend(quote!(#root::__private::see_messages(&update.#ident, see);));
        }
        fields.extend(quote!(#kind,));
    }
    let mut output_bounds = state_bounds.clone();
    output_bounds.predicates.push(parse_quote! {
        for<'__state> #state #ty_generics: #root::state::State<Update = Self>
    });
    // At the derive, as the rest of the header: a bound that a state misses is then one error.
    let mut this = (*state).clone();
    this.set_span(Span::call_site());
    let merge = if model.is_understood() {
        quote!(Self { #merge })
    } else {
        quote!(self)
    };
    quote! {
        #[automatically_derived]
        #[allow(unused_variables, unused_mut)]
        impl #impl_generics #root::state::State for #this #ty_generics #state_bounds {
            type Update = #update #ty_generics;

            fn fields(&self) -> &[#root::state::Field] {
                const FIELDS: &[#root::state::Field] = &[#fields];
                FIELDS
            }

            fn written(&self, update: &Self::Update) -> #root::state::FieldSet {
                let mut written = #root::state::FieldSet::new();
                #written
                written
            }

            fn try_merge(
                &mut self,
                update: Self::Update,
            ) -> ::core::result::Result<(), #root::state::ReducerError> {
                #try_merge
                ::core::result::Result::Ok(())
            }

            fn overwrite(&mut self, update: Self::Update) {
                #overwrite
            }

            fn discard(&self, update: &mut Self::Update, fields: &#root::state::FieldSet) {
                #discard
            }

            fn reset(&mut self, fields: &#root::state::FieldSet) {
                #reset
            }

            fn prepare(&self, update: &mut Self::Update) {
                #prepare
            }

            fn messages(
                update: &Self::Update,
                see: &mut dyn ::core::ops::FnMut(&#root::message::Message),
            ) {
                #messages
            }

            fn merge(self, update: Self::Update) -> Self {
                #merge
            }
        }

        #[automatically_derived]
        impl #impl_generics #root::node::IntoOutput<#state #ty_generics> for #update #ty_generics
        #output_bounds
        {
            fn into_output(
                self,
            ) -> ::core::result::Result<#root::node::Output<#state #ty_generics>, #root::node::NodeError>
            {
                ::core::result::Result::Ok(#root::node::Output::update(self))
            }
        }
    }
}

/// Where the chat is, if the state holds exactly one.
fn has_messages(model: &Model<'_>, names: &Names<'_>) -> TokenStream {
    let root = &model.root;
    let Names {
        state,
        update,
        impl_generics,
        ty_generics,
        state_bounds,
        ..
    } = names;
    let mut chats = model
        .fields
        .iter()
        .filter(|field| field.options.rule.is_messages());
    let (Some(chat), None) = (chats.next(), chats.next()) else {
        return TokenStream::new();
    };
    let Field { ident, ty, .. } = chat;
    quote! {
        #[automatically_derived]
        impl #impl_generics #root::state::HasMessages for #state #ty_generics #state_bounds {
            fn messages(&self) -> &[#root::message::Message] {
                #root::__private::the_messages(&self.#ident)
            }

            fn update_from_messages(
                messages: #root::__private::Vec<#root::message::Message>,
            ) -> #update #ty_generics {
                let mut update = <#update #ty_generics as ::core::default::Default>::default();
                update.#ident = #root::__private::written_messages::<#ty>(messages);
                update
            }
        }
    }
}

/// How an update is stored and sent: a map of the fields that are there.
fn serde_impls(model: &Model<'_>, names: &Names<'_>) -> TokenStream {
    let root = &model.root;
    let Names {
        update,
        impl_generics,
        ty_generics,
        ..
    } = names;
    let tracked: Vec<_> = model
        .fields
        .iter()
        .filter(|field| !field.options.untracked)
        .collect();
    let serde = quote!(#root::__private::serde);
    let counted = tracked.iter().map(|field| {
        let ident = field.ident;
        quote!(+ <::core::primitive::usize as ::core::convert::From<_>>::from(self.#ident.is_some()))
    });
    let entries = tracked.iter().map(|field| {
        let Field { ident, name, .. } = field;
        quote! {
            if let ::core::option::Option::Some(value) = &self.#ident {
                #serde::ser::SerializeMap::serialize_entry(&mut map, #name, value)?;
            }
        }
    });
    let reads = tracked.iter().map(|field| {
        let Field { ident, name, .. } = field;
        quote! {
            #name => {
                self.#ident = ::core::option::Option::Some(
                    #serde::de::MapAccess::next_value(map)?,
                );
            }
        }
    });
    let write_bounds = names.each(&tracked, &quote!(#serde::Serialize));
    let read_bounds = names.each(&tracked, &quote!(#serde::Deserialize<'de>));
    let mut with_lifetime = model.input.generics.clone();
    with_lifetime.params.insert(0, parse_quote!('de));
    let (read_generics, ..) = with_lifetime.split_for_impl();
    quote! {
        #[automatically_derived]
        #[allow(unused_mut)]
        impl #impl_generics #serde::Serialize for #update #ty_generics #write_bounds {
            fn serialize<__S: #serde::Serializer>(
                &self,
                serializer: __S,
            ) -> ::core::result::Result<__S::Ok, __S::Error> {
                let count = 0_usize #(#counted)*;
                let mut map = #serde::Serializer::serialize_map(
                    serializer,
                    ::core::option::Option::Some(count),
                )?;
                #(#entries)*
                #serde::ser::SerializeMap::end(map)
            }
        }

        #[automatically_derived]
        impl #read_generics #root::__private::ReadField<'de> for #update #ty_generics #read_bounds {
            fn read<__A: #serde::de::MapAccess<'de>>(
                &mut self,
                name: &::core::primitive::str,
                map: &mut __A,
            ) -> ::core::result::Result<::core::primitive::bool, __A::Error> {
                match name {
                    #(#reads)*
                    _ => return ::core::result::Result::Ok(false),
                }
                #[allow(unreachable_code)]
                ::core::result::Result::Ok(true)
            }
        }

        #[automatically_derived]
        impl #read_generics #serde::Deserialize<'de> for #update #ty_generics #read_bounds {
            fn deserialize<__D: #serde::Deserializer<'de>>(
                deserializer: __D,
            ) -> ::core::result::Result<Self, __D::Error> {
                #root::__private::read_fields(deserializer)
            }
        }
    }
}
