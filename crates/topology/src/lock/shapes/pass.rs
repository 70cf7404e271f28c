//! One value that is offered to a type.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::draft::Presence;

/// One value that is offered.
#[derive(Debug, Default)]
pub(super) struct Pass {
    /// True if one field may be left out, to see whether it must be there.
    pub(super) may_probe: bool,
    /// The field that is left out.
    pub(super) probe: RefCell<Option<Rc<Cell<Presence>>>>,
    /// True if it is known why the value is refused, and another one will be offered.
    pub(super) again: Cell<bool>,
}
