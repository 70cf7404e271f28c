//! The derive in process: what it says, and what it writes.
// Snapshots are written by the tests themselves.
#![allow(clippy::needless_raw_string_hashes, clippy::too_many_lines)]

use expect_test::{Expect, expect};
use proc_macro2::TokenStream;

use crate::diag::messages_in;

#[track_caller]
fn says(text: &str, messages: &[&str]) {
    let input: TokenStream = text.parse().expect("the text of a test is tokens");
    assert_eq!(messages_in(&super::derive(input)), messages, "{text}");
}

#[track_caller]
#[allow(clippy::needless_pass_by_value)] // `expect!` is written in place
fn expands(text: &str, expected: Expect) {
    let input: TokenStream = text.parse().expect("the text of a test is tokens");
    let file = syn::parse2(super::derive(input)).expect("the expansion is a list of items");
    expected.assert_eq(&prettyplease::unparse(&file));
}

#[test]
fn states_without_mistakes_say_nothing() {
    for text in [
        "struct S {}",
        "struct S { a: u8 }",
        "pub(crate) struct S<T: Ord = u8, const N: usize = 1> where T: Eq { a: [T; N] }",
        "#[state(crate = lg)] struct S { #[reducer(append)] r#type: Vec<u8> }",
        "struct S { #[reducer(|a, b| a + b)] a: u8, #[reducer(a::B)] b: u8, #[reducer(f::<u8>())] c: u8 }",
        "struct S { #[state(ephemeral, untracked)] #[reducer(max)] a: u8, #[state(untracked,)] b: u8 }",
    ] {
        says(text, &[]);
    }
}

#[test]
fn only_a_struct_with_names_is_a_state() {
    says(
        "enum S { A }",
        &[
            "a state is a struct with named fields, found an enum: put it into a field, or wrap a value that is replaced whole in `Plain<_>`",
        ],
    );
    says(
        "union S { a: u8 }",
        &[
            "a state is a struct with named fields, found a union: put it into a field, or wrap a value that is replaced whole in `Plain<_>`",
        ],
    );
    says(
        "struct S(u8);",
        &[
            "a state's fields have names, found a tuple struct: name the fields, or wrap a value that is replaced whole in `Plain<_>`",
        ],
    );
    says(
        "struct S;",
        &["a state has fields, found a unit struct: give it fields, or write `{}` for none"],
    );
    says(
        "struct S<'a> { a: &'a str }",
        &["a state owns its data, found a lifetime: it outlives the call that started the run"],
    );
}

#[test]
fn every_mistake_is_told() {
    says(
        "#[reducer(x)] #[state(ephemeral)] struct S {
            #[reducer] a: u8,
            #[reducer = \"add\"] b: u8,
            #[reducer(\"add\")] c: u8,
            #[reducer(|a| a)] d: u8,
            #[reducer(add, max)] e: u8,
            #[reducer(add)] #[reducer(max)] f: u8,
            #[reducer(1)] g: u8,
            #[reducer(|a, b|)] h: u8,
            #[state] i: u8,
            #[state(untraked)] j: u8,
            #[state(fast)] k: u8,
            #[state(ephemeral = 1)] l: u8,
            #[state(crate = x)] m: u8,
            #[state(reducer = add)] n: u8,
        }",
        &[
            "`#[reducer(…)]` belongs on a field, not on the struct",
            "`ephemeral` belongs on a field, not on the struct",
            "expected a reducer, such as `#[reducer(append)]`, `#[reducer(my_function)]` or `#[reducer(|old, new| old + new)]`",
            "a reducer stands in parentheses: write `#[reducer(add)]`",
            "a reducer is a name, a function or a closure, not a literal: write `#[reducer(add)]`",
            "a reducer takes two values, the current one and the update: `|current, update| …`; found 1",
            "a field has one reducer; found more after it",
            "a field has one reducer, found a second one",
            "the first one is here",
            "a reducer is a name, a function or a closure, not a literal",
            "unexpected end of input, expected an expression",
            "expected a list of options, such as `#[state(ephemeral)]`",
            "unknown option of a field, did you mean `untracked`?",
            "unknown option of a field, expected `ephemeral`, `untracked` or `alias`",
            "`ephemeral` takes no value",
            "`crate = …` belongs on the struct, not on a field",
            "a reducer is an attribute of its own: `#[reducer(…)]` on the field",
        ],
    );
}

