//! Messages, and the reducer that keeps a chat history.
