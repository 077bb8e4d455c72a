//! Links that other users made where everybody may make files.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};

use super::system;

/// A link in a sticky folder that everybody may write to, which belongs neither to this user nor to root: it leads where
/// another user wants. Linux refuses to follow these as well where `fs.protected_symlinks` is on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} is another user's link in a folder that everybody may write to; name the folder that it leads to", .link.display())]
pub struct ForeignLink {
    /// The link.
    pub link: PathBuf,
}

/// Looks for such a link among the folders that a path names. Links that a link leads to are not looked at.
///
/// # Errors
/// The first one.
pub fn check_links(path: &Path) -> Result<(), ForeignLink> {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let parents = Vec::from_iter(path.ancestors());
    for pair in parents.windows(2).rev() {
        let &[link, folder] = pair else { continue };
        let is_foreign =
            |data: &Metadata| data.is_symlink() && ![0, system::user()].contains(&system::owner(data));
        let is_open = |data: Metadata| system::mode(&data) & super::STICKY == super::STICKY;
        if fs::symlink_metadata(link).is_ok_and(|data| is_foreign(&data))
            && fs::metadata(folder).is_ok_and(is_open)
        {
            return Err(ForeignLink {
                link: link.to_owned(),
            });
        }
    }
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{PermissionsExt, lchown, symlink};

    use super::*;

    #[test]
    fn another_users_link_in_a_sticky_folder_is_found() {
        let room = tempfile::tempdir().unwrap();
        let (open, real) = (room.path().join("open"), room.path().join("real"));
        let link = open.join("link");
        fs::create_dir(&open).unwrap();
        fs::create_dir(&real).unwrap();
        fs::set_permissions(&open, fs::Permissions::from_mode(0o1777)).unwrap();
        symlink(&real, &link).unwrap();
        // Our own leads where we want.
        assert_eq!(check_links(&link), Ok(()));
        if lchown(&link, Some(65534), None).is_err() {
            eprintln!("not tested: only root gives links away");
            return;
        }
        let found = Err(ForeignLink { link: link.clone() });
        assert_eq!(check_links(&link), found);
        assert_eq!(check_links(&link.join("below")), found);
        assert_eq!(check_links(&real), Ok(()));
        // A folder that only its owner writes to.
        fs::set_permissions(&open, fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(check_links(&link), Ok(()));
    }
}
