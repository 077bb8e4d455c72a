//! Calling contexts in each format (HCCT, D'Elia et al., PLDI 2011).

mod collapsed;
mod compare;
mod html;
mod icicle;
mod json;
pub(crate) mod section;
mod text;
