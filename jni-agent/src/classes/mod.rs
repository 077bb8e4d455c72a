//! Classes: rewriting them, their ids, sending loaded ones through the hook again.

pub mod hook;
mod left_alone;
pub mod lookup;
pub mod originals;
pub mod outputs;
pub mod places;
pub mod registry;
pub mod retransform;
mod silenced;
