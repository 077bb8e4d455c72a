//! The documents as a whole: links lead somewhere, each decision is listed, each kept run is cited.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The repository's root.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// All files below `folder` with this extension, without what builds and downloads leave.
fn files(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) -> Result<()> {
    const GENERATED: [&str; 6] = ["target", "build", "apps", "corpus", "node_modules", "fuzz"];
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if path.is_dir() && !path.is_symlink() {
            if !name.starts_with('.') && !GENERATED.contains(&name.as_str()) {
                files(&path, extension, found)?;
            }
        } else if path.extension().is_some_and(|e| e == extension) {
            found.push(path);
        }
    }
    Ok(())
}

/// All documents: path from the root, and text.
fn documents() -> Result<BTreeMap<PathBuf, String>> {
    let mut found = Vec::new();
    files(&root(), "md", &mut found)?;
    let read = |path: PathBuf| Ok((path.strip_prefix(root())?.to_owned(), fs::read_to_string(&path)?));
    found.into_iter().map(read).collect()
}

/// `text` without fenced blocks and inline code.
fn prose(text: &str) -> String {
    let outside: Vec<&str> = text.split("```").step_by(2).collect();
    outside.join("").split('`').step_by(2).collect()
}

/// Targets of all inline links and link definitions.
fn links(text: &str) -> Vec<String> {
    let text = prose(text);
    let inline = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let defined = text
        .lines()
        .filter(|line| line.starts_with('['))
        .filter_map(|line| line.split_once("]: "));
    inline
        .chain(defined.map(|(_, target)| target))
        .map(|target| target.trim().to_owned())
        .collect()
}

/// The lines of a document that are in no fenced block.
fn outside_fences(text: &str) -> impl Iterator<Item = &str> {
    let mut fenced = false;
    text.lines().filter(move |line| {
        let fence = line.starts_with("```");
        fenced ^= fence;
        !fenced && !fence
    })
}

/// The anchor of a heading, as GitHub makes it.
fn anchor(title: &str) -> String {
    let title = title.trim().to_lowercase();
    let kept = title
        .chars()
        .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// The anchors of a document's headings.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = outside_fences(text).filter(|line| line.starts_with('#'));
    headings
        .map(|line| anchor(line.trim_start_matches('#')))
        .collect()
}

#[test]
fn links_between_documents_lead_somewhere() -> Result<()> {
    let documents = documents()?;
    let mut checked = 0;
    let mut broken = Vec::new();
    for (path, text) in &documents {
        for link in links(text) {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            checked += 1;
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = if file.is_empty() {
                root().join(path)
            } else {
                root().join(path).with_file_name(file)
            };
            let anchored = || -> Result<bool> { Ok(anchors(&fs::read_to_string(&target)?).contains(anchor)) };
            if !target.exists() || (!anchor.is_empty() && !anchored()?) {
                broken.push(format!("{}: {link}", path.display()));
            }
        }
    }
    assert!(checked > 100, "only {checked} links were found");
    assert!(
        broken.is_empty(),
        "links that lead nowhere:\n{}",
        broken.join("\n")
    );
    Ok(())
}

/// The folders of the two books: the users', and the evaluation's.
const BOOKS: [&str; 2] = ["docs", "benchmarks-java/book"];

/// The pages that a book's `SUMMARY.md` lists, by their paths from the book's folder.
fn listed_pages(book: &str) -> Result<Vec<PathBuf>> {
    let summary = fs::read_to_string(root().join(book).join("SUMMARY.md"))?;
    Ok(links(&summary).into_iter().map(PathBuf::from).collect())
}

#[test]
fn each_page_is_in_its_book_once() -> Result<()> {
    for book in BOOKS {
        let folder = root().join(book);
        let listed = listed_pages(book)?;
        let distinct: BTreeSet<&PathBuf> = listed.iter().collect();
        assert_eq!(
            distinct.len(),
            listed.len(),
            "{book}/SUMMARY.md lists a page twice"
        );
        let mut found = Vec::new();
        files(&folder, "md", &mut found)?;
        let pages: BTreeSet<PathBuf> = found
            .iter()
            .map(|path| Ok(path.strip_prefix(&folder)?.to_owned()))
            .collect::<Result<_>>()?;
        let expected: BTreeSet<&PathBuf> = pages
            .iter()
            .filter(|page| !page.ends_with("SUMMARY.md"))
            .collect();
        assert!(expected.len() > 10, "{book} has {} pages", expected.len());
        assert_eq!(distinct, expected, "{book}/SUMMARY.md (left), pages (right)");
    }
    Ok(())
}

