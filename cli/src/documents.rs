//! The commands of the documents are commands that this program takes.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::{argv, commands};

/// All Markdown files below a folder.
fn pages(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            pages(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
}

/// The lines of a page's `sh` blocks; a backslash at a line's end joins the next one to it.
fn lines(page: &str) -> Vec<String> {
    let blocks = page.split("\n```sh\n").skip(1);
    let text: Vec<&str> = blocks
        .map(|block| block.split("\n```").next().unwrap_or_default())
        .collect();
    let joined = text.join("\n").replace("\\\n", " ");
    joined.lines().map(|line| line.trim().to_owned()).collect()
}

/// The words of a line up to its comment, pipe or redirection, with quotes taken off.
fn split(line: &str) -> Vec<OsString> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quote = None;
    for c in line.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None, '|' | '>' | '<' | ';' | '&') => break,
            (None, '#') if word.is_empty() => break,
            (None, ' ') => {
                words.extend((!word.is_empty()).then(|| OsString::from(std::mem::take(&mut word))))
            }
            (_, c) => word.push(c),
        }
    }
    words.extend((!word.is_empty()).then(|| OsString::from(word)));
    words
}

#[test]
fn a_line_is_split_as_a_shell_does() {
    let words = split("trodden check 'a b' --rules \"x >= 1\" || echo # no");
    assert_eq!(words, ["trodden", "check", "a b", "--rules", "x >= 1"]);
}

#[test]
fn each_command_of_the_documents_is_taken() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut found = vec![root.join("README.md")];
    pages(&root.join("docs"), &mut found);
    let mut taken = 0;
    let mut refused = Vec::new();
    for path in found {
        for line in lines(&fs::read_to_string(&path).unwrap()) {
            let Some(start) = line.find("trodden ").filter(|start| {
                let before = &line[..*start];
                before.is_empty() || before.ends_with("bin/")
            }) else {
                continue;
            };
            let all = commands(true);
            let given = argv::with_run(split(&line[start..]), &all);
            match all.try_get_matches_from(given) {
                Ok(_) => taken += 1,
                Err(error) => refused.push(format!("{}: {line}\n{error}", path.display())),
            }
        }
    }
    assert!(refused.is_empty(), "{}", refused.join("\n"));
    assert!(taken > 80, "only {taken} commands were found");
}
