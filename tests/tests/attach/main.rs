//! `trodden attach` and `trodden ps` on both JDKs: by every name of a JVM, in containers, across users, and
//! however a session ends.

mod attendee;
mod elsewhere;
mod ends;
mod names;
mod sessions;
mod under_way;
