//! For a terminal: 100 columns, plain words, colour only if asked.

use std::fmt::Write;

use anstyle::{AnsiColor, Style};
use trodden_profile::MethodMap;

use crate::decisions::Decisions;
use crate::overview;
use crate::path_time::PathTime;
use crate::section::{Extent, SECTIONS};
use crate::view::{BranchView, Fork, MethodView, PathView, Reasons, View};
use crate::words::{self, decision_short, percent, place, thousands};

/// Columns of a terminal page.
pub(crate) const WIDTH: usize = 100;
pub(crate) const TITLE: Style = Style::new().bold();
pub(crate) const HOT: Style = AnsiColor::Yellow.on_default().bold();
pub(crate) const DECISION: Style = AnsiColor::Cyan.on_default();
pub(crate) const SOFT: Style = Style::new().dimmed();

/// A page being written.
pub(crate) struct Page {
    pub out: String,
    pub color: bool,
}

pub(crate) fn write(view: &View, extent: &Extent, color: bool) -> String {
    let Extent { top, paths, .. } = *extent;
    let mut page = Page {
        out: String::new(),
        color,
    };
    page.head(view);
    for kind in SECTIONS {
        kind.text(view, extent, &mut page);
    }
    if !view.counts_paths() {
        // Nobody asked for paths.
    } else if view.methods.is_empty() {
        overview::stands_out(&mut page, view, WIDTH);
        page.line("No path was counted.");
    } else {
        page.table(view, top);
        for (index, method) in view.methods.iter().take(top).enumerate() {
            page.method(index + 1, method, paths);
            for kind in SECTIONS {
                kind.text_of_method(view, method, extent, &mut page);
            }
        }
        if view.methods.len() > top {
            page.line("");
            page.line(&format!(
                "{} more methods ran; raise --top to see them.",
                view.methods.len() - top
            ));
        }
    }
    page.skipped(view);
    page.out
}

impl Page {
    pub(crate) fn line(&mut self, text: &str) {
        self.out.push_str(text.trim_end());
        self.out.push('\n');
    }

    pub(crate) fn styled(&self, style: Style, text: &str) -> String {
        if self.color {
            format!("{style}{text}{style:#}")
        } else {
            text.to_owned()
        }
    }

    /// A paragraph, broken at spaces, later lines indented by `indent`.
    pub(crate) fn wrapped(&mut self, indent: usize, text: &str) {
        for line in wrap(text, WIDTH - indent) {
            self.line(&format!("{}{line}", " ".repeat(indent)));
        }
    }

    fn head(&mut self, view: &View) {
        let run = view.run;
        let title = self.styled(TITLE, "Trodden: which paths the program took");
        self.line(&title);
        if !run.command.is_empty() {
            self.wrapped(2, &format!("command  {}", run.command));
        }
        if !run.jvm.is_empty() {
            self.wrapped(2, &format!("JVM      {}", run.jvm));
        }
        if !view.counts_paths() {
            let how: Vec<&str> = view.standing_alone().map(|kind| kind.participle(view)).collect();
            let how = if how.contains(&"sampled") {
                "sampled"
            } else {
                "counted"
            };
            self.line(&format!("  {how}  {:.1} s", run.seconds));
            self.line("");
            return;
        }
        self.wrapped(
            2,
            &format!("counted  {:.1} s. {}", run.seconds, words::how_counted(run)),
        );
        if run.has_time_only() {
            self.line("");
            return;
        }
        let t = view.totals;
        self.wrapped(
            2,
            &format!(
                "totals   {} paths with {} branch decisions, in {}",
                thousands(t.paths),
                thousands(t.flow),
                words::methods(t.methods)
            ),
        );
        if t.unreadable > 0 {
            let text = format!(
                "warning  {} counts name no path and are in no sum (see the methods)",
                thousands(t.unreadable)
            );
            self.wrapped(2, &text);
        }
        self.line("");
    }

    fn table(&mut self, view: &View, top: usize) {
        let title = match view.times {
            Some(_) => "Hot methods (CPU time, that of unmeasured callees too; share of all decisions)",
            None => "Hot methods (share of all branch decisions made on counted paths)",
        };
        let title = self.styled(TITLE, title);
        self.line(&title);
        let time = |text: String| match view.times {
            Some(_) => format!("{text:>9}"),
            None => String::new(),
        };
        self.line(&format!(
            "{}{:>9} {:>17} {:>17}  method",
            time("time".to_owned()),
            "share",
            "decisions",
            format!("paths {}", words::Counts::of(view.run).participle())
        ));
        for method in view.methods.iter().take(top) {
            let of_method = method.time.as_ref();
            let time = time(of_method.map_or_else(|| "–".to_owned(), |time| percent(time.share)));
            let name = elide(&method.title(), WIDTH - 47 - time.chars().count());
            self.line(&format!(
                "{time}{:>9} {:>17} {:>17}  {name}",
                percent(method.share),
                thousands(method.flow),
                thousands(method.count)
            ));
        }
    }

