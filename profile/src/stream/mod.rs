//! What a run emits while it runs: the words of the event stream, and the `.trace` files that keep them.

pub mod events;
pub mod trace;
