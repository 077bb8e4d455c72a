//! The text that a profile speaks of: which source was compiled and run.
//!
//! A profile has the lines of its classes, and no source. A source file that was not written since the run
//! began is the one that ran, unless the class that ran is older than it. Else a class file that was built of
//! the present text says where each unchanged method is now; else there is the text that was seen before it
//! was edited; else that of a commit. What fits none of these is not known.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{SystemTime, UNIX_EPOCH};

use trodden_insight::edited::Rebuilt;
use trodden_profile::{ClassMap, MethodMap};
use trodden_source::text::SourceFile;

use super::Settings;
use crate::coverage::read_classes;
use crate::{git, instrument};

/// Where build tools put classes, below a project's folder.
const OUTPUTS: [&str; 8] = [
    "target/classes",
    "target/test-classes",
    "build/classes/java/main",
    "build/classes/java/test",
    "build/classes/kotlin/main",
    "build/classes/kotlin/test",
    "bin/main",
    "bin",
];

/// How a text is known to be the one that ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Basis {
    /// It was not written since, or was seen before it was.
    Unwritten,
    /// Classes built of it have the same code.
    Built,
    /// It is that of a commit: the one that was named, or the last one before the run.
    Commit { id: String, named: bool },
}

/// The text whose lines are known.
#[derive(Debug)]
pub struct Recorded {
    pub basis: Basis,
    pub text: Rc<str>,
    /// By class: where the profile's lines are in that text; where they were, if it is not there.
    pub rebuilt: HashMap<String, Rebuilt>,
}

/// A class file on the disk.
struct Built {
    class: String,
    path: PathBuf,
    written: SystemTime,
}

impl Built {
    /// True if it has these very bytes. The file is read for that.
    fn is(&self, class: &ClassMap) -> bool {
        std::fs::read(&self.path).is_ok_and(|bytes| instrument::sha256(&bytes) == class.sha256)
    }
}

/// Looks for recorded texts, and remembers them.
pub struct Texts<'s> {
    settings: &'s Settings,
    started: SystemTime,
    /// Texts that were the recorded ones when they were seen.
    seen: RefCell<HashMap<PathBuf, Rc<Recorded>>>,
    /// By folder: the last commit before the run.
    commits: RefCell<HashMap<PathBuf, Option<String>>>,
    /// By file: what was found in git.
    committed: RefCell<HashMap<PathBuf, Option<Rc<Recorded>>>>,
}

impl<'s> Texts<'s> {
    /// Texts of a run that began at this time.
    pub fn new(settings: &'s Settings, started: SystemTime) -> Self {
        Texts {
            settings,
            started,
            seen: RefCell::default(),
            commits: RefCell::default(),
            committed: RefCell::default(),
        }
    }

    /// The text that these classes of a source file were compiled of.
    pub fn recorded(&self, file: &Path, classes: &[&ClassMap]) -> Option<Rc<Recorded>> {
        let saved = file.metadata().ok()?.modified().ok()?;
        let built = self.built(file, classes);
        let ran = |built: &Built| {
            let mut named = classes.iter().filter(|class| class.name == built.class);
            named.any(|class| built.is(class))
        };
        // Most classes are younger than their source, and are not read.
        let edited_before_the_run = built.iter().any(|built| built.written < saved && ran(built));
        if saved < self.started && !edited_before_the_run {
            return self.unwritten(file, classes);
        }
        if let Some(found) = self.by_build(file, saved, &built, classes) {
            return Some(self.see(file, found));
        }
        if let Some(seen) = self.seen.borrow().get(file) {
            return Some(Rc::clone(seen));
        }
        if let Some(found) = self.committed.borrow().get(file) {
            return found.clone();
        }
        let found = self.in_git(file, classes).map(Rc::new);
        self.committed.borrow_mut().insert(file.to_owned(), found.clone());
        found
    }

    fn see(&self, file: &Path, recorded: Recorded) -> Rc<Recorded> {
        let recorded = Rc::new(recorded);
        self.seen
            .borrow_mut()
            .insert(file.to_owned(), Rc::clone(&recorded));
        recorded
    }

    fn unwritten(&self, file: &Path, classes: &[&ClassMap]) -> Option<Rc<Recorded>> {
        let text = read(file)?;
        if let Some(seen) = self.seen.borrow().get(file)
            && seen.text == text
        {
            return Some(Rc::clone(seen));
        }
        fits(&text, classes).then(|| {
            self.see(
                file,
                Recorded {
                    basis: Basis::Unwritten,
                    text,
                    rebuilt: HashMap::new(),
                },
            )
        })
    }

