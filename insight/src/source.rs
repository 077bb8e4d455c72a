//! Finding source files: by package path and SourceFile attribute below the given folders.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use trodden_profile::{ClassMap, is_control, printable};
use trodden_source::text::SourceFile;
use zip::ZipArchive;

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

/// Most projects below a folder that are looked through.
const MOST_PROJECTS: usize = 500;

/// The places with sources, with what was read from them.
#[derive(Debug)]
pub struct Sources {
    places: Vec<PathBuf>,
    /// Folders below which packages begin, in the order of the places.
    roots: OnceCell<Vec<Root>>,
    read: RefCell<HashMap<PathBuf, Option<Rc<SourceText>>>>,
}

/// One source file.
#[derive(Debug)]
pub struct SourceText {
    /// The lines.
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
pub fn below(class: &str, source_file: &str) -> Option<PathBuf> {
    let package = class.rsplit_once('/').map_or("", |(package, _)| package);
    let relative = Path::new(package).join(source_file);
    let inside = relative.components().all(|c| matches!(c, Component::Normal(_)));
    let named = !source_file.is_empty() && !source_file.ends_with('/');
    let plain = !class.starts_with('/') && !relative.to_str()?.contains(is_control);
    (inside && named && plain).then_some(relative)
}

/// True if a class is of a source file. Whole parts of the path are compared, from its end.
pub fn is_of(class: &ClassMap, file: &str) -> bool {
    let Some(own) = class
        .source_file
        .as_deref()
        .and_then(|name| below(&class.name, name))
    else {
        return false;
    };
    let own = own.to_string_lossy().replace('\\', "/");
    let file = file.replace('\\', "/");
    let file = file.trim_start_matches("./");
    let ends = |long: &str, short: &str| {
        long.strip_suffix(short)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
    };
    ends(&own, file) || ends(file, &own)
}

impl Sources {
    /// Looks in these folders and archives.
    pub fn new(folders: &[PathBuf]) -> Self {
        Sources {
            places: folders.to_vec(),
            roots: OnceCell::new(),
            read: RefCell::default(),
        }
    }

    /// Were any folders given?
    pub fn given(&self) -> bool {
        !self.places.is_empty()
    }

    /// The source of a class (internal name), if a folder has it. Names come from a profile, so nothing outside
    /// the folders may be named by them.
    pub fn find(&self, class: &str, source_file: Option<&str>) -> Option<Rc<SourceText>> {
        let relative = below(class, source_file?)?;
        let bare = Path::new(source_file?);
        let roots = self
            .roots
            .get_or_init(|| self.places.iter().flat_map(|place| roots(place)).collect());
        // Kotlin and Scala sources need not follow the package; the bare file name comes last.
        let in_package = roots.iter().find_map(|root| self.load(root, &relative));
        in_package.or_else(|| roots.iter().find_map(|root| self.load(root, bare)))
    }

    fn load(&self, root: &Root, relative: &Path) -> Option<Rc<SourceText>> {
        let path = root.place().join(relative);
        if let Some(known) = self.read.borrow().get(&path) {
            return known.clone();
        }
        let text = root
            .read(relative)
            .map(|bytes| Rc::new(SourceText::new(&String::from_utf8_lossy(&bytes))));
        self.read.borrow_mut().insert(path, text.clone());
        text
    }
}

/// Where packages begin.
#[derive(Debug)]
enum Root {
    Folder(PathBuf),
    /// A `-sources.jar`.
    Archive(PathBuf, RefCell<ZipArchive<File>>),
}

impl Root {
    fn place(&self) -> &Path {
        match self {
            Root::Folder(place) | Root::Archive(place, _) => place,
        }
    }

    fn read(&self, relative: &Path) -> Option<Vec<u8>> {
        match self {
            Root::Folder(folder) => {
                let path = folder.join(relative);
                let about = std::fs::metadata(&path).ok()?;
                let good = about.is_file() && about.len() <= MAX_BYTES;
                good.then(|| std::fs::read(&path).ok())?
            }
            Root::Archive(_, archive) => {
                let mut archive = archive.borrow_mut();
                let entry = archive.by_name(relative.to_str()?).ok()?;
                let mut bytes = Vec::new();
                entry.take(MAX_BYTES + 1).read_to_end(&mut bytes).ok()?;
                (bytes.len() as u64 <= MAX_BYTES).then_some(bytes)
            }
        }
    }
}

/// Where packages begin in a place: an archive, a folder with sources or with a project, or one above several
/// projects.
fn roots(place: &Path) -> Vec<Root> {
    if place.is_file() {
        let archive = File::open(place).ok().and_then(|file| ZipArchive::new(file).ok());
        let archive = archive.map(|archive| Root::Archive(place.to_owned(), RefCell::new(archive)));
        return archive.into_iter().collect();
    }
    let mut projects = vec![place.to_owned()];
    let children = std::fs::read_dir(place).into_iter().flatten().flatten();
    let mut below: Vec<PathBuf> = children
        .map(|child| child.path())
        .filter(|path| path.is_dir())
        .collect();
    below.sort();
    projects.extend(below.into_iter().take(MOST_PROJECTS));
    let roots = projects.iter().enumerate().flat_map(|(index, project)| {
        // A folder below may be a package: it is a root only where it has a project's folders.
        let usual = ROOTS.iter().filter(move |root| index == 0 || root.contains('/'));
        usual.map(|root| project.join(root)).filter(|root| root.is_dir())
    });
    roots.map(Root::Folder).collect()
}

/// The folders among the places, and in them, below which packages begin.
pub fn folders(places: &[PathBuf]) -> Vec<PathBuf> {
    let folder = |root| match root {
        Root::Folder(folder) => Some(folder),
        Root::Archive(..) => None,
    };
    let roots = places.iter().flat_map(|place| roots(place));
    roots.filter_map(folder).collect()
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