/// Words of the users' book at most, without its decisions: a page that grows takes them from another one.
const MOST_WORDS: usize = 35_000;

#[test]
fn the_users_book_can_be_read_in_an_afternoon() -> Result<()> {
    let folder = root().join(BOOKS[0]);
    let pages = listed_pages(BOOKS[0])?;
    let pages = pages.iter().filter(|page| !page.starts_with("decisions"));
    let mut words = 0;
    for page in pages {
        words += fs::read_to_string(folder.join(page))?.split_whitespace().count();
    }
    assert!((1..=MOST_WORDS).contains(&words), "{words} words");
    Ok(())
}

/// `path` without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut parts: Vec<&std::ffi::OsStr> = Vec::new();
    for part in path.iter().filter(|part| *part != ".") {
        if part == ".." && parts.pop().is_some() {
            continue;
        }
        parts.push(part);
    }
    parts.iter().collect()
}

/// mdBook copies what is below a book's folder, and nothing else.
#[test]
fn links_of_the_users_book_stay_in_the_books() -> Result<()> {
    let mut outside = Vec::new();
    for page in listed_pages(BOOKS[0])? {
        let path = Path::new(BOOKS[0]).join(&page);
        for link in links(&fs::read_to_string(root().join(&path))?) {
            let file = link.split('#').next().unwrap_or_default();
            let target = plain(&path.with_file_name(file));
            let inside = BOOKS.iter().any(|book| target.starts_with(book));
            if !link.contains("://") && !file.is_empty() && !inside {
                outside.push(format!("{}: {link}", path.display()));
            }
        }
    }
    assert!(
        outside.is_empty(),
        "links that leave the books:\n{}",
        outside.join("\n")
    );
    Ok(())
}

/// A place that an example or a figure was meant for, and does not have: a line that is one word in capitals.
fn is_placeholder(line: &str) -> bool {
    let line = line.trim();
    line.len() > 4
        && line.contains(|c: char| c.is_ascii_uppercase())
        && line.chars().all(|c| c.is_ascii_uppercase() || c == '_')
}

#[test]
fn no_placeholder_was_left() -> Result<()> {
    assert!(is_placeholder("DIFF_EXAMPLE") && !is_placeholder("JSON") && !is_placeholder("See JSON."));
    let mut left = Vec::new();
    for (path, text) in documents()? {
        let found = text.lines().filter(|line| is_placeholder(line));
        left.extend(found.map(|line| format!("{}: {line}", path.display())));
    }
    assert!(
        left.is_empty(),
        "places that were not filled in:\n{}",
        left.join("\n")
    );
    Ok(())
}

/// A day as decisions have it, `2026-11-21`.
fn is_day(day: &str) -> bool {
    let parts: Vec<&str> = day.split('-').collect();
    parts.iter().map(|part| part.len()).eq([4, 2, 2]) && parts.iter().all(|part| part.parse::<u32>().is_ok())
}

/// The line below a decision's title: `Date: 2026-11-21 · Status: accepted`.
fn is_date_and_status(line: &str) -> bool {
    const STATES: [&str; 3] = ["accepted", "rejected", "replaced by "];
    let date = line.strip_prefix("Date: ");
    let parts = date.and_then(|rest| rest.split_once(" · Status: "));
    parts.is_some_and(|(day, status)| is_day(day) && STATES.iter().any(|state| status.starts_with(state)))
}

