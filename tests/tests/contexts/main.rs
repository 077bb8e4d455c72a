//! Calling contexts in real JVMs against an agent in C that walks the stack.

mod attached;
mod calls;
mod large;
mod method_events;
