//! Facts of a profile at the present lines of source files. Knows nothing of the protocol.

mod change;
mod chosen;
mod files;
mod page;
mod placed;
mod recorded;

use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use trodden_insight::coverage::Coverage;
use trodden_insight::source::Sources;
use trodden_insight::view::View;
use trodden_profile::{Profile, RunInfo};
use trodden_report::editor;

pub use change::{Notice, Notices};
pub use chosen::Chosen;
pub use placed::MethodName;

use crate::coverage::CoverageArgs;
use crate::error::CliError;
use crate::folders::Folders;
use files::Files;
use page::Pages;
use placed::{Placed, Placing, What};
use recorded::{Basis, Recorded, Texts};

/// Settings that stay while the editor runs.
#[derive(Debug)]
pub struct Settings {
    /// The editor's folders: no source outside of them is looked at.
    pub folders: Folders,
    /// The profile's files; the newest one in the folders if there are none.
    pub files: Vec<PathBuf>,
    /// Where class files are, in addition to the places of build tools, and which classes are looked at.
    pub coverage: CoverageArgs,
    /// The change whose outcomes that nothing took are shown.
    pub change: Option<Change>,
    /// The commit whose sources were profiled.
    pub recorded_at: Option<String>,
}

impl Settings {
    /// Where sources are.
    fn sources(&self) -> Vec<PathBuf> {
        self.folders.iter().map(Path::to_owned).collect()
    }
}

/// A change.
#[derive(Debug)]
pub enum Change {
    /// A file that `git diff` wrote.
    Diff(PathBuf),
    /// The present files, compared with a commit.
    Since(String),
}

/// A line of facts, at a line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// From 1.
    pub line: u32,
    pub title: String,
    /// The method that it is about; none if it is about the file.
    pub method: Option<MethodName>,
}

/// The facts of a file.
struct Facts<'v, 'p> {
    placed: Vec<Placed<'v, 'p>>,
    /// A remark about their lines, if one is needed.
    note: Option<String>,
    /// True if lines of the profile are elsewhere now.
    moved: bool,
}

/// A profile, ready for questions about files.
pub struct Analysis<'p> {
    view: View<'p>,
    files: Files<'p>,
    texts: Texts<'p>,
    settings: &'p Settings,
    name: String,
    coverage: OnceCell<Coverage>,
    pages: Pages,
}

impl<'p> Analysis<'p> {
    /// A profile that was read of these files.
    pub fn new(profile: &'p Profile, chosen: &Chosen, settings: &'p Settings) -> Self {
        let folders = settings.sources();
        let view = View::new(profile, None, &Rc::new(Sources::new(&folders)), false);
        let started = started(&profile.run, chosen.written());
        Analysis {
            files: Files::new(profile, &view),
            view,
            texts: Texts::new(settings, started),
            settings,
            name: chosen.name(),
            coverage: OnceCell::new(),
            pages: Pages::default(),
        }
    }

    /// The facts of a file with this text, by line.
    pub fn marks(&self, file: &Path, text: &str) -> Vec<Mark> {
        let Some(Facts { placed, note, .. }) = self.facts(file, text) else {
            return Vec::new();
        };
        let mark = |placed: &Placed| Mark {
            line: placed.line,
            title: self.title(placed),
            method: Some(placed.method.clone()),
        };
        let note = note.map(|title| Mark {
            line: 1,
            title,
            method: None,
        });
        note.into_iter().chain(placed.iter().map(mark)).collect()
    }

    /// The facts at a line, in Markdown.
    pub fn hover(&self, file: &Path, text: &str, line: u32) -> Option<String> {
        let facts = self.facts(file, text)?;
        let here = || facts.placed.iter().filter(|placed| placed.line == line);
        let texts: Vec<String> = here().map(|placed| self.markdown(placed)).collect();
        if texts.is_empty() {
            return None;
        }
        let mut about = vec![self.name.clone()];
        if here().any(|placed| placed.edited) {
            about.push("edited since, so these are facts of the code before".to_owned());
        } else if facts.moved {
            about.push("lines of paths are those of the text that was recorded".to_owned());
        }
        about.extend(facts.note);
        Some(format!("{}\n*{}*\n", texts.join("\n---\n\n"), about.join("; ")))
    }