    fn method(&mut self, rank: usize, method: &MethodView, limit: usize) {
        self.line("");
        let head = format!("{rank}. {}", method.title());
        for (i, line) in wrap(&head, WIDTH).into_iter().enumerate() {
            let line = self.styled(TITLE, &line);
            self.line(&format!("{}{line}", if i > 0 { "   " } else { "" }));
        }
        self.wrapped(
            3,
            &format!(
                "{} of all decisions; {} of {} possible paths seen",
                percent(method.share),
                thousands(method.paths.len() as u64),
                thousands(method.map.num_paths())
            ),
        );
        if let Some(time) = &method.time {
            self.wrapped(3, &words::time_of_method(time));
        }
        if let Some(observation) = method.observation {
            self.wrapped(3, &words::observed(observation, method.count));
        }
        for path in method.paths.iter().take(limit) {
            self.path(method, path, "path");
        }
        if method.paths.len() > limit {
            let rest = &method.paths[limit..];
            let share = percent(rest.iter().map(|p| p.share_of_method).sum());
            self.wrapped(
                3,
                &format!("… and {} more paths with {share} of this method", rest.len()),
            );
        }
        for path in method.partial.iter().take(limit) {
            self.path(method, path, "prefix");
        }
        if method.partial.len() > limit {
            self.wrapped(
                3,
                &format!("… and {} more prefixes of paths", method.partial.len() - limit),
            );
        }
        for path in &method.unobserved {
            let text = format!(
                "not counted: {} (a loop with only one way through carries no counter)",
                route(path, method.map, method.decisions())
            );
            self.wrapped(3, &text);
        }
        for bad in method.unreadable.iter().take(limit) {
            self.wrapped(
                3,
                &format!(
                    "unreadable: {} counts of number {}: {}",
                    thousands(bad.count),
                    bad.number,
                    bad.error
                ),
            );
        }
        if method.unreadable.len() > limit {
            self.wrapped(
                3,
                &format!(
                    "… and {} more unreadable numbers",
                    method.unreadable.len() - limit
                ),
            );
        }
        if !method.branches.is_empty() {
            let title = self.styled(SOFT, "branches");
            self.line(&format!("   {title}"));
            let folded = |b: &&BranchView| method.decisions().made(b.block).is_some();
            for branch in method.branches.iter().filter(|b| !folded(b)) {
                self.branch(method, branch);
            }
            let made = method.branches.iter().filter(folded).count();
            if made > 0 {
                let text = format!("and {made} that the compiler made on its own (--bytecode shows them)");
                self.wrapped(5, &text);
            }
            if method.branches.iter().any(|b| b.undercounted) {
                self.line("     * lies in a loop whose iterations are not counted");
            }
        }
    }

    fn path(&mut self, method: &MethodView, path: &PathView, what: &str) {
        let d = &path.description;
        let share = self.styled(HOT, &format!("{:>7}", percent(path.share_of_method)));
        self.line(&format!(
            "   {share} of the method   {what} {}, {} times",
            path.number,
            thousands(path.count)
        ));
        self.wrapped(
            11,
            &format!(
                "from {} to {}",
                method.decisions().starts(method.map, d),
                method.decisions().ends(method.map, d)
            ),
        );
        if let Some(time) = &path.time {
            self.wrapped(11, &words::time_of_path(time));
        }
        let text = route(path, method.map, method.decisions());
        for line in wrap(&text, WIDTH - 11) {
            let line = self.styled(DECISION, &line);
            self.line(&format!("           {line}"));
        }
    }

    fn branch(&mut self, method: &MethodView, branch: &BranchView) {
        let text = branch_words(method, branch);
        // In columns: spaces are kept.
        let columns = method.decisions().of(branch.block).is_none()
            && method.time.is_none()
            && matches!(branch.fork, Fork::Branch { .. });
        if columns {
            self.line(&format!("     {text}"));
        } else {
            self.wrapped(5, &text);
        }
    }

    fn skipped(&mut self, view: &View) {
        self.reasons("Left as they were, hence not in this report", &view.skipped);
        self.reasons(
            "Without call sites: what these call is told, not from which line",
            &view.without_call_sites,
        );
        self.reasons(
            "Without cut paths: what an exception cut off in these is not counted",
            &view.without_cut_paths,
        );
    }

    fn reasons(&mut self, title: &str, all: &Reasons) {
        if all.is_empty() {
            return;
        }
        self.line("");
        let title = self.styled(TITLE, title);
        self.line(&title);
        for (reason, list) in all {
            let mut text = format!("{}: {reason}", thousands(list.len() as u64));
            let (class, method) = list[0];
            let _ = write!(
                text,
                " (such as {}{})",
                words::dotted(class),
                method.map(|m| format!("#{m}")).unwrap_or_default()
            );
            self.wrapped(2, &text);
        }
    }
}

