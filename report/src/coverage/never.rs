//! What never ran, by class: the inventory of code that nobody uses.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use trodden_insight::coverage::Coverage;
use trodden_insight::names;

use crate::text::{Page, TITLE};
use crate::words::thousands;

/// A class with methods that never ran.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Class<'c> {
    /// Its lines, and those of methods that never ran alone.
    lines: BTreeSet<u32>,
    live: BTreeSet<u32>,
    methods: usize,
    dead: Vec<&'c str>,
}

impl Class<'_> {
    fn dead_lines(&self) -> usize {
        self.lines.difference(&self.live).count()
    }
}

/// For a terminal: at most `top` classes of which methods never ran, those with most such lines first.
pub fn never_ran(coverage: &Coverage, top: usize, color: bool) -> String {
    let mut page = Page::new(color);
    write(&coverage.printable(), top, &mut page);
    page.out
}

fn classes(coverage: &Coverage) -> BTreeMap<&str, Class<'_>> {
    let mut classes: BTreeMap<&str, Class> = BTreeMap::new();
    for method in &coverage.methods {
        let class = classes.entry(method.class()).or_default();
        class.methods += 1;
        let lines = method.lines();
        class.lines.extend(lines.keys());
        if method.ran() {
            class.live.extend(lines.keys())
        } else {
            class.dead.push(&method.map().name)
        }
    }
    classes.retain(|_, class| !class.dead.is_empty());
    classes
}

fn write(coverage: &Coverage, top: usize, page: &mut Page) {
    let mut classes: Vec<_> = classes(coverage).into_iter().collect();
    page.line("");
    page.styled_line(TITLE, "Never ran, by class");
    if classes.is_empty() {
        page.line("  nothing: each method ran");
        return;
    }
    classes.sort_by_key(|(_, class)| (Reverse(class.dead_lines()), Reverse(class.dead.len())));
    page.line("          lines        methods  class");
    for (name, class) in classes.iter().take(top) {
        let of = |part: usize, all: usize| format!("{} of {}", thousands(part as u64), thousands(all as u64));
        let numbers = format!(
            "{:>15} {:>14}  ",
            of(class.dead_lines(), class.lines.len()),
            of(class.dead.len(), class.methods)
        );
        let methods = if class.dead.len() == class.methods {
            String::new()
        } else {
            format!(": {}", class.dead.join(", "))
        };
        page.row(&numbers, &format!("{}{methods}", names::dotted(name)));
    }
    if classes.len() > top {
        let more = thousands((classes.len() - top) as u64);
        page.line(&format!(
            "{more} more classes have methods that never ran; raise --top to see them."
        ));
    }
}
