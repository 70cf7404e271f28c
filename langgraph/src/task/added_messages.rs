//! The messages that the result of a task adds to the state.

use super::{Position, TaskResult};
use crate::message::Message;
use crate::state::{State, Write};
use crate::stream::{Emitter, StreamMode};

impl<S: State> Position<S> {
    /// Notes the messages that the result of a task adds to the state, if they are read: after the merge,
    /// no message is new.
    pub(crate) fn note_messages(&self, result: &TaskResult<S>, noted: &mut Vec<Message>) {
        noted.clear();
        if let Some(done) = result.finished()
            && self.emits(StreamMode::Messages)
        {
            for write in done.output.writes() {
                self.note_messages_of(write, noted);
            }
        }
    }

    /// Notes the messages of a write, without those that the state has already.
    fn note_messages_of(&self, write: &Write<S>, noted: &mut Vec<Message>) {
        match write {
            Write::Update(update) | Write::Overwrite(update) => {
                if let Some(emitter) = self.scope.emitter.as_deref() {
                    note_messages_of_update(emitter, &*self.state, update, noted);
                }
            }
            Write::State(state) => {
                let before = messages::<S>(&S::clone(&self.state).into());
                let is_new = |message: &Message| {
                    !before.iter().any(|old| match (&old.id, &message.id) {
                        (Some(old), Some(id)) => old == id,
                        _ => old == message,
                    })
                };
                let all = messages::<S>(&S::clone(state).into());
                noted.extend(all.into_iter().filter(is_new));
            }
        }
    }
}

/// Notes the messages of an update, before it is merged, without those that the state had.
#[inline]
pub(crate) fn note_messages_of_update<S: State>(
    emitter: &Emitter,
    state: &S,
    update: &S::Update,
    noted: &mut Vec<Message>,
) {
    S::messages(update, &mut |message| {
        if !emitter.had(message, &|| messages::<S>(&S::clone(state).into())) {
            noted.push(message.clone());
        }
    });
}

fn messages<S: State>(update: &S::Update) -> Vec<Message> {
    let mut messages = Vec::new();
    S::messages(update, &mut |message| messages.push(message.clone()));
    messages
}