    /// The present text, if classes were built of it that have code of the recorded ones.
    fn by_build(
        &self,
        file: &Path,
        saved: SystemTime,
        built: &[Built],
        classes: &[&ClassMap],
    ) -> Option<Recorded> {
        let text = read(file)?;
        let mut rebuilt = HashMap::new();
        let mut any = false;
        for class in classes {
            let found = match built.iter().find(|built| built.class == class.name) {
                Some(now) if now.written < saved => return None,
                Some(now) if now.is(class) => Rebuilt::new(class, class),
                Some(now) => {
                    let now = read_classes(std::slice::from_ref(&now.path)).ok()?;
                    Rebuilt::new(class, &now.first()?.map)
                }
                None => Rebuilt::gone(),
            };
            any |= !found.same.is_empty();
            rebuilt.insert(class.name.clone(), found);
        }
        any.then_some(Recorded {
            basis: Basis::Built,
            text,
            rebuilt,
        })
    }

    /// Class files of these classes, where build tools put them.
    fn built(&self, file: &Path, classes: &[&ClassMap]) -> Vec<Built> {
        let above = file
            .ancestors()
            .skip(1)
            .take_while(|folder| self.settings.folders.has(folder));
        let usual = above.flat_map(|folder| OUTPUTS.map(|output| folder.join(output)));
        let given = self.settings.coverage.classes().iter().cloned();
        let folders: Vec<PathBuf> = given.chain(usual).filter(|folder| folder.is_dir()).collect();
        let find = |class: &&ClassMap| {
            let path = folders
                .iter()
                .map(|folder| folder.join(format!("{}.class", class.name)));
            let path = path.into_iter().find(|path| path.is_file())?;
            Some(Built {
                class: class.name.clone(),
                written: path.metadata().ok()?.modified().ok()?,
                path,
            })
        };
        classes.iter().filter_map(find).collect()
    }

    /// The text of the commit that was named, or of the last one before the run.
    fn in_git(&self, file: &Path, classes: &[&ClassMap]) -> Option<Recorded> {
        let (folder, name) = (file.parent()?, file.file_name()?.to_str()?);
        let named = self.settings.recorded_at.as_deref();
        let commit = match named {
            Some(commit) => commit.to_owned(),
            None => self.commit_before_the_run(folder)?,
        };
        let text: Rc<str> = git::output(folder, &["show", &format!("{commit}:./{name}")])
            .ok()?
            .into();
        fits(&text, classes).then(|| Recorded {
            basis: Basis::Commit {
                id: commit.chars().take(12).collect(),
                named: named.is_some(),
            },
            text,
            rebuilt: HashMap::new(),
        })
    }

    fn commit_before_the_run(&self, folder: &Path) -> Option<String> {
        if let Some(found) = self.commits.borrow().get(folder) {
            return found.clone();
        }
        let seconds = self.started.duration_since(UNIX_EPOCH).ok()?.as_secs();
        let before = format!("--before={seconds}");
        let found = git::output(folder, &["rev-list", "-1", &before, "HEAD"]).ok();
        let found = found.map(|id| id.trim().to_owned()).filter(|id| !id.is_empty());
        self.commits.borrow_mut().insert(folder.to_owned(), found.clone());
        found
    }
}

/// The text of a file on the disk.
pub fn read(file: &Path) -> Option<Rc<str>> {
    let bytes = std::fs::read(file).ok()?;
    Some(String::from_utf8_lossy(&bytes).into())
}

/// True if a text may be the one that these classes were compiled of: it has all their lines, and declares
/// half of their methods at least. Of others, as generated ones, a text has no declaration.
fn fits(text: &str, classes: &[&ClassMap]) -> bool {
    let methods = || classes.iter().flat_map(|class| &class.methods);
    let last = methods()
        .flat_map(|method| &method.lines)
        .map(|entry| entry.line)
        .max();
    if last.is_some_and(|last| last as usize > text.lines().count()) {
        return false;
    }
    let source = SourceFile::new(text);
    let declared = |method: &MethodMap| source.declaration(&method.name, method.line(0)?);
    let plain = |method: &&MethodMap| !method.name.contains(['$', '<']) && !method.lines.is_empty();
    let found: Vec<bool> = methods()
        .filter(plain)
        .map(|method| declared(method).is_some())
        .collect();
    found.iter().filter(|found| **found).count() * 2 >= found.len()
}
