//! A change, and what nothing ran of it, at the lines where it is now.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use trodden_insight::coverage::{ChangeCoverage, ChangedLines, Coverage};
use trodden_insight::edited::MovedLines;
use trodden_report::coverage::change::{UNKNOWN_FILE, Warning, warnings};

use super::recorded::{Recorded, read};
use super::{Analysis, Change};
use crate::coverage::{diff_since, read_diff};
use crate::error::CliError;
use crate::git;

/// Something to show at a line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// From 1.
    pub line: u32,
    /// The kind of warning; none if it says that something is not known.
    pub rule: Option<&'static str>,
    pub message: String,
    /// Steps of the nearest path: lines of the same file, and what happens there.
    pub steps: Vec<(u32, String)>,
}

/// Notices by file.
pub type Notices = BTreeMap<PathBuf, Vec<Notice>>;

/// A diff, and the folder that its paths are of.
struct Diff {
    root: PathBuf,
    lines: ChangedLines,
}

/// A changed file that the profile knows.
struct Changed {
    path: PathBuf,
    /// Its first changed line.
    first: u32,
    /// The text that was recorded, and where its lines are now.
    recorded: Option<(Rc<Recorded>, MovedLines)>,
}

impl Analysis<'_> {
    /// Outcomes of the change that nothing took. `text` is a file as the editor has it, if it has it open.
    pub fn notices(&self, text: &dyn Fn(&Path) -> Option<String>) -> Result<Notices, CliError> {
        let mut notices = Notices::new();
        for diff in self.diffs()? {
            self.add_notices(&diff, text, &mut notices)?;
        }
        Ok(notices)
    }

    /// The change in each of the editor's folders, as far as these have different roots.
    fn diffs(&self) -> Result<Vec<Diff>, CliError> {
        let Some(change) = &self.settings.change else {
            return Ok(Vec::new());
        };
        let mut roots = BTreeSet::new();
        let mut diffs = Vec::new();
        for folder in self.settings.folders.iter() {
            let root = root(folder);
            if !roots.insert(root.clone()) {
                continue;
            }
            let (name, text) = match change {
                Change::Since(base) => (format!("--base {base}"), diff_since(base, folder)?),
                Change::Diff(file) => (file.display().to_string(), read_diff(file)?),
            };
            let lines = ChangedLines::of_diff(&text);
            let lines = lines.map_err(|e| CliError::Failed(format!("{name}: {e}")))?;
            diffs.push(Diff { root, lines });
            if matches!(change, Change::Diff(_)) {
                break;
            }
        }
        Ok(diffs)
    }

    fn add_notices(
        &self,
        diff: &Diff,
        text: &dyn Fn(&Path) -> Option<String>,
        notices: &mut Notices,
    ) -> Result<(), CliError> {
        let mut recorded_lines = ChangedLines::default();
        let mut files: BTreeMap<&str, Changed> = BTreeMap::new();
        let mut add = |path: &Path, notice: Notice| notices.entry(path.to_owned()).or_default().push(notice);
        for (name, lines) in &diff.lines.files {
            let path = diff.root.join(name);
            let Some(disk) = read(&path) else { continue };
            let classes = self.files.classes_of(&path, &disk);
            let maps: Vec<_> = classes.iter().map(|class| &*class.map).collect();
            let first = lines.first().copied().unwrap_or(1);
            let mut changed = Changed {
                path,
                first,
                recorded: None,
            };
            if maps.is_empty() {
                recorded_lines.files.insert(name.clone(), lines.clone());
            } else if let Some(recorded) = self.texts.recorded(&changed.path, &maps) {
                let (lines, newer) = self.lines_then(&recorded, &disk, lines);
                newer.into_iter().for_each(|newer| add(&changed.path, newer));
                recorded_lines.files.insert(name.clone(), lines);
                let now = text(&changed.path).map_or(disk, Into::into);
                let moved = MovedLines::of_texts(&recorded.text, &now);
                changed.recorded = Some((recorded, moved));
            } else {
                let why = format!("{} was recorded of another text", self.name);
                add(&changed.path, not_known(first, &why));
            }
            files.insert(name, changed);
        }
        let found = ChangeCoverage::new(self.coverage()?, &recorded_lines);
        for changed in found.unknown.iter().filter_map(|file| files.get(file.as_str())) {
            add(&changed.path, not_known(changed.first, UNKNOWN_FILE));
        }
        for warning in warnings(&found) {
            if let Some(changed) = files.get(warning.file.as_str())
                && let Some(notice) = changed.notice(&warning)
            {
                add(&changed.path, notice);
            }
        }
        Ok(())
    }

    /// Changed lines as the profile has them; and that some are newer.
    fn lines_then(
        &self,
        recorded: &Recorded,
        disk: &str,
        lines: &BTreeSet<u32>,
    ) -> (BTreeSet<u32>, Option<Notice>) {
        // The new files of a diff that is given are those that ran.
        if let Some(Change::Diff(_)) = self.settings.change {
            return (lines.clone(), None);
        }
        let back = MovedLines::of_texts(&recorded.text, disk).back();
        (before(recorded, &back, lines), self.newer(lines, &back))
    }

    /// Says that changed lines are newer than the recorded text.
    fn newer(&self, lines: &BTreeSet<u32>, back: &MovedLines) -> Option<Notice> {
        let mut newer = lines.iter().filter(|&&line| back.now(line).is_none());
        let first = *newer.next()?;
        let why = format!(
            "{} of its lines were edited since {} was recorded",
            newer.count() + 1,
            self.name
        );
        Some(not_known(first, &why))
    }

    /// The coverage of all code.
    pub fn coverage(&self) -> Result<&Coverage, CliError> {
        if let Some(coverage) = self.coverage.get() {
            return Ok(coverage);
        }
        let settings = &self.settings;
        let name = PathBuf::from(&self.name);
        let coverage = settings
            .coverage
            .coverage(&name, self.view.profile, None, &settings.sources())?;
        Ok(self.coverage.get_or_init(|| coverage.printable().into_owned()))
    }
}

