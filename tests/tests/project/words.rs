//! Plain words in doc comments: phrases that readers stumble over are counted, and may only become fewer.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// How doc comments must not begin, and the number that still do. A question is one whose first sentence ends
/// with a question mark.
const BEGINNINGS: [(&str, usize); 4] = [("what", 387), ("whether", 0), ("of", 90), ("?", 196)];

/// Phrases by what to say in place of them, and how often doc comments still have them. These numbers may
/// only fall.
const PHRASES: [(&str, &[&str], usize); 25] = [
    ("reported, given, known", &["told"], 22),
    ("N, that number of", &["so many", "so much", "so long"], 70),
    ("no X, another process", &["nobody", "somebody"], 15),
    ("callers that", &["whoever", "who asks"], 13),
    (
        "is in, represents",
        &[
            "stands for",
            "stands in",
            "stands at",
            "stand for",
            "stand in",
            "stand at",
        ],
        71,
    ),
    ("is stored, is in", &["lies", "lie"], 16),
    (
        "next to, in addition to, compared with",
        &["beside", "besides"],
        25,
    ),
    ("continues", &["goes on", "go on", "went on"], 26),
    ("everything that", &["all that"], 53),
    ("in progress", &["under way"], 6),
    ("again", &["anew"], 7),
    (
        "compared with",
        &["held against", "hold against", "holds against"],
        10,
    ),
    ("combined", &["put together", "puts together"], 4),
    ("expensive", &["dear"], 0),
    ("as text", &["in words"], 29),
    ("alone, independently", &["by itself", "by themselves"], 3),
    ("in either direction", &["both ways"], 13),
    (
        "applies",
        &[
            "means something",
            "means nothing",
            "mean something",
            "mean nothing",
        ],
        24,
    ),
    ("outcome", &["what became of", "what becomes of"], 10),
    ("one past the end", &["behind the last"], 2),
    (
        "unchanged",
        &["as it was", "as it is", "as they were", "as they are"],
        61,
    ),
    ("interval", &["stretch", "stretches"], 13),
    ("is loaded, passes", &["comes by", "came by"], 1),
    ("like [`x`], but", &["the same with"], 6),
    ("runs the command", &["does it"], 9),
];

/// Sources in Rust below `folder`, without what builds and downloads leave.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    const GENERATED: [&str; 5] = ["target", "build", "apps", "corpus", "node_modules"];
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if path.is_dir() && !path.is_symlink() {
            if !name.starts_with('.') && !GENERATED.contains(&name.as_str()) {
                sources(&path, found)?;
            }
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
    Ok(())
}

/// The doc comments of a source: the number of the first line, and the text.
fn doc_comments(source: &str) -> Vec<(usize, String)> {
    let mut comments: Vec<(usize, String)> = Vec::new();
    let mut open = false;
    for (number, line) in source.lines().enumerate() {
        let line = line.trim_start();
        let text = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
        match (text, open) {
            (Some(text), false) => comments.push((number + 1, text.to_owned())),
            (Some(text), true) => {
                let (_, comment) = comments.last_mut().expect("one is open");
                comment.push('\n');
                comment.push_str(text);
            }
            (None, _) => {}
        }
        open = text.is_some();
    }
    comments
}

/// The words of a text in lower case, each between two spaces.
fn words(text: &str) -> String {
    let separator = |c: char| !c.is_alphanumeric() && c != '_' && c != '\'';
    let words = text.split(separator).filter(|word| !word.is_empty());
    words.fold(" ".to_owned(), |all, word| all + &word.to_lowercase() + " ")
}

/// Returns true if the first sentence is a question. Code in backticks is not looked at.
fn asks(comment: &str) -> bool {
    let mut code = false;
    for (at, character) in comment.char_indices() {
        let ends = comment[at + character.len_utf8()..]
            .chars()
            .next()
            .is_none_or(char::is_whitespace);
        match character {
            '`' => code = !code,
            '?' if !code && ends => return true,
            '.' if !code && ends => return false,
            _ => {}
        }
    }
    false
}

/// Where each beginning and each phrase is found, by its name.
fn findings<'s>(
    sources: impl IntoIterator<Item = (&'s Path, &'s str)>,
) -> BTreeMap<&'static str, Vec<String>> {
    let mut found: BTreeMap<&'static str, Vec<String>> = BTreeMap::new();
    for (path, source) in sources {
        for (line, comment) in doc_comments(source) {
            let mut note = |name, times: usize| {
                let place = format!("{}:{line}", path.display());
                found
                    .entry(name)
                    .or_default()
                    .extend(std::iter::repeat_n(place, times));
            };
            let text = words(&comment);
            for (beginning, _) in BEGINNINGS {
                let begins = match beginning {
                    "?" => asks(&comment),
                    word => text.starts_with(&format!(" {word} ")),
                };
                note(beginning, usize::from(begins));
            }
            for (better, phrases, _) in PHRASES {
                let times = phrases
                    .iter()
                    .map(|phrase| text.matches(&format!(" {phrase} ")).count());
                note(better, times.sum());
            }
        }
    }
    found
}

#[test]
fn phrases_become_fewer() -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut paths = Vec::new();
    sources(&root, &mut paths)?;
    assert!(paths.len() > 500, "only {} sources were found", paths.len());
    let mut all = Vec::new();
    for path in paths {
        all.push((path.strip_prefix(&root)?.to_owned(), fs::read_to_string(&path)?));
    }
    let found = findings(all.iter().map(|(path, text)| (path.as_path(), text.as_str())));
    let limits = BEGINNINGS
        .into_iter()
        .chain(PHRASES.map(|(better, _, limit)| (better, limit)));
    let mut more = Vec::new();
    for (name, limit) in limits {
        let places = found.get(name).map_or(&[][..], Vec::as_slice);
        if places.len() > limit {
            more.push(format!(
                "\"{name}\": {} where {limit} were:\n  {}",
                places.len(),
                places.join("\n  ")
            ));
        }
    }
    assert!(
        more.is_empty(),
        "doc comments that begin so, or that should say this instead; \
         reword the new ones (CONTRIBUTING.md, \"How we write\"):\n{}",
        more.join("\n")
    );
    Ok(())
}

/// Comments of which the findings are known.
#[test]
fn phrases_are_found() {
    let source = [
        "//! What is told",
        "//! so",
        "//! many times, beside it.",
        "",
        "fn a() {}",
        "/// Is `a.b` it? Yes.",
        "fn b() {} // told",
        "/// Returns `?` as it is.",
        "fn c() {}",
    ]
    .join("\n");
    let found = findings([(Path::new("a.rs"), source.as_str())]);
    let places = |name: &str| found[name].join(" ");
    assert_eq!(places("what"), "a.rs:1");
    assert_eq!(places("?"), "a.rs:6");
    assert_eq!(places("reported, given, known"), "a.rs:1");
    assert_eq!(places("N, that number of"), "a.rs:1");
    assert_eq!(places("next to, in addition to, compared with"), "a.rs:1");
    assert_eq!(places("unchanged"), "a.rs:8");
    assert_eq!(places("again"), "");
}