#[test]
fn versions_and_aliases_are_checked() {
    says(
        "#[state(version = 3, migrate = old::read)]
        struct S { #[state(alias = \"was\", alias = \"once\")] a: u8, #[state(ephemeral, alias = \"b\")] c: u8 }",
        &[],
    );
    says(
        "#[state(version = 0, version = -1, version = \"2\")]
        #[state(version = 1, version = 2, migrate = a, migrate = b)]
        struct S { #[state(version = 1)] a: u8, #[state(alias)] b: u8, #[state(alias = b)] c: u8 }",
        &[
            "expected a number from 1 on, such as `version = 1`; a state without it has version 0",
            "`version` is given twice",
            "`version = …` belongs on the struct, not on a field",
            "expected `=`",
            "expected string literal",
        ],
    );
    says(
        "#[state(migrate = read)]
        struct S {
            #[state(alias = \"b\", alias = \"a\")] a: u8,
            #[state(alias = \"old\")] b: u8,
            #[state(alias = \"old\")] c: u8,
            #[state(untracked, alias = \"handle\")] d: u8,
        }",
        &[
            "`migrate` reads what older versions have stored, and this state has no version: add `version = 1`",
            "`b` is a field of its own: what was stored under that name would be read into one of two fields",
            "this one",
            "`a` is the field's own name already",
            "`old` is an alias already",
            "the first one is here",
            "an alias is a name under which the field was stored, and an untracked field never is",
        ],
    );
}

#[test]
fn a_mistake_keeps_the_update_and_the_state() {
    for text in [
        "enum S { A }",
        "struct S(u8);",
        "struct S { #[reducer(1)] a: u8 }",
        "#[state(x)] struct S { #[state(y)] a: u8 }",
    ] {
        let input: TokenStream = text.parse().unwrap();
        let output = super::derive(input).to_string();
        assert!(output.contains("struct SUpdate"), "{text}");
        assert!(output.contains("State for S"), "{text}");
    }
}

#[test]
fn a_state_of_each_kind_of_field() {
    expands(
        "/// What is known.
        pub struct Notes<T> {
            /// Lines.
            #[reducer(append)]
            log: Vec<T>,
            #[reducer(|a, b| a + b)]
            total: i64,
            #[reducer(newest)]
            last: i64,
            #[state(untracked)]
            handle: Handle,
            plain: String,
        }",
        expect![[r#"
            /** An update of [`Notes`]: what a node returns.

             A field that is `None` stays as it is.*/
            #[derive(::core::clone::Clone)]
            #[must_use = "an update changes nothing until a node returns it"]
            #[allow(unreachable_pub, private_interfaces, clippy::all, clippy::pedantic)]
            pub struct NotesUpdate<T> {
                /// Lines.
                pub log: ::core::option::Option<Vec<T>>,
                /// What is written to `total`: merged by a closure.
                pub total: ::core::option::Option<i64>,
                /// What is written to `last`: merged by `newest`.
                pub last: ::core::option::Option<i64>,
                /// What is written to `handle`: replaces the value.
                pub handle: ::core::option::Option<Handle>,
                /// What is written to `plain`: replaces the value.
                pub plain: ::core::option::Option<String>,
            }
            #[automatically_derived]
            #[allow(dead_code, unreachable_pub, private_interfaces)]
            impl<T> NotesUpdate<T> {
                /// Writes `log`; merged by `append`.
                ///
                /// Lines.
                #[allow(clippy::all, clippy::pedantic)]
                #[must_use]
                pub fn log(mut self, value: Vec<T>) -> Self {
                    self.log = ::core::option::Option::Some(value);
                    self
                }
                /// Writes `total`; merged by a closure.
                #[allow(clippy::all, clippy::pedantic)]
                #[must_use]
                pub fn total(mut self, value: i64) -> Self {
                    self.total = ::core::option::Option::Some(value);
                    self
                }
                /// Writes `last`; merged by `newest`.
                #[allow(clippy::all, clippy::pedantic)]
                #[must_use]
                pub fn last(mut self, value: i64) -> Self {
                    self.last = ::core::option::Option::Some(value);
                    self
                }
                /// Writes `handle`; replaces the value.
                #[allow(clippy::all, clippy::pedantic)]
                #[must_use]
                pub fn handle(mut self, value: Handle) -> Self {
                    self.handle = ::core::option::Option::Some(value);
                    self
                }
                /// Writes `plain`; replaces the value.
                #[allow(clippy::all, clippy::pedantic)]
                #[must_use]
                pub fn plain(mut self, value: String) -> Self {
                    self.plain = ::core::option::Option::Some(value);
                    self
                }
            }
            #[automatically_derived]
            impl<T> ::core::default::Default for NotesUpdate<T> {
                fn default() -> Self {
                    Self {
                        log: ::core::option::Option::None,
                        total: ::core::option::Option::None,
                        last: ::core::option::Option::None,
                        handle: ::core::option::Option::None,
                        plain: ::core::option::Option::None,
                    }
                }
            }
            #[automatically_derived]
            #[allow(unused_variables)]
            impl<T> ::core::convert::From<Notes<T>> for NotesUpdate<T> {
                fn from(state: Notes<T>) -> Self {
                    Self {
                        log: ::core::option::Option::Some(state.log),
                        total: ::core::option::Option::Some(state.total),
                        last: ::core::option::Option::Some(state.last),
                        handle: ::core::option::Option::Some(state.handle),
                        plain: ::core::option::Option::Some(state.plain),
                    }
                }
            }
            #[automatically_derived]
            #[allow(unused_mut)]
            impl<T> ::core::fmt::Debug for NotesUpdate<T>
            where
                for<'__field> Vec<T>: ::core::fmt::Debug,
                for<'__field> i64: ::core::fmt::Debug,
                for<'__field> Handle: ::core::fmt::Debug,
                for<'__field> String: ::core::fmt::Debug,
            {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut shown = f.debug_struct("NotesUpdate");
                    if let ::core::option::Option::Some(value) = &self.log {
                        shown.field("log", value);
                    }
                    if let ::core::option::Option::Some(value) = &self.total {
                        shown.field("total", value);
                    }
                    if let ::core::option::Option::Some(value) = &self.last {
                        shown.field("last", value);
                    }
                    if let ::core::option::Option::Some(value) = &self.handle {
                        shown.field("handle", value);
                    }
                    if let ::core::option::Option::Some(value) = &self.plain {
                        shown.field("plain", value);
                    }
                    shown.finish()
                }
            }
            #[automatically_derived]
            #[allow(unused_variables)]
            impl<T> ::core::cmp::PartialEq for NotesUpdate<T>
            where
                for<'__field> Vec<T>: ::core::cmp::PartialEq,
                for<'__field> i64: ::core::cmp::PartialEq,
                for<'__field> Handle: ::core::cmp::PartialEq,
                for<'__field> String: ::core::cmp::PartialEq,
            {
                fn eq(&self, other: &Self) -> ::core::primitive::bool {
                    true && self.log == other.log && self.total == other.total
                        && self.last == other.last && self.handle == other.handle
                        && self.plain == other.plain
                }
            }
            const _: () = {
                #[allow(non_snake_case, clippy::multiple_bound_locations)]
                fn __reducer_log<T>() -> impl ::langgraph::state::Reducer<Vec<T>>
                where
                    T: ::core::clone::Clone + ::core::marker::Send + ::core::marker::Sync + 'static,
                {
                    ::langgraph::__private::reducer::<Vec<T>, _, _>(::langgraph::state::Append)
                }
                #[allow(non_snake_case, clippy::multiple_bound_locations)]
                fn __reducer_total<T>() -> impl ::langgraph::state::Reducer<i64>
                where
                    T: ::core::clone::Clone + ::core::marker::Send + ::core::marker::Sync + 'static,
                {
                    ::langgraph::__private::closure_reducer::<i64, _>(|a, b| a + b)
                }
                #[allow(non_snake_case, clippy::multiple_bound_locations)]
                fn __reducer_last<T>() -> impl ::langgraph::state::Reducer<i64>
                where
                    T: ::core::clone::Clone + ::core::marker::Send + ::core::marker::Sync + 'static,
                {
                    #[allow(unused_imports)]
                    use ::langgraph::__private::reducers::*;
                    ::langgraph::__private::reducer::<i64, _, _>(newest)
                }
                #[automatically_derived]
                #[allow(unused_variables, unused_mut)]
                impl<T> ::langgraph::state::State for Notes<T>
                where
                    T: ::core::clone::Clone + ::core::marker::Send + ::core::marker::Sync + 'static,
                {
                    type Update = NotesUpdate<T>;
                    fn fields(&self) -> &[::langgraph::state::Field] {
                        const FIELDS: &[::langgraph::state::Field] = &[
                            ::langgraph::state::Field::plain("log").reduced(),
                            ::langgraph::state::Field::plain("total").reduced(),
                            ::langgraph::state::Field::plain("last").reduced(),
                            ::langgraph::state::Field::plain("handle").untracked(),
                            ::langgraph::state::Field::plain("plain"),
                        ];
                        FIELDS
                    }
                    fn written(&self, update: &Self::Update) -> ::langgraph::state::FieldSet {
                        let mut written = ::langgraph::state::FieldSet::new();
                        if update.log.is_some() {
                            written.insert(0);
                        }
                        if update.total.is_some() {
                            written.insert(1);
                        }
                        if update.last.is_some() {
                            written.insert(2);
                        }
                        if update.handle.is_some() {
                            written.insert(3);
                        }
                        if update.plain.is_some() {
                            written.insert(4);
                        }
                        written
                    }
                    fn try_merge(
                        &mut self,
                        update: Self::Update,
                    ) -> ::core::result::Result<(), ::langgraph::state::ReducerError> {
                        ::langgraph::__private::merge_field(
                            &__reducer_log::<T>(),
                            &mut self.log,
                            update.log,
                            "log",
                        )?;
                        ::langgraph::__private::merge_field(
                            &__reducer_total::<T>(),
                            &mut self.total,
                            update.total,
                            "total",
                        )?;
                        ::langgraph::__private::merge_field(
                            &__reducer_last::<T>(),
                            &mut self.last,
                            update.last,
                            "last",
                        )?;
                        if let ::core::option::Option::Some(value) = update.handle {
                            self.handle = value;
                        }
                        if let ::core::option::Option::Some(value) = update.plain {
                            self.plain = value;
                        }
                        ::core::result::Result::Ok(())
                    }
                    fn overwrite(&mut self, update: Self::Update) {
                        if let ::core::option::Option::Some(value) = update.log {
                            self.log = value;
                        }
                        if let ::core::option::Option::Some(value) = update.total {
                            self.total = value;
                        }
                        if let ::core::option::Option::Some(value) = update.last {
                            self.last = value;
                        }
                        if let ::core::option::Option::Some(value) = update.handle {
                            self.handle = value;
                        }
                        if let ::core::option::Option::Some(value) = update.plain {
                            self.plain = value;
                        }
                    }
                    fn discard(
                        &self,
                        update: &mut Self::Update,
                        fields: &::langgraph::state::FieldSet,
                    ) {
                        if fields.contains(0) {
                            update.log = ::core::option::Option::None;
                        }
                        if fields.contains(1) {
                            update.total = ::core::option::Option::None;
                        }
                        if fields.contains(2) {
                            update.last = ::core::option::Option::None;
                        }
                        if fields.contains(3) {
                            update.handle = ::core::option::Option::None;
                        }
                        if fields.contains(4) {
                            update.plain = ::core::option::Option::None;
                        }
                    }
                    fn reset(&mut self, fields: &::langgraph::state::FieldSet) {
                        if fields.contains(3) {
                            self.handle = <Handle as ::core::default::Default>::default();
                        }
                    }
                    fn prepare(&self, update: &mut Self::Update) {
                        if let ::core::option::Option::Some(value) = &mut update.log {
                            ::langgraph::state::Reducer::prepare(&__reducer_log::<T>(), value);
                        }
                        if let ::core::option::Option::Some(value) = &mut update.total {
                            ::langgraph::state::Reducer::prepare(&__reducer_total::<T>(), value);
                        }
                        if let ::core::option::Option::Some(value) = &mut update.last {
                            ::langgraph::state::Reducer::prepare(&__reducer_last::<T>(), value);
                        }
                    }
                    fn messages(
                        update: &Self::Update,
                        see: &mut dyn ::core::ops::FnMut(&::langgraph::message::Message),
                    ) {}
                    fn codec() -> ::core::option::Option<::langgraph::checkpoint::StateCodec<Self>> {
                        #[allow(unused_imports)]
                        use ::langgraph::__private::{WithCodec as _, WithoutCodec as _};
                        (&::langgraph::__private::CodecOf::<Self>::NEW).codec()
                    }
                    fn merge(self, update: Self::Update) -> Self {
                        Self {
                            log: ::langgraph::__private::merged(
                                &__reducer_log::<T>(),
                                self.log,
                                update.log,
                            ),
                            total: ::langgraph::__private::merged(
                                &__reducer_total::<T>(),
                                self.total,
                                update.total,
                            ),
                            last: ::langgraph::__private::merged(
                                &__reducer_last::<T>(),
                                self.last,
                                update.last,
                            ),
                            handle: update.handle.unwrap_or(self.handle),
                            plain: update.plain.unwrap_or(self.plain),
                        }
                    }
                }
                #[automatically_derived]
                impl<T> ::langgraph::node::IntoOutput<Notes<T>> for NotesUpdate<T>
                where
                    T: ::core::clone::Clone + ::core::marker::Send + ::core::marker::Sync + 'static,
                    for<'__state> Notes<T>: ::langgraph::state::State<Update = Self>,
                {
                    fn into_output(
                        self,
                    ) -> ::core::result::Result<
                        ::langgraph::node::Output<Notes<T>>,
                        ::langgraph::node::NodeError,
                    > {
                        ::core::result::Result::Ok(::langgraph::node::Output::update(self))
                    }
                }
                #[automatically_derived]
                #[allow(unused_mut)]
                impl<T> ::langgraph::__private::serde::Serialize for NotesUpdate<T>
                where
                    for<'__field> Vec<T>: ::langgraph::__private::serde::Serialize,
                    for<'__field> i64: ::langgraph::__private::serde::Serialize,
                    for<'__field> String: ::langgraph::__private::serde::Serialize,
                {
                    fn serialize<__S: ::langgraph::__private::serde::Serializer>(
                        &self,
                        serializer: __S,
                    ) -> ::core::result::Result<__S::Ok, __S::Error> {
                        let count = 0_usize
                            + <::core::primitive::usize as ::core::convert::From<
                                _,
                            >>::from(self.log.is_some())
                            + <::core::primitive::usize as ::core::convert::From<
                                _,
                            >>::from(self.total.is_some())
                            + <::core::primitive::usize as ::core::convert::From<
                                _,
                            >>::from(self.last.is_some())
                            + <::core::primitive::usize as ::core::convert::From<
                                _,
                            >>::from(self.plain.is_some());
                        let mut map = ::langgraph::__private::serde::Serializer::serialize_map(
                            serializer,
                            ::core::option::Option::Some(count),
                        )?;
                        if let ::core::option::Option::Some(value) = &self.log {
                            ::langgraph::__private::serde::ser::SerializeMap::serialize_entry(
                                &mut map,
                                "log",
                                value,
                            )?;
                        }
                        if let ::core::option::Option::Some(value) = &self.total {
                            ::langgraph::__private::serde::ser::SerializeMap::serialize_entry(
                                &mut map,
                                "total",
                                value,
                            )?;
                        }
                        if let ::core::option::Option::Some(value) = &self.last {
                            ::langgraph::__private::serde::ser::SerializeMap::serialize_entry(
                                &mut map,
                                "last",
                                value,
                            )?;
                        }
                        if let ::core::option::Option::Some(value) = &self.plain {
                            ::langgraph::__private::serde::ser::SerializeMap::serialize_entry(
                                &mut map,
                                "plain",
                                value,
                            )?;
                        }
                        ::langgraph::__private::serde::ser::SerializeMap::end(map)
                    }
                }
                #[automatically_derived]
                impl<'de, T> ::langgraph::__private::ReadField<'de> for NotesUpdate<T>
                where
                    for<'__field> Vec<T>: ::langgraph::__private::serde::Deserialize<'de>,
                    for<'__field> i64: ::langgraph::__private::serde::Deserialize<'de>,
                    for<'__field> String: ::langgraph::__private::serde::Deserialize<'de>,
                {
                    fn read<__A: ::langgraph::__private::serde::de::MapAccess<'de>>(
                        &mut self,
                        name: &::core::primitive::str,
                        map: &mut __A,
                    ) -> ::core::result::Result<::core::primitive::bool, __A::Error> {
                        match name {
                            "log" => {
                                self.log = ::core::option::Option::Some(
                                    ::langgraph::__private::serde::de::MapAccess::next_value(map)?,
                                );
                            }
                            "total" => {
                                self.total = ::core::option::Option::Some(
                                    ::langgraph::__private::serde::de::MapAccess::next_value(map)?,
                                );
                            }
                            "last" => {
                                self.last = ::core::option::Option::Some(
                                    ::langgraph::__private::serde::de::MapAccess::next_value(map)?,
                                );
                            }
                            "plain" => {
                                self.plain = ::core::option::Option::Some(
                                    ::langgraph::__private::serde::de::MapAccess::next_value(map)?,
                                );
                            }
                            _ => return ::core::result::Result::Ok(false),
                        }
                        #[allow(unreachable_code)] ::core::result::Result::Ok(true)
                    }
                }
                #[automatically_derived]
                impl<'de, T> ::langgraph::__private::serde::Deserialize<'de> for NotesUpdate<T>
                where
                    for<'__field> Vec<T>: ::langgraph::__private::serde::Deserialize<'de>,
                    for<'__field> i64: ::langgraph::__private::serde::Deserialize<'de>,
                    for<'__field> String: ::langgraph::__private::serde::Deserialize<'de>,
                {
                    fn deserialize<__D: ::langgraph::__private::serde::Deserializer<'de>>(
                        deserializer: __D,
                    ) -> ::core::result::Result<Self, __D::Error> {
                        ::langgraph::__private::read_fields(deserializer)
                    }
                }
            };
            const _: () = {
                #[automatically_derived]
                impl<T> ::langgraph::__private::FieldAt<1319681242528961585u64> for Notes<T> {
                    type Row = ();
                }
                #[automatically_derived]
                impl<T> ::langgraph::__private::FieldAt<3300820206774538237u64> for Notes<T> {
                    type Row = ();
                }
                #[automatically_derived]
                impl<T> ::langgraph::__private::FieldAt<312668867041707993u64> for Notes<T> {
                    type Row = ();
                }
                #[allow(
                    non_camel_case_types,
                    dead_code,
                    missing_debug_implementations,
                    missing_docs
                )]
                pub enum handle {}
                #[automatically_derived]
                impl ::langgraph::__private::PlainField for handle {}
                #[automatically_derived]
                impl<T> ::langgraph::__private::FieldAt<12996100709080792371u64> for Notes<T> {
                    type Row = (handle, ());
                }
                #[allow(
                    non_camel_case_types,
                    dead_code,
                    missing_debug_implementations,
                    missing_docs
                )]
                pub enum plain {}
                #[automatically_derived]
                impl ::langgraph::__private::PlainField for plain {}
                #[automatically_derived]
                impl<T> ::langgraph::__private::FieldAt<18252272687975150087u64> for Notes<T> {
                    type Row = (::langgraph::__private::No, (plain, ()));
                }
            };
        "#]],
    );
}

