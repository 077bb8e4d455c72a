//! Finding source files: by package path and SourceFile attribute below the given folders.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

/// Where build tools keep sources below a project's folder.
const ROOTS: &[&str] = &[
    "",
    "src",
    "src/main/java",
    "src/main/kotlin",
    "src/main/scala",
    "src/main/groovy",
    "src/test/java",
];
/// Larger files are not taken for source.
const MAX_BYTES: u64 = 8 << 20;

/// The source folders, with what was read from them.
pub(crate) struct Sources {
    folders: Vec<PathBuf>,
    read: RefCell<HashMap<PathBuf, Option<Rc<SourceText>>>>,
}

/// One source file.
pub(crate) struct SourceText {
    pub lines: Vec<String>,
}

impl Sources {
    pub fn new(folders: &[PathBuf]) -> Self {
        Sources {
            folders: folders.to_vec(),
            read: RefCell::default(),
        }
    }

    /// Were any folders given?
    pub fn given(&self) -> bool {
        !self.folders.is_empty()
    }

    /// The source of a class (internal name), if a folder has it. Names come from a profile, so nothing outside
    /// the folders may be named by them.
    pub fn find(&self, class: &str, source_file: Option<&str>) -> Option<Rc<SourceText>> {
        let relative = match class.rsplit_once('/') {
            Some((package, _)) => Path::new(package).join(source_file?),
            None => PathBuf::from(source_file?),
        };
        if !relative.components().all(|c| matches!(c, Component::Normal(_))) {
            return None;
        }
        let below = |part: &Path| {
            let part = part.to_owned();
            self.folders
                .iter()
                .flat_map(|f| ROOTS.iter().map(move |r| f.join(r)))
                .map(move |f| f.join(&part))
                .collect::<Vec<_>>()
        };
        // Kotlin and Scala sources need not follow the package; the bare file name comes last.
        let mut candidates = below(&relative);
        candidates.extend(below(Path::new(source_file?)));
        candidates.into_iter().find_map(|path| self.load(path))
    }

    fn load(&self, path: PathBuf) -> Option<Rc<SourceText>> {
        if let Some(known) = self.read.borrow().get(&path) {
            return known.clone();
        }
        let text = std::fs::metadata(&path)
            .ok()
            .filter(|m| m.is_file() && m.len() <= MAX_BYTES)
            .and_then(|_| std::fs::read(&path).ok())
            .map(|bytes| {
                let text = String::from_utf8_lossy(&bytes);
                Rc::new(SourceText {
                    lines: text.lines().map(str::to_owned).collect(),
                })
            });
        self.read.borrow_mut().insert(path, text.clone());
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_below_the_folders() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("sources");
        std::fs::create_dir_all(folder.join("src/main/java/a")).unwrap();
        std::fs::write(folder.join("src/main/java/a/C.java"), "one\ntwo\n").unwrap();
        std::fs::write(home.path().join("Secret.java"), "secret").unwrap();
        let sources = Sources::new(&[folder]);
        let found = sources.find("a/C$Inner", Some("C.java")).unwrap();
        assert_eq!(found.lines, ["one", "two"]);
        assert!(sources.find("a/C", None).is_none());
        assert!(sources.find("C", Some("../Secret.java")).is_none());
        assert!(sources.find("../C", Some("Secret.java")).is_none());
        let absolute = home.path().join("Secret.java");
        assert!(sources.find("a/C", absolute.to_str()).is_none());
    }
}