impl Changed {
    /// A warning at its line now; none if that was edited since.
    fn notice(&self, warning: &Warning) -> Option<Notice> {
        let now = |line: u32| match &self.recorded {
            Some((recorded, moved)) => {
                let built = match recorded.rebuilt.get(&warning.class) {
                    Some(rebuilt) => rebuilt.lines.now(line)?,
                    None => line,
                };
                moved.now(built)
            }
            None => Some(line),
        };
        let steps = warning.steps.iter();
        Some(Notice {
            line: now(warning.line)?,
            rule: Some(warning.rule),
            message: warning.message.clone(),
            steps: steps
                .filter_map(|step| Some((now(step.line?)?, step.message.clone())))
                .collect(),
        })
    }
}

fn not_known(line: u32, why: &str) -> Notice {
    Notice {
        line,
        rule: None,
        message: format!("not known what ran of this change: {why}"),
        steps: Vec::new(),
    }
}

/// Lines of the present text as the profile has them: those that were there when it was recorded, which
/// `back` says.
fn before(recorded: &Recorded, back: &MovedLines, lines: &BTreeSet<u32>) -> BTreeSet<u32> {
    let classes: Vec<MovedLines> = recorded
        .rebuilt
        .values()
        .map(|rebuilt| rebuilt.lines.back())
        .collect();
    let mut found = BTreeSet::new();
    for line in lines.iter().filter_map(|&line| back.now(line)) {
        if classes.is_empty() {
            found.insert(line);
        } else {
            found.extend(classes.iter().filter_map(|class| class.now(line)));
        }
    }
    found
}

/// The root of the working tree that a folder is in; the folder itself, if it is in none.
fn root(folder: &Path) -> PathBuf {
    let root = git::output(folder, &["rev-parse", "--show-toplevel"]);
    root.map_or_else(|_| folder.to_owned(), |root| PathBuf::from(root.trim_end()))
}
