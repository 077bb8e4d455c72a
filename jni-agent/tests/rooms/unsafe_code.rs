//! The reviewed list of `unsafe` code: `unsafe.txt` has every place with its reason, so that a change of it
//! is seen in a review. `TRODDEN_UPDATE_UNSAFE=1 cargo test -p trodden-agent --test suite` writes it.

use std::path::Path;

use super::all_sources;

/// A place with `unsafe` code.
struct Place {
    /// The function or implementation that it is in.
    item: String,
    /// What is unsafe: a block, a function, an implementation, an exported name.
    kind: &'static str,
    /// Why it is sound, or what callers promise.
    reason: String,
}

/// The kind of a line of code that begins something unsafe.
fn kind_of(code: &str) -> Option<&'static str> {
    let word = |after: &str| code.contains(&format!("unsafe {after}"));
    match () {
        () if code.starts_with("#[unsafe(no_mangle)]") => Some("export"),
        () if word("impl") => Some("impl"),
        () if word("fn") || word("extern") => Some("fn"),
        () if word("{") => Some("block"),
        () => None,
    }
}

/// The name of a function or implementation that begins in this line.
fn item_of(code: &str) -> Option<String> {
    let name = |after: &str| {
        let name: String = after
            .chars()
            .take_while(|c| c.is_alphanumeric() || *c == '_')
            .collect();
        (!name.is_empty()).then_some(name)
    };
    if let Some(at) = code.find("impl ") {
        let header = code[at..].trim_end_matches(['{', '}', ' ']);
        return code.starts_with("unsafe impl").then(|| header.to_owned());
    }
    let at = code.find("macro_rules! ").map(|at| at + "macro_rules! ".len());
    let at = at.or_else(|| code.find("fn ").map(|at| at + "fn ".len()))?;
    name(&code[at..])
}

/// The text of the comment right above a line, from a mark on: `SAFETY:` or `# Safety`.
fn comment_above(lines: &[&str], mark: &str) -> String {
    let comment: Vec<&str> = lines
        .iter()
        .rev()
        .map(|line| line.trim_start())
        .take_while(|line| line.starts_with("//") || line.starts_with("#["))
        .filter(|line| line.starts_with("//"))
        .collect();
    let text: Vec<&str> = comment
        .into_iter()
        .rev()
        .map(|line| line.trim_start_matches('/').trim())
        .collect();
    let text = text.join(" ");
    text.split_once(mark)
        .map_or_else(String::new, |(_, reason)| reason.trim().to_owned())
}

/// The comment of a block: above its line, or above the statement that it is in.
fn reason_of(lines: &[&str], at: usize, kind: &str) -> String {
    let mark = match kind {
        "fn" => "# Safety",
        "export" => return "its name is the JVM's".to_owned(),
        _ => "SAFETY:",
    };
    let above = (0..6).map(|up| at.saturating_sub(up));
    let reasons = above.map(|at| comment_above(&lines[..at], mark));
    let reason = { reasons }.find(|reason| !reason.is_empty());
    match reason {
        None if kind == "fn" && lines[at].contains("extern") => {
            "called with its caller's own pointers".to_owned()
        }
        reason => reason.unwrap_or_default(),
    }
}

/// All places in a source file, but those of its tests.
fn places(source: &str) -> Vec<Place> {
    let code = source.split("#[cfg(test)]\nmod tests {").next().unwrap_or(source);
    let lines: Vec<&str> = code.lines().collect();
    let mut item = String::new();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let code = line.split("//").next().unwrap_or_default().trim();
        let begins = item_of(code);
        item = begins.unwrap_or(item);
        let Some(kind) = kind_of(code) else { continue };
        // A type of functions has no body.
        if code.starts_with("type ") {
            continue;
        }
        let item = match kind {
            "export" => lines[at..]
                .iter()
                .find_map(|line| item_of(line.trim()))
                .unwrap_or_default(),
            _ => item.clone(),
        };
        found.push(Place {
            item,
            kind,
            reason: reason_of(&lines, at, kind),
        });
    }
    found
}

fn list() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut text = String::from(
        "# Places with unsafe code: file, function, kind, reason. Written by tests/rooms/unsafe_code.rs.\n",
    );
    for file in all_sources() {
        let name = file.strip_prefix(root).expect("inside").display().to_string();
        for place in places(&std::fs::read_to_string(&file).expect("a source")) {
            text += &format!("{name} | {} | {} | {}\n", place.item, place.kind, place.reason);
        }
    }
    text
}

#[test]
fn the_list_has_every_place_with_its_reason() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("unsafe.txt");
    let list = list();
    assert!(list.lines().count() > 80, "{list}");
    assert!(
        !list.lines().any(|line| line.ends_with("| ")),
        "a place without a reason: {list}"
    );
    if std::env::var_os("TRODDEN_UPDATE_UNSAFE").is_some() {
        std::fs::write(&file, &list).expect("the list can be written");
    }
    let reviewed = std::fs::read_to_string(&file).expect("unsafe.txt");
    let more: Vec<&str> = list
        .lines()
        .filter(|line| !reviewed.lines().any(|l| l == *line))
        .collect();
    let gone: Vec<&str> = reviewed
        .lines()
        .filter(|line| !list.lines().any(|l| l == *line))
        .collect();
    assert_eq!(
        (more, gone),
        (vec![], vec![]),
        "unsafe code has changed: review it, and write unsafe.txt"
    );
    assert_eq!(reviewed, list);
}

#[test]
fn places_are_found_with_their_reasons() {
    let source = "\
impl X {
    /// Makes one.
    ///
    /// # Safety
    /// Not null.
    pub unsafe fn new(at: *const u8) -> Self {
        // SAFETY: the caller's promise.
        X(unsafe { *at })
    }
}

// SAFETY: any thread may.
unsafe impl Send for X {}
#[unsafe(no_mangle)]
pub extern \"system\" fn named() {}
";
    let found = places(source);
    let found: Vec<(&str, &str, &str)> = found
        .iter()
        .map(|place| (&*place.item, place.kind, &*place.reason))
        .collect();
    let expected = [
        ("new", "fn", "Not null."),
        ("new", "block", "the caller's promise."),
        ("impl Send for X", "impl", "any thread may."),
        ("named", "export", "its name is the JVM's"),
    ];
    assert_eq!(found, expected);
}
