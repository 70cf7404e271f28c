//! The ready-made agents, in one program, as its parts share the engine for their states.

#![allow(clippy::unwrap_used)] // in what several tests share

mod chats;
mod ready_made;
