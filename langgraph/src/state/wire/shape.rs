//! What the stored form of an output consists of: tables, which [one reader](super::tree) follows.

/// What stands at a place.
pub(super) enum Shape {
    /// An update, which the caller reads.
    Update,
    Text,
    Flag,
    Option(&'static Self),
    List(&'static Self),
    Struct(&'static Struct),
    Enum(&'static Enum),
}

/// A struct. Fields that it lacks come from newer versions and are skipped.
pub(super) struct Struct {
    pub(super) name: &'static str,
    /// The names of its fields.
    pub(super) names: &'static [&'static str],
    /// What each of its fields is, and whether it has to be there.
    pub(super) fields: &'static [(Shape, Need)],
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Need {
    Required,
    Optional,
}

/// An enum.
pub(super) struct Enum {
    pub(super) name: &'static str,
    /// The names of its variants.
    pub(super) names: &'static [&'static str],
    /// What each of its variants holds.
    pub(super) variants: &'static [Variant],
}

pub(super) enum Variant {
    Unit,
    Value(Shape),
    Fields(&'static Struct),
}

use Need::{Optional, Required};

/// An [`OutputWire`](super::OutputWire).
pub(super) static OUTPUT: Shape = Shape::Struct(&Struct {
    name: "OutputWire",
    names: &["writes", "jump", "routes", "cached", "only_written"],
    fields: &[
        (Shape::List(&WRITE), Optional),
        (Shape::Option(&JUMP), Optional),
        (Shape::List(&ROUTES), Optional),
        (Shape::Flag, Optional),
        (Shape::Flag, Optional),
    ],
});

static WRITE: Shape = Shape::Enum(&Enum {
    name: "WriteWire",
    names: &["update", "overwrite", "state"],
    variants: &[
        Variant::Value(Shape::Update),
        Variant::Value(Shape::Update),
        Variant::Value(Shape::Update),
    ],
});

static JUMP: Shape = Shape::Enum(&Enum {
    name: "JumpWire",
    names: &["end", "to", "parent"],
    variants: &[
        Variant::Unit,
        Variant::Fields(&Struct {
            name: "To",
            names: &["targets", "edges"],
            fields: &[(Shape::List(&TARGET), Required), (Shape::Flag, Optional)],
        }),
        Variant::Fields(&Struct {
            name: "Parent",
            names: &["state", "command"],
            fields: &[(Shape::Text, Required), (Shape::Text, Required)],
        }),
    ],
});

static ROUTES: Shape = Shape::Enum(&Enum {
    name: "RoutesWire",
    names: &["targets", "several"],
    variants: &[
        Variant::Value(Shape::List(&TARGET)),
        Variant::Value(Shape::List(&ROUTES)),
    ],
});

static TARGET: Shape = Shape::Enum(&Enum {
    name: "TargetWire",
    names: &["node", "send", "send_state"],
    variants: &[
        Variant::Value(Shape::Text),
        Variant::Fields(&Struct {
            name: "Send",
            names: &["node", "item"],
            fields: &[(Shape::Text, Required), (Shape::Text, Required)],
        }),
        Variant::Fields(&Struct {
            name: "SendState",
            names: &["node", "state"],
            fields: &[(Shape::Text, Required), (Shape::Update, Required)],
        }),
    ],
});