/// A decision with its place, its outcomes and how often each was: `line 24   hit != null  yes 7 (70.0 %), no 3 (30.0 %)`.
pub(crate) fn branch_words(method: &MethodView, branch: &BranchView) -> String {
    let low = if branch.undercounted { " *" } else { "" };
    let decisions = method.decisions();
    if let Some(decision) = decisions.of(branch.block) {
        let mut outcomes = branch.outcomes(method);
        let total = words::sum(outcomes.iter().map(|o| o.count));
        let share = |count: Option<u64>| match (count, total) {
            (Some(count), Some(total)) if total > 0 => {
                format!(" ({})", percent(count as f64 / total as f64))
            }
            _ => String::new(),
        };
        // The positive outcome first, whichever way the compiler turned the jump.
        outcomes.sort_by_key(|outcome| outcome.negative);
        let between = match outcomes.iter().any(|o| o.time.is_some()) {
            true => "; ",
            false => ", ",
        };
        let counts = outcomes.iter().map(|o| {
            let time = outcome_time(o.time.as_ref());
            format!("{} {}{}{time}", o.text, words::count(o.count), share(o.count))
        });
        let counts = counts.collect::<Vec<_>>().join(between);
        let never = if total == Some(0) { " never reached:" } else { "" };
        let asked = decision.phrase().unwrap_or_default();
        return format!("{:<10} {asked}{never}  {counts}{low}", place(branch.at));
    }
    match &branch.fork {
        Fork::Branch { taken, not_taken } => {
            let bias = match (*taken, words::sum([*taken, *not_taken])) {
                (_, Some(0)) => "never reached".to_owned(),
                (Some(taken), Some(total)) => format!("{} taken", percent(taken as f64 / total as f64)),
                _ => "share not known".to_owned(),
            };
            let times = branch.outcomes(method).into_iter().filter_map(|o| {
                let time = o.time.as_ref().map(words::time_of_outcome)?;
                Some(format!("; {} {time}", o.text))
            });
            format!(
                "{:<15} taken {:>13}  not taken {:>13}  {bias}{low}{}",
                place(branch.at),
                words::count(*taken),
                words::count(*not_taken),
                times.collect::<String>()
            )
        }
        Fork::Switch(cases) => {
            let text: Vec<String> = cases
                .iter()
                .zip(branch.outcomes(method))
                .map(|(c, o)| {
                    let time = outcome_time(o.time.as_ref());
                    format!("{} {}{time}", decision_short(&c.label), words::count(c.count))
                })
                .collect();
            format!("{:<16} {}{low}", place(branch.at), text.join("; "))
        }
    }
}

/// What is said of an outcome's time behind its count.
fn outcome_time(time: Option<&PathTime>) -> String {
    time.map_or_else(String::new, |time| format!(", {}", words::time_of_outcome(time)))
}

/// `7 → 8–9 not taken → 12`; with decisions in the source's terms `7 · 8–9 hit != null → no · 12`.
pub(crate) fn route(path: &PathView, map: &MethodMap, decisions: &Decisions) -> String {
    let stops = path.folded(decisions);
    let between = if decisions.is_empty() { " → " } else { " · " };
    let mut out = String::new();
    for (i, stop) in stops.iter().enumerate() {
        if i > 0 {
            out += between;
        }
        if stop.bytecode {
            out += "bytecode ";
        }
        out += &stop.from.to_string();
        if stop.to != stop.from {
            let _ = write!(out, "–{}", stop.to);
        }
        if let Some(edge) = stop.edge {
            let _ = write!(out, " {}", decisions.followed(map, edge));
        }
    }
    if out.is_empty() {
        "runs straight into the loop".to_owned()
    } else {
        out
    }
}

/// Breaks at spaces; a word longer than a line is broken where it must.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    for (i, word) in text.split(' ').enumerate() {
        let mut length = word.chars().count();
        if i > 0 && used + 1 + length <= width {
            lines.last_mut().unwrap_or(&mut String::new()).push(' ');
            used += 1;
        } else if i > 0 {
            lines.push(String::new());
            used = 0;
        }
        let mut rest = word;
        while used + length > width {
            let cut = rest
                .char_indices()
                .nth(width - used)
                .map_or(rest.len(), |(at, _)| at);
            if let Some(last) = lines.last_mut() {
                last.push_str(&rest[..cut]);
            }
            rest = &rest[cut..];
            length = rest.chars().count();
            lines.push(String::new());
            used = 0;
        }
        if let Some(last) = lines.last_mut() {
            last.push_str(rest);
        }
        used += length;
    }
    lines
}

/// Keeps the end of a long name: the method is worth more than the package.
pub(crate) fn elide(text: &str, width: usize) -> String {
    let length = text.chars().count();
    if length <= width {
        return text.to_owned();
    }
    let tail: String = text.chars().skip(length - (width - 1)).collect();
    format!("…{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrapping() {
        assert_eq!(wrap("ab cd ef", 5), ["ab cd", "ef"]);
        assert_eq!(wrap("abcdefgh", 3), ["abc", "def", "gh"]);
        assert_eq!(wrap("a bcdef g", 3), ["a", "bcd", "ef", "g"]);
        assert_eq!(wrap("", 3), [""]);
        assert_eq!(elide("a.b.C.m()", 5), "….m()");
    }
}
