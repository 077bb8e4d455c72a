//! Loops of a method in each format.

mod compare;
pub(crate) mod html;
pub(crate) mod json;
pub(crate) mod section;
pub(crate) mod text;