    /// The URI of the report's page, at a method if one is named.
    pub fn page(&self, method: Option<&MethodName>) -> Result<String, CliError> {
        self.pages
            .uri(self.view.profile, &self.settings.sources(), method)
    }

    fn title(&self, placed: &Placed) -> String {
        let title = match &placed.what {
            What::Method(method) => editor::method_title(&self.view, method),
            What::Idle => editor::idle_title(&self.view).to_owned(),
            What::LeftOut(left) => editor::left_out_title(left),
            What::Branches(method, branches) => {
                joined(branches, " | ", |branch| editor::branch_title(method, branch))
            }
            What::Covered(method) => editor::covered_title(method),
            What::CoveredBranches(method, branches) => joined(branches, " | ", |branch| {
                editor::covered_branch_title(method, branch)
            }),
            What::HotSpot(asked, branch) => editor::hotspot_branch_title(asked.as_deref(), branch),
        };
        if placed.edited {
            format!("edited since: {title}")
        } else {
            title
        }
    }

    fn markdown(&self, placed: &Placed) -> String {
        match &placed.what {
            What::Method(method) => editor::method(&self.view, method),
            What::Idle => format!("**{}**: {}.\n", placed.title, editor::idle_title(&self.view)),
            What::LeftOut(left) => editor::left_out(left),
            What::Branches(method, branches) => {
                joined(branches, "\n", |branch| editor::branch(method, branch))
            }
            What::Covered(method) => editor::covered(method),
            What::CoveredBranches(method, branches) => {
                joined(branches, "\n", |branch| editor::covered_branch(method, branch))
            }
            What::HotSpot(asked, branch) => editor::hotspot_branch(asked.as_deref(), branch),
        }
    }

    /// The facts of a file at their lines now. None if the profile knows nothing of the file.
    fn facts(&self, file: &Path, text: &str) -> Option<Facts<'_, 'p>> {
        let file = file.canonicalize().ok()?;
        if !self.settings.folders.has(&file) {
            return None;
        }
        let classes = self.files.classes_of(&file, text);
        if classes.is_empty() {
            return None;
        }
        let maps: Vec<_> = classes.iter().map(|class| &*class.map).collect();
        let Some(recorded) = self.texts.recorded(&file, &maps) else {
            let why = format!(
                "{} was recorded of another text, which is not known: run again, or name the commit by --recorded-at",
                self.name
            );
            return Some(Facts {
                placed: Vec::new(),
                note: Some(why),
                moved: true,
            });
        };
        let covered = match &self.view.profile.coverage {
            Some(_) => self.coverage().ok(),
            None => None,
        };
        let placing = Placing::new((&self.view, &self.files, covered), &recorded, text);
        let (placed, gone) = placing.place(&classes);
        Some(Facts {
            note: self.note(&recorded, &placed, gone),
            moved: placing.is_moved(),
            placed,
        })
    }

    /// Says that lines are those of edited methods, or of a commit.
    fn note(&self, recorded: &Recorded, placed: &[Placed], gone: usize) -> Option<String> {
        let methods = || placed.iter().filter(|placed| placed.what.is_method());
        let edited = methods().filter(|placed| placed.edited).count();
        let mut parts = Vec::new();
        if edited > 0 {
            parts.push(format!(
                "{edited} of {} methods edited since {} was recorded",
                methods().count(),
                self.name
            ));
        }
        match gone {
            0 => {}
            1 => parts.push(format!("1 method that {} knows is gone", self.name)),
            _ => parts.push(format!("{gone} methods that {} knows are gone", self.name)),
        }
        if let Basis::Commit { id, named: false } = &recorded.basis {
            parts.push(format!("lines by commit {id}, the last one before the run"));
        }
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

/// The texts of all branches at a line.
fn joined<B>(branches: &[B], between: &str, text: impl Fn(&B) -> String) -> String {
    branches.iter().map(text).collect::<Vec<_>>().join(between)
}

/// When the run began; of a profile that does not know it, by when the file was written.
fn started(run: &RunInfo, written: Option<SystemTime>) -> SystemTime {
    let ran = Duration::try_from_secs_f64(run.seconds).unwrap_or_default();
    match run.started_ms {
        0 => written
            .and_then(|written| written.checked_sub(ran))
            .unwrap_or(UNIX_EPOCH),
        ms => UNIX_EPOCH + Duration::from_millis(ms),
    }
}
