//! Files as systems see them: owners, permissions, locks, pipes. Unix has all of it; elsewhere files have no owner
//! that is looked at, and no locks, so that what killed processes left behind is never cleared.

#[cfg_attr(unix, path = "system/unix.rs")]
#[cfg_attr(not(unix), path = "system/other.rs")]
mod kind;

pub use kind::lock;
pub(super) use kind::{
    add_to_stream, await_lock, has_one_name, keep_permissions, lock_shared, make, mode, open, open_folder,
    owner, user,
};