/// Faults of a list of decisions and of the topics, by file name, that have them as sections.
fn faults_of_decisions(index: &str, topics: &BTreeMap<String, String>) -> Vec<String> {
    let mut faults = Vec::new();
    let mut found = Vec::new();
    for (name, text) in topics {
        let title = text.lines().next().and_then(|line| line.strip_prefix("# "));
        if title.is_none_or(|title| title.trim().is_empty()) {
            faults.push(format!("{name} begins without a title"));
        }
        found.push(name.clone());
        let lines: Vec<&str> = outside_fences(text).collect();
        for (number, line) in lines.iter().enumerate() {
            let Some(title) = line.strip_prefix("## ") else {
                continue;
            };
            if anchor(title).is_empty() {
                faults.push(format!("{name} has a decision without a title"));
            }
            let below = lines.get(number + 1);
            if !below.is_some_and(|line| is_date_and_status(line)) {
                faults.push(format!("{name}: no date and status below `{title}`"));
            }
            found.push(format!("{name}#{}", anchor(title)));
        }
    }
    let listed = links(index);
    for target in &found {
        let times = listed.iter().filter(|link| *link == target).count();
        if times != 1 {
            faults.push(format!("the index lists {target} {times} times"));
        }
    }
    let missing = listed.iter().filter(|link| !found.contains(link));
    faults.extend(missing.map(|link| format!("the index lists {link}, which is not there")));
    faults
}

#[test]
fn each_decision_is_listed_and_has_title_date_and_status() -> Result<()> {
    let folder = root().join("docs/decisions");
    let index = fs::read_to_string(folder.join("README.md"))?;
    let mut found = Vec::new();
    files(&folder, "md", &mut found)?;
    let mut topics = BTreeMap::new();
    for path in found {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name != "README.md" {
            topics.insert(name.into_owned(), fs::read_to_string(&path)?);
        }
    }
    assert!(topics.len() > 5, "only {} topics were found", topics.len());
    let faults = faults_of_decisions(&index, &topics);
    assert!(faults.is_empty(), "docs/decisions:\n{}", faults.join("\n"));
    Ok(())
}

#[test]
fn a_decision_that_is_not_listed_once_or_lacks_its_head_is_found() {
    let index = "## [Probes](probes.md)\n\n* [Ids](probes.md#ids)\n* [The ring](probes.md#the-ring)\n";
    let text = "# Probes\n\n## Ids\nDate: 2026-11-21 · Status: accepted\n\nText.\n\n\
                ## The ring\nDate: 2026-11-22 · Status: replaced by [ids](#ids)\n\n```\n## No title\n```\n";
    let faults = |index: &str, text: &str| {
        faults_of_decisions(
            index,
            &BTreeMap::from([("probes.md".to_owned(), text.to_owned())]),
        )
    };
    assert_eq!(faults(index, text), Vec::<String>::new());

    let head = "Date: 2026-11-21 · Status: accepted\n";
    for wrong in [
        "",
        "\n",
        "Status: accepted\n",
        "Date: 2026-11-21\n",
        "Date: yesterday · Status: accepted\n",
        "Date: 2026-11-21 · Status: perhaps\n",
    ] {
        let expected = ["probes.md: no date and status below `Ids`"];
        assert_eq!(faults(index, &text.replace(head, wrong)), expected, "{wrong:?}");
    }
    assert_eq!(
        faults(index, &text.replace("# Probes\n", "Probes\n")),
        ["probes.md begins without a title"]
    );
    assert_eq!(
        faults(&index.replace("* [Ids](probes.md#ids)\n", ""), text),
        ["the index lists probes.md#ids 0 times"]
    );
    assert_eq!(
        faults(&index.replace("[Probes](probes.md)", "Probes"), text),
        ["the index lists probes.md 0 times"]
    );
    assert_eq!(
        faults(&format!("{index}* [Ids again](probes.md#ids)\n"), text),
        ["the index lists probes.md#ids 2 times"]
    );
    assert_eq!(
        faults(&format!("{index}* [Gone](probes.md#gone)\n"), text),
        ["the index lists probes.md#gone, which is not there"]
    );
}

/// Names of run folders (`2026-11-21-kernels`) in a text.
fn cited_runs(text: &str) -> BTreeSet<String> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let words = text
        .split(|c: char| !is_name(c))
        .map(|word| word.trim_end_matches('-'));
    let is_run = |word: &&str| {
        let digits = |part: &str| part.len() == 2 && part.bytes().all(|b| b.is_ascii_digit());
        let parts: Vec<&str> = word.splitn(4, '-').collect();
        parts.len() == 4
            && parts[0].len() == 4
            && parts[0].starts_with("20")
            && digits(parts[1])
            && digits(parts[2])
    };
    words.filter(is_run).map(str::to_owned).collect()
}

