//! What a state with every kind of field is written out to.

use expect_test::expect;

use super::expands;

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
            #[allow(unused_imports)]
            impl<T> ::core::clone::Clone for NotesUpdate<T>
            where
                T: ::core::clone::Clone,
            {
                fn clone(&self) -> Self {
                    use ::langgraph::__private::NotClone as _;
                    Self {
                        log: ::langgraph::__private::CloneField(&self.log).cloned(),
                        total: ::langgraph::__private::CloneField(&self.total).cloned(),
                        last: ::langgraph::__private::CloneField(&self.last).cloned(),
                        handle: ::langgraph::__private::CloneField(&self.handle).cloned(),
                        plain: ::langgraph::__private::CloneField(&self.plain).cloned(),
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
            #[automatically_derived]
            #[allow(dead_code, unreachable_pub, private_interfaces, clippy::all, clippy::pedantic)]
            impl<T> NotesUpdate<T>
            where
                T: ::core::clone::Clone + ::core::marker::Send + ::core::marker::Sync + 'static,
                for<'__state> Notes<T>: ::langgraph::state::State<Update = Self>,
            {
                fn __written(self) -> ::core::option::Option<Self> {
                    let empty = true && self.log.is_none() && self.total.is_none()
                        && self.last.is_none() && self.handle.is_none() && self.plain.is_none();
                    if empty {
                        ::core::option::Option::None
                    } else {
                        ::core::option::Option::Some(self)
                    }
                }
                /// Also sets `log` to this value, without its reducer.
                pub fn overwrite_log(
                    self,
                    value: Vec<T>,
                ) -> ::langgraph::node::Overwriting<Notes<T>> {
                    let mut set = <Self as ::core::default::Default>::default();
                    set.log = ::core::option::Option::Some(value);
                    ::langgraph::node::Overwriting::new(self.__written(), set)
                }
                /// Also sets `total` to this value, without its reducer.
                pub fn overwrite_total(
                    self,
                    value: i64,
                ) -> ::langgraph::node::Overwriting<Notes<T>> {
                    let mut set = <Self as ::core::default::Default>::default();
                    set.total = ::core::option::Option::Some(value);
                    ::langgraph::node::Overwriting::new(self.__written(), set)
                }
                /// Also sets `last` to this value, without its reducer.
                pub fn overwrite_last(self, value: i64) -> ::langgraph::node::Overwriting<Notes<T>> {
                    let mut set = <Self as ::core::default::Default>::default();
                    set.last = ::core::option::Option::Some(value);
                    ::langgraph::node::Overwriting::new(self.__written(), set)
                }
            }
            const _: () = {
                #[allow(non_snake_case, clippy::multiple_bound_locations)]
                fn __reducer_log<T>() -> impl ::langgraph::state::Reducer<Vec<T>, Vec<T>>
                where
                    T: ::core::clone::Clone + ::core::marker::Send + ::core::marker::Sync + 'static,
                {
                    ::langgraph::__private::reducer::<
                        Vec<T>,
                        Vec<T>,
                        _,
                        _,
                    >(::langgraph::state::Append)
                }
                #[allow(non_snake_case, clippy::multiple_bound_locations)]
                fn __reducer_total<T>() -> impl ::langgraph::state::Reducer<i64, i64>
                where
                    T: ::core::clone::Clone + ::core::marker::Send + ::core::marker::Sync + 'static,
                {
                    ::langgraph::__private::closure_reducer::<i64, i64, _>(|a, b| a + b)
                }
                #[allow(non_snake_case, clippy::multiple_bound_locations)]
                fn __reducer_last<T>() -> impl ::langgraph::state::Reducer<i64, i64>
                where
                    T: ::core::clone::Clone + ::core::marker::Send + ::core::marker::Sync + 'static,
                {
                    #[allow(unused_imports)]
                    use ::langgraph::__private::reducers::*;
                    ::langgraph::__private::reducer::<i64, i64, _, _>(newest)
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
                            ::langgraph::state::Field::plain("log")
                                .typed("Vec<T>")
                                .reduced_by("append"),
                            ::langgraph::state::Field::plain("total")
                                .typed("i64")
                                .reduced_by("|a,b|a+b"),
                            ::langgraph::state::Field::plain("last")
                                .typed("i64")
                                .reduced_by("newest"),
                            ::langgraph::state::Field::plain("handle").typed("Handle").untracked(),
                            ::langgraph::state::Field::plain("plain").typed("String"),
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
                    ) -> ::core::result::Result<(), ::langgraph::error::ReducerError> {
                        if let ::core::option::Option::Some(value) = update.log {
                            ::langgraph::__private::merge_field(
                                &__reducer_log::<T>(),
                                &mut self.log,
                                value,
                                "log",
                            )?;
                        }
                        if let ::core::option::Option::Some(value) = update.total {
                            ::langgraph::__private::merge_field(
                                &__reducer_total::<T>(),
                                &mut self.total,
                                value,
                                "total",
                            )?;
                        }
                        if let ::core::option::Option::Some(value) = update.last {
                            ::langgraph::__private::merge_field(
                                &__reducer_last::<T>(),
                                &mut self.last,
                                value,
                                "last",
                            )?;
                        }
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
                    fn codec() -> ::core::option::Option<::langgraph::state::StateCodec<Self>> {
                        #[allow(unused_imports)]
                        use ::langgraph::__private::{WithCodec as _, WithoutCodec as _};
                        (&::langgraph::__private::CodecOf::<Self>::NEW).codec()
                    }
                    fn name() -> ::langgraph::__private::String {
                        ::langgraph::__private::generic_name(
                            "Notes",
                            &[::langgraph::state::short_name::<T>()],
                        )
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
                        ::langgraph::error::NodeError,
                    > {
                        ::core::result::Result::Ok(::langgraph::node::Output::update(self))
                    }
                }
                #[automatically_derived]
                #[allow(unused_mut)]
                impl<T> ::langgraph::__private::serde::Serialize for NotesUpdate<T>
                where
                    for<'__field> Vec<T>: ::langgraph::__private::StoredField,
                    for<'__field> i64: ::langgraph::__private::StoredField,
                    for<'__field> String: ::langgraph::__private::StoredField,
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
                    for<'__field> Vec<T>: ::langgraph::__private::StoredField,
                    for<'__field> i64: ::langgraph::__private::StoredField,
                    for<'__field> String: ::langgraph::__private::StoredField,
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
                    for<'__field> Vec<T>: ::langgraph::__private::StoredField,
                    for<'__field> i64: ::langgraph::__private::StoredField,
                    for<'__field> String: ::langgraph::__private::StoredField,
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
                type __After1<Row> = (::langgraph::__private::No, Row);
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
                    type Row = __After1<(plain, ())>;
                }
            };
        "#]],
    );
}
