//! Finding source files: by package path and SourceFile attribute below the given folders.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use trodden_profile::{is_control, printable};
use trodden_source::text::SourceFile;

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
#[derive(Debug)]
pub(crate) struct Sources {
    folders: Vec<PathBuf>,
    read: RefCell<HashMap<PathBuf, Option<Rc<SourceText>>>>,
}

/// One source file.
#[derive(Debug)]
pub(crate) struct SourceText {
    pub lines: Vec<String>,
    text: String,
    file: OnceCell<SourceFile>,
}

impl SourceText {
    fn new(text: &str) -> Self {
        SourceText {
            lines: text.lines().map(line).collect(),
            text: text.to_owned(),
            file: OnceCell::new(),
        }
    }

    /// Taken apart, to look conditions up in it.
    pub fn file(&self) -> &SourceFile {
        self.file.get_or_init(|| SourceFile::new(self.text.as_str()))
    }
}

/// Where the source file of a class (internal name) lies below a source folder: by its package and its SourceFile
/// attribute. `None` if that names no such place: it is absolute, leads upwards, or no file has such a name. Class
/// files are not to be trusted, and other tools read files by what we write.
pub(crate) fn below(class: &str, source_file: &str) -> Option<PathBuf> {
    let package = class.rsplit_once('/').map_or("", |(package, _)| package);
    let relative = Path::new(package).join(source_file);
    let inside = relative.components().all(|c| matches!(c, Component::Normal(_)));
    let named = !source_file.is_empty() && !source_file.ends_with('/');
    let plain = !class.starts_with('/') && !relative.to_str()?.contains(is_control);
    (inside && named && plain).then_some(relative)
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
        let relative = below(class, source_file?)?;
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
            .map(|bytes| Rc::new(SourceText::new(&String::from_utf8_lossy(&bytes))));
        self.read.borrow_mut().insert(path, text.clone());
        text
    }
}

/// A line of source, with tabs as spaces: an editor hides as little of it as a compiler.
fn line(text: &str) -> String {
    printable(&text.replace('\t', "    ")).into_owned()
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