#[test]
fn each_run_is_cited_and_each_cited_run_exists() -> Result<()> {
    let runs = root().join("benchmarks-java/runs");
    let mut kept = BTreeSet::new();
    for entry in fs::read_dir(&runs)? {
        let path = entry?.path();
        // A measurement that has just been made is not in the repository yet; only those that it holds count.
        if path.is_dir() {
            kept.insert(
                path.file_name()
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into_owned(),
            );
        }
    }
    assert!(!kept.is_empty());
    let mut cited = BTreeSet::new();
    for (path, text) in documents()? {
        let names = cited_runs(&text);
        let missing: Vec<&String> = names.difference(&kept).collect();
        assert!(
            missing.is_empty(),
            "{} cites runs that are not there: {missing:?}",
            path.display()
        );
        if !path.starts_with("benchmarks-java/runs") {
            cited.extend(names);
        }
    }
    let uncited: Vec<&String> = kept.difference(&cited).collect();
    assert!(
        uncited.is_empty(),
        "no document cites these folders of benchmarks-java/runs, so delete them: {uncited:?}"
    );
    Ok(())
}

/// rustfmt does not change comments. Rooms join this list when their comments have been reflowed.
#[test]
fn comments_keep_to_the_width_of_the_code() -> Result<()> {
    const ROOMS: [&str; 10] = [
        "analyses",
        "benchmarks-java/harness",
        "classfile",
        "cli",
        "instrumenter",
        "jni-agent",
        "path-numbering",
        "profile/src/options",
        "tests/src",
        "tests/tests",
    ];
    let settings = fs::read_to_string(root().join("rustfmt.toml"))?;
    let width = settings
        .lines()
        .find_map(|line| line.strip_prefix("max_width = "));
    let width: usize = width.ok_or("rustfmt.toml has no max_width")?.parse()?;
    let mut sources = Vec::new();
    for room in ROOMS {
        files(&root().join(room), "rs", &mut sources)?;
    }
    assert!(sources.len() > 100, "only {} sources were found", sources.len());
    let mut long = Vec::new();
    for path in sources {
        for (number, line) in fs::read_to_string(&path)?.lines().enumerate() {
            let comment = line.trim_start();
            // A row of a table cannot be broken.
            let table = comment.starts_with("/// |") || comment.starts_with("//! |");
            if comment.starts_with("//") && !table && line.chars().count() > width {
                long.push(format!("{}:{}", path.display(), number + 1));
            }
        }
    }
    assert!(
        long.is_empty(),
        "comments wider than {width} columns:\n{}",
        long.join("\n")
    );
    Ok(())
}

/// Each row of ARCHITECTURE.md's table with a crate names the crates of ours that it depends on.
#[test]
fn crates_use_what_the_table_says() -> Result<()> {
    const SHORT: [&str; 8] = [
        "numbering",
        "profile",
        "classfile",
        "instrumenter",
        "source",
        "analyses",
        "insight",
        "report",
    ];
    let text = fs::read_to_string(root().join("ARCHITECTURE.md"))?;
    let mut rows = 0;
    for row in text.lines().filter(|line| line.contains("| `trodden")) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let folder = cells[1].trim_matches('`');
        let folder = match folder {
            "benchmarks-java/" => "benchmarks-java/harness/",
            other => other,
        };
        let manifest = fs::read_to_string(root().join(folder).join("Cargo.toml"))?;
        // Those of its tests do not count.
        let tables = manifest
            .split("\n[")
            .filter(|table| table.starts_with("dependencies]"));
        let lines: Vec<&str> = tables.flat_map(str::lines).collect();
        let depends = |name: &&&str| {
            let dependency = format!("trodden-{name}");
            let rest = lines.iter().filter_map(|line| line.strip_prefix(&*dependency));
            rest.into_iter().any(|rest| rest.starts_with(['.', ' ']))
        };
        let used: Vec<&&str> = SHORT.iter().filter(depends).collect();
        let may_use = cells[4];
        let said: Vec<&&str> = SHORT.iter().filter(|name| may_use.contains(**name)).collect();
        assert_eq!(
            used, said,
            "{folder}: Cargo.toml, and what it may use by ARCHITECTURE.md"
        );
        rows += 1;
    }
    assert!(rows > 10, "{rows}");
    Ok(())
}