#[test]
fn a_chat_history_under_another_crate_name() {
    expands(
        "#[state(crate = lg)] struct Chat { #[reducer(add_messages)] r#in: Vec<Message> }",
        expect![[r#"
            /** An update of [`Chat`]: what a node returns.

             A field that is `None` stays as it is.*/
            #[derive(::core::clone::Clone)]
            #[must_use = "an update changes nothing until a node returns it"]
            #[allow(unreachable_pub, private_interfaces, clippy::all, clippy::pedantic)]
            struct ChatUpdate {
                /// What is written to `in`: merged by `add_messages`.
                pub r#in: ::core::option::Option<Vec<Message>>,
            }
            #[automatically_derived]
            #[allow(dead_code, unreachable_pub, private_interfaces)]
            impl ChatUpdate {
                /// Writes `in`; merged by `add_messages`.
                #[allow(clippy::all, clippy::pedantic)]
                #[must_use]
                pub fn r#in(mut self, value: Vec<Message>) -> Self {
                    self.r#in = ::core::option::Option::Some(value);
                    self
                }
            }
            #[automatically_derived]
            impl ::core::default::Default for ChatUpdate {
                fn default() -> Self {
                    Self {
                        r#in: ::core::option::Option::None,
                    }
                }
            }
            #[automatically_derived]
            #[allow(unused_variables)]
            impl ::core::convert::From<Chat> for ChatUpdate {
                fn from(state: Chat) -> Self {
                    Self {
                        r#in: ::core::option::Option::Some(state.r#in),
                    }
                }
            }
            #[automatically_derived]
            #[allow(unused_mut)]
            impl ::core::fmt::Debug for ChatUpdate
            where
                for<'__field> Vec<Message>: ::core::fmt::Debug,
            {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    let mut shown = f.debug_struct("ChatUpdate");
                    if let ::core::option::Option::Some(value) = &self.r#in {
                        shown.field("in", value);
                    }
                    shown.finish()
                }
            }
            #[automatically_derived]
            #[allow(unused_variables)]
            impl ::core::cmp::PartialEq for ChatUpdate
            where
                for<'__field> Vec<Message>: ::core::cmp::PartialEq,
            {
                fn eq(&self, other: &Self) -> ::core::primitive::bool {
                    true && self.r#in == other.r#in
                }
            }
            const _: () = {
                #[allow(non_snake_case, clippy::multiple_bound_locations)]
                fn __reducer_in() -> impl lg::state::Reducer<Vec<Message>> {
                    lg::__private::reducer::<Vec<Message>, _, _>(lg::message::AddMessages)
                }
                #[automatically_derived]
                #[allow(unused_variables, unused_mut)]
                impl lg::state::State for Chat {
                    type Update = ChatUpdate;
                    fn fields(&self) -> &[lg::state::Field] {
                        const FIELDS: &[lg::state::Field] = &[
                            lg::state::Field::plain("in").reduced(),
                        ];
                        FIELDS
                    }
                    fn written(&self, update: &Self::Update) -> lg::state::FieldSet {
                        let mut written = lg::state::FieldSet::new();
                        if update.r#in.is_some() {
                            written.insert(0);
                        }
                        written
                    }
                    fn try_merge(
                        &mut self,
                        update: Self::Update,
                    ) -> ::core::result::Result<(), lg::state::ReducerError> {
                        lg::__private::merge_field(
                            &__reducer_in(),
                            &mut self.r#in,
                            update.r#in,
                            "in",
                        )?;
                        ::core::result::Result::Ok(())
                    }
                    fn overwrite(&mut self, update: Self::Update) {
                        if let ::core::option::Option::Some(value) = update.r#in {
                            self.r#in = value;
                        }
                    }
                    fn discard(&self, update: &mut Self::Update, fields: &lg::state::FieldSet) {
                        if fields.contains(0) {
                            update.r#in = ::core::option::Option::None;
                        }
                    }
                    fn reset(&mut self, fields: &lg::state::FieldSet) {}
                    fn prepare(&self, update: &mut Self::Update) {
                        if let ::core::option::Option::Some(value) = &mut update.r#in {
                            lg::state::Reducer::prepare(&__reducer_in(), value);
                        }
                    }
                    fn messages(
                        update: &Self::Update,
                        see: &mut dyn ::core::ops::FnMut(&lg::message::Message),
                    ) {
                        lg::__private::see_messages(&update.r#in, see);
                    }
                    fn codec() -> ::core::option::Option<lg::checkpoint::StateCodec<Self>> {
                        #[allow(unused_imports)]
                        use lg::__private::{WithCodec as _, WithoutCodec as _};
                        (&lg::__private::CodecOf::<Self>::NEW).codec()
                    }
                    fn merge(self, update: Self::Update) -> Self {
                        Self {
                            r#in: lg::__private::merged(&__reducer_in(), self.r#in, update.r#in),
                        }
                    }
                }
                #[automatically_derived]
                impl lg::node::IntoOutput<Chat> for ChatUpdate
                where
                    for<'__state> Chat: lg::state::State<Update = Self>,
                {
                    fn into_output(
                        self,
                    ) -> ::core::result::Result<lg::node::Output<Chat>, lg::node::NodeError> {
                        ::core::result::Result::Ok(lg::node::Output::update(self))
                    }
                }
                #[automatically_derived]
                impl lg::state::HasMessages for Chat {
                    fn messages(&self) -> &[lg::message::Message] {
                        lg::__private::the_messages(&self.r#in)
                    }
                    fn update_from_messages(
                        messages: lg::__private::Vec<lg::message::Message>,
                    ) -> ChatUpdate {
                        let mut update = <ChatUpdate as ::core::default::Default>::default();
                        update.r#in = lg::__private::written_messages::<Vec<Message>>(messages);
                        update
                    }
                }
                #[automatically_derived]
                #[allow(unused_mut)]
                impl lg::__private::serde::Serialize for ChatUpdate
                where
                    for<'__field> Vec<Message>: lg::__private::serde::Serialize,
                {
                    fn serialize<__S: lg::__private::serde::Serializer>(
                        &self,
                        serializer: __S,
                    ) -> ::core::result::Result<__S::Ok, __S::Error> {
                        let count = 0_usize
                            + <::core::primitive::usize as ::core::convert::From<
                                _,
                            >>::from(self.r#in.is_some());
                        let mut map = lg::__private::serde::Serializer::serialize_map(
                            serializer,
                            ::core::option::Option::Some(count),
                        )?;
                        if let ::core::option::Option::Some(value) = &self.r#in {
                            lg::__private::serde::ser::SerializeMap::serialize_entry(
                                &mut map,
                                "in",
                                value,
                            )?;
                        }
                        lg::__private::serde::ser::SerializeMap::end(map)
                    }
                }
                #[automatically_derived]
                impl<'de> lg::__private::ReadField<'de> for ChatUpdate
                where
                    for<'__field> Vec<Message>: lg::__private::serde::Deserialize<'de>,
                {
                    fn read<__A: lg::__private::serde::de::MapAccess<'de>>(
                        &mut self,
                        name: &::core::primitive::str,
                        map: &mut __A,
                    ) -> ::core::result::Result<::core::primitive::bool, __A::Error> {
                        match name {
                            "in" => {
                                self.r#in = ::core::option::Option::Some(
                                    lg::__private::serde::de::MapAccess::next_value(map)?,
                                );
                            }
                            _ => return ::core::result::Result::Ok(false),
                        }
                        #[allow(unreachable_code)] ::core::result::Result::Ok(true)
                    }
                }
                #[automatically_derived]
                impl<'de> lg::__private::serde::Deserialize<'de> for ChatUpdate
                where
                    for<'__field> Vec<Message>: lg::__private::serde::Deserialize<'de>,
                {
                    fn deserialize<__D: lg::__private::serde::Deserializer<'de>>(
                        deserializer: __D,
                    ) -> ::core::result::Result<Self, __D::Error> {
                        lg::__private::read_fields(deserializer)
                    }
                }
            };
            const _: () = {
                #[automatically_derived]
                impl lg::__private::FieldAt<628032278800124862u64> for Chat {
                    type Row = ();
                }
            };
        "#]],
    );
}

#[test]
fn a_renamed_crate_is_named_everywhere() {
    let input = "#[state(crate = lg)] struct S { #[reducer(add_messages)] a: Vec<Message>, #[reducer(f)] b: u8, #[reducer(|a, _| a)] c: u8, #[state(ephemeral)] d: u8 }";
    let output = super::derive(input.parse().unwrap()).to_string();
    assert!(!output.contains("langgraph"), "{output}");
}
