//! What every store has to do.
