//! Classes: rewriting them, their ids, sending loaded ones through the hook again.

pub mod hook;
pub mod lookup;
pub mod originals;
pub mod places;
pub mod registry;
pub mod retransform;
