//! What is written where the runtime crate has another name.

use expect_test::expect;

use super::expands;
use crate::state::derive;

#[test]
fn a_chat_history_under_another_crate_name() {
    expands(
        "#[state(crate = lg)] struct Chat { #[reducer(add_messages)] r#in: Vec<Message> }",
        expect![[r#"
            /** An update of [`Chat`]: what a node returns.

             A field that is `None` stays as it is.*/
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
            #[allow(unused_imports)]
            impl ::core::clone::Clone for ChatUpdate {
                fn clone(&self) -> Self {
                    use lg::__private::NotClone as _;
                    Self {
                        r#in: lg::__private::CloneField(&self.r#in).cloned(),
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
            #[automatically_derived]
            #[allow(dead_code, unreachable_pub, private_interfaces, clippy::all, clippy::pedantic)]
            impl ChatUpdate
            where
                for<'__state> Chat: lg::state::State<Update = Self>,
            {
                fn __written(self) -> ::core::option::Option<Self> {
                    let empty = true && self.r#in.is_none();
                    if empty {
                        ::core::option::Option::None
                    } else {
                        ::core::option::Option::Some(self)
                    }
                }
                /// Also sets `in` to this value, without its reducer.
                pub fn overwrite_in(self, value: Vec<Message>) -> lg::node::Overwriting<Chat> {
                    let mut set = <Self as ::core::default::Default>::default();
                    set.r#in = ::core::option::Option::Some(value);
                    lg::node::Overwriting::new(self.__written(), set)
                }
            }
            const _: () = {
                #[allow(non_snake_case, clippy::multiple_bound_locations)]
                fn __reducer_in() -> impl lg::state::Reducer<Vec<Message>, Vec<Message>> {
                    lg::__private::reducer::<
                        Vec<Message>,
                        Vec<Message>,
                        _,
                        _,
                    >(lg::state::AddMessages)
                }
                #[automatically_derived]
                #[allow(unused_variables, unused_mut)]
                impl lg::state::State for Chat {
                    type Update = ChatUpdate;
                    fn fields(&self) -> &[lg::state::Field] {
                        const FIELDS: &[lg::state::Field] = &[
                            lg::state::Field::plain("in")
                                .typed("Vec<Message>")
                                .reduced_by("add_messages"),
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
                    ) -> ::core::result::Result<(), lg::error::ReducerError> {
                        if let ::core::option::Option::Some(value) = update.r#in {
                            lg::__private::merge_field(
                                &__reducer_in(),
                                &mut self.r#in,
                                value,
                                "in",
                            )?;
                        }
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
                    fn prepare_whole(&mut self) {
                        lg::__private::give_ids(&mut self.r#in);
                    }
                    fn make_reusable(&self, update: &mut Self::Update) {
                        if let ::core::option::Option::Some(value) = &mut update.r#in {
                            lg::__private::forget_new_ids(&self.r#in, value);
                        }
                    }
                    fn messages(
                        update: &Self::Update,
                        see: &mut dyn ::core::ops::FnMut(&lg::message::Message),
                    ) {
                        if let ::core::option::Option::Some(value) = &update.r#in {
                            lg::__private::see_messages(value, see);
                        }
                    }
                    fn dismiss(&self) -> ::core::option::Option<Self::Update> {
                        lg::__private::dismiss(self)
                    }
                    fn codec() -> ::core::option::Option<lg::state::StateCodec<Self>> {
                        #[allow(unused_imports)]
                        use lg::__private::{WithCodec as _, WithoutCodec as _};
                        (&lg::__private::CodecOf::<Self>::NEW).codec()
                    }
                    fn name() -> lg::__private::String {
                        <lg::__private::String as ::core::convert::From<_>>::from("Chat")
                    }
                }
                #[automatically_derived]
                impl lg::node::IntoOutput<Chat> for ChatUpdate
                where
                    for<'__state> Chat: lg::state::State<Update = Self>,
                {
                    fn into_output(
                        self,
                    ) -> ::core::result::Result<lg::node::Output<Chat>, lg::error::NodeError> {
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
                        if let ::core::option::Option::Some(value) = lg::__private::written_messages::<
                            Vec<Message>,
                        >(messages) {
                            update.r#in = ::core::option::Option::Some(value);
                        }
                        update
                    }
                }
                #[automatically_derived]
                #[allow(unused_mut)]
                impl lg::__private::serde::Serialize for ChatUpdate
                where
                    for<'__field> Vec<Message>: lg::__private::StoredField,
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
                    for<'__field> Vec<Message>: lg::__private::StoredField,
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
                    for<'__field> Vec<Message>: lg::__private::StoredField,
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
    let output = derive(input.parse().unwrap()).to_string();
    assert!(!output.contains("langgraph"), "{output}");
}
