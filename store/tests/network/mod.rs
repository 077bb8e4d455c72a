//! What tests share.
#![allow(dead_code, reason = "each test file uses a part")]

pub mod moto;
pub mod proxy;
