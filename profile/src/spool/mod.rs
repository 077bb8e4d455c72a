//! Spool folders: windows of many JVMs that wait to be shipped.
//!
//! A *window* is a `.trodden` file that holds what one JVM counted since its window before. It is named
//! `JVMID-NUMBER.trodden`: 32 hex digits that are random for each recording, and 8 digits counted from 1. It comes into being under
//! a temporary name and is there whole or not at all; its checksums are those of its sections, which cover all of it
//! ([`Profile::read`](crate::Profile::read) checks them). With a key there is a file `….trodden.hmac` next to it, which is there first: 64 hex
//! digits, the HMAC-SHA-256 of the window's bytes.
//!
//! *In*: folders and files. *Out*: [`list`], [`verify`]; and what a JVM needs to make windows ([`Key`], [`identity`]).

mod build;
mod files;
mod hmac;
pub mod identity;
mod name;
mod verify;
mod zip;

pub use build::{build_name, class_path_hash};
pub use files::{SpoolError, Spooled, bytes_in, clear, list, with_hmac};
pub use hmac::{HMAC_END, Key, KeyError, MIN_KEY};
pub use name::WindowName;
pub use verify::{VerifyError, Window, verify};
