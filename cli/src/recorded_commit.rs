//! The commit whose files a folder of profiles is of, and what has changed since, untracked files included.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::coverage::diff_since;
use crate::error::CliError;
use crate::output;

/// The file's name, next to the profiles.
const NAME: &str = "commit";

/// The commit of the current folder's files; `None` if there is none, or if files that git knows differ
/// from it.
pub fn current() -> Option<String> {
    let changed = git(&["status", "--porcelain", "--untracked-files=no"])?;
    let commit = git(&["rev-parse", "HEAD"])?;
    changed.is_empty().then(|| commit.trim().to_owned())
}

/// Notes the commit in a folder of profiles, or that there is none.
pub fn keep(folder: &Path, commit: Option<&str>) -> Result<(), CliError> {
    let file = folder.join(NAME);
    match commit {
        Some(commit) => output::write_file(&file, format!("{commit}\n").as_bytes()),
        None => match std::fs::remove_file(&file) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(CliError::file(&file, e)),
            _ => Ok(()),
        },
    }
}

/// The change from the commit of the profiles, or from `base`, to the files of the working tree; or why it is
/// not known.
///
/// # Errors
/// If git cannot make it.
pub fn change(places: &[PathBuf], base: Option<&str>) -> Result<Result<String, String>, CliError> {
    let kept = commit_of(places);
    let base = match (base, &kept) {
        (Some(base), _) => base,
        (None, Some(kept)) => kept,
        (None, None) => {
            return Ok(Err(
                "it is not known of which commit the profiles are: they were recorded outside of git, or with changed \
                 files (name the commit by --base)"
                    .to_owned(),
            ));
        }
    };
    let mut diff = diff_since(base, Path::new("."))?;
    if let Some(kept) = kept.as_ref().filter(|kept| kept.as_str() != base)
        && git(&["diff", "--quiet", "--end-of-options", kept, base, "--"]).is_none()
    {
        return Ok(Err(format!(
            "the profiles are of commit {kept}, whose files differ from those of {base}"
        )));
    }
    let own: Vec<PathBuf> = places
        .iter()
        .filter_map(|place| place.canonicalize().ok())
        .collect();
    let top = git(&["rev-parse", "--show-toplevel"]).unwrap_or_default();
    let top = Path::new(top.trim_end_matches('\n'));
    let others = [
        "ls-files",
        "--others",
        "--exclude-standard",
        "--full-name",
        "-z",
        ":/",
    ];
    let Some(untracked) = git(&others) else {
        return Ok(Err("git does not list files that it does not track".to_owned()));
    };
    for name in untracked.split_terminator('\0') {
        let is_own = |own: &PathBuf| {
            top.join(name)
                .canonicalize()
                .is_ok_and(|file| file.starts_with(own))
        };
        if !own.iter().any(is_own) {
            let name = name.replace(char::is_control, "?");
            let _ = writeln!(diff, "diff --git a/{name} b/{name}");
        }
    }
    Ok(Ok(diff))
}

/// The commit that all of these places are of.
fn commit_of(places: &[PathBuf]) -> Option<String> {
    let mut commits = places.iter().map(|place| {
        let folder = if place.is_dir() { place } else { place.parent()? };
        let text = std::fs::read_to_string(folder.join(NAME)).ok()?;
        Some(text.trim().to_owned())
    });
    let first = commits.next()??;
    commits
        .all(|commit| commit.as_ref() == Some(&first))
        .then_some(first)
}

/// The output of git in the current folder, if it has succeeded.
fn git(arguments: &[&str]) -> Option<String> {
    crate::git::output(Path::new("."), arguments).ok()
}
