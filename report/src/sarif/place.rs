//! Files as a code host names them: by their path in the repository.

use std::path::{Component, Path, PathBuf};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use trodden_insight::source::below;

/// A working tree, and a folder in it from which relative paths are meant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repository {
    root: Option<PathBuf>,
    folder: PathBuf,
}

impl Repository {
    /// The one that a folder is in: the nearest folder above with `.git`. Without one, paths stay relative to
    /// the folder.
    pub fn around(folder: &Path) -> Self {
        let root = folder.ancestors().find(|folder| folder.join(".git").exists());
        Repository {
            root: root.map(Path::to_owned),
            folder: folder.to_owned(),
        }
    }

    /// The URI of a class's source file: where one of these folders has it, else below its package.
    pub(crate) fn source(&self, class: &str, file: &str, folders: &[PathBuf]) -> Option<String> {
        let relative = below(class, file)?;
        let mut places = folders.iter().map(|folder| folder.join(&relative));
        Some(match places.find(|path| path.is_file()) {
            Some(path) => self.uri(&path),
            None => percent_encoded(&relative.to_string_lossy()),
        })
    }

    /// The same of a class whose source file is not known, if one of these folders has a file of its name.
    pub(crate) fn source_by_name(&self, class: &str, folders: &[PathBuf]) -> Option<String> {
        let outer = class.rsplit('/').next()?.split('$').next()?;
        let files = ["java", "kt", "scala", "groovy"].map(|end| format!("{outer}.{end}"));
        let mut relative = files.iter().filter_map(|file| below(class, file));
        relative.find_map(|file| {
            let mut places = folders.iter().map(|folder| folder.join(&file));
            places.find(|path| path.is_file()).map(|path| self.uri(&path))
        })
    }

    /// A file's URI: relative to the repository's root; of a file elsewhere, an absolute one.
    pub(crate) fn uri(&self, file: &Path) -> String {
        let root = self.root.as_ref().unwrap_or(&self.folder);
        let absolute = plain(&self.folder.join(file));
        match absolute.strip_prefix(root) {
            Ok(inside) => percent_encoded(&inside.to_string_lossy()),
            Err(_) if absolute.is_absolute() => {
                format!("file://{}", percent_encoded(&absolute.to_string_lossy()))
            }
            Err(_) => percent_encoded(&absolute.to_string_lossy()),
        }
    }
}

/// Without `.` and `..`, as far as the path itself tells.
fn plain(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if out.file_name().is_some() => {
                out.pop();
            }
            part => out.push(part),
        }
    }
    out
}

/// Everything in a path that a URI does not have as such.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'/')
    .remove(b'.')
    .remove(b'_')
    .remove(b'-')
    .remove(b'~')
    .remove(b'$');

/// A path as part of a URI.
pub fn percent_encoded(path: &str) -> String {
    utf8_percent_encode(path, RESERVED).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_from_the_root() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("repo/module");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::create_dir(home.path().join("repo/.git")).unwrap();
        let repository = Repository::around(&folder);
        let uri = |file: &str| repository.uri(Path::new(file));
        assert_eq!(uri("src/a b/Ü.java"), "module/src/a%20b/%C3%9C.java");
        assert_eq!(uri("./../other/A.java"), "other/A.java");
        assert_eq!(uri(folder.join("A.java").to_str().unwrap()), "module/A.java");
        assert_eq!(uri("/elsewhere/A.java"), "file:///elsewhere/A.java");
        // Without a folder of git.
        assert_eq!(Repository::default().uri(Path::new("src/A.java")), "src/A.java");
    }
}
