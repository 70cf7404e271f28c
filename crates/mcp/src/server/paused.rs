//! The interrupts at which a run is paused.

use langgraph::interrupt::Interrupt;
use langgraph_agent::ToolOutput;

use super::interrupt_form::InterruptForm;

/// How a run has ended.
pub(super) enum Ended {
    Done(ToolOutput),
    Paused(Paused),
}

/// The open interrupts of a run, as forms.
pub(super) struct Paused(pub(super) Vec<InterruptForm>);

impl Paused {
    pub(super) fn at(interrupts: Vec<Interrupt>) -> Self {
        Self(interrupts.into_iter().map(InterruptForm::new).collect())
    }

    /// Returns the name of a form for the client: its key, unless another one has the same.
    pub(super) fn name<'a>(&self, form: &'a InterruptForm) -> &'a str {
        let same = self.0.iter().filter(|other| other.key() == form.key());
        match same.count() {
            1 => form.key(),
            _ => form.id(),
        }
    }
}
