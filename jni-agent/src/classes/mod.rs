//! Classes: rewriting them, their ids, sending loaded ones through the hook again.

pub mod hook;
mod left_alone;
mod lookup;
pub mod originals;
mod outputs;
mod places;
mod registry;
mod request_names;
mod retransform;
mod silenced;

pub use lookup::{Lookup, Method, resolve, resolve_name};
pub use outputs::Bases;
pub use places::{CodePlaces, PathSlots, Places};
pub use registry::{ClassEntry, NoIds, Registry, Slots, path_of};
pub use retransform::{Restored, retransform};
