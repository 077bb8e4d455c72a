//! For a terminal: 100 columns, plain words, colour only if asked.

use std::fmt::Write;

use anstyle::{AnsiColor, Style};
use trodden_profile::MethodMap;

use crate::decisions::Decisions;
use crate::left_out::LeftOut;
use crate::overview::{self, Ranked};
use crate::path_time::PathTime;
use crate::section::{Extent, SECTIONS};
use crate::view::{BranchView, Fork, MethodView, PathView, Reasons, Stop, View};
use crate::words::{self, decision_short, percent, place, thousands};

/// Columns of a terminal page.
pub(crate) const WIDTH: usize = 100;
pub(crate) const TITLE: Style = Style::new().bold();
pub(crate) const HOT: Style = AnsiColor::Yellow.on_default().bold();
pub(crate) const DECISION: Style = AnsiColor::Cyan.on_default();
pub(crate) const SOFT: Style = Style::new().dimmed();

/// Path numbers that cannot be read and are listed.
const MOST_UNREADABLE: usize = 5;

/// Which paths of a method are shown.
#[derive(Clone, Copy)]
enum Shown {
    First(usize),
    WithWork,
    All,
}

impl Shown {
    fn has(self, index: usize, path: &PathView) -> bool {
        match self {
            Shown::First(count) => index < count,
            // A method without decisions has its first paths.
            Shown::WithWork => index < 5 || path.has_work(),
            Shown::All => true,
        }
    }
}

/// A page being written.
pub(crate) struct Page {
    pub out: String,
    pub color: bool,
}

pub(crate) fn write(view: &View, extent: &Extent, color: bool) -> String {
    let Extent { mut top, options, .. } = *extent;
    // What was asked for is shown as a whole.
    let shown = if options.paths > 0 {
        Shown::First(options.paths)
    } else if options.all {
        Shown::All
    } else {
        Shown::WithWork
    };
    if options.all && options.top == 0 {
        top = usize::MAX;
    }
    let mut page = Page {
        out: String::new(),
        color,
    };
    page.head(view);
    if options.method.is_none() {
        overview::stands_out(&mut page, view, WIDTH);
    }
    for kind in SECTIONS {
        kind.text(view, extent, &mut page);
    }
    if view.counts_paths() {
        if view.methods.is_empty() {
            page.line("No path was counted.");
        }
        let rows = overview::ranked(view);
        if !rows.is_empty() {
            page.table(view, &rows[..rows.len().min(top)]);
        }
        for (rank, row) in (1..).zip(rows.iter().take(top)) {
            match row {
                Ranked::Method(method) => {
                    page.method(rank, method, shown);
                    for kind in SECTIONS {
                        kind.text_of_method(view, method, extent, &mut page);
                    }
                }
                Ranked::LeftOut(left) => page.left_out(rank, left),
            }
        }
        if rows.len() > top {
            page.line("");
            page.line(&format!(
                "{} more methods ran; --all shows them, or raise --top.",
                rows.len() - top
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

    fn table(&mut self, view: &View, rows: &[Ranked]) {
        let title = match view.times {
            Some(_) => {
                "Hot methods (own CPU time, with that of code without probes that they call; share of decisions)"
            }
            None => "Hot methods (share of all branch decisions made on counted paths)",
        };
        for line in wrap(title, WIDTH) {
            let title = self.styled(TITLE, &line);
            self.line(&title);
        }
        let time = |text: String| match view.times {
            Some(_) => format!("{text:>9}"),
            None => String::new(),
        };
        self.line(&format!(
            "{}{:>9} {:>17} {:>17}  method",
            time("own time".to_owned()),
            "share",
            "decisions",
            format!("paths {}", words::Counts::of(view.run).participle())
        ));
        for row in rows {
            let method = match row {
                Ranked::Method(method) => method,
                Ranked::LeftOut(left) => {
                    let name = elide(&left.title(), WIDTH - 56);
                    let share = percent(left.share(left.near));
                    self.line(&format!(
                        "{share:>9}{:>9} {:>17} {:>17}  {name}",
                        "–", "–", "not known"
                    ));
                    continue;
                }
            };
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

    fn method_title(&mut self, rank: usize, title: &str) {
        self.line("");
        let head = format!("{rank}. {title}");
        for (i, line) in wrap(&head, WIDTH).into_iter().enumerate() {
            let line = self.styled(TITLE, &line);
            self.line(&format!("{}{line}", if i > 0 { "   " } else { "" }));
        }
    }

    /// A method whose paths are not known.
    fn left_out(&mut self, rank: usize, left: &LeftOut) {
        self.method_title(rank, &left.title());
        self.wrapped(3, &format!("its paths are not known: {}", left.reason));
        self.wrapped(
            3,
            &format!(
                "own time {} of the whole (with that of code without probes that it calls); with callees {}",
                percent(left.share(left.near)),
                percent(left.share(left.total))
            ),
        );
        for (at, time) in &left.places {
            self.line(&format!(
                "   {:>7} of the whole time   {}",
                percent(left.share(*time)),
                place(*at)
            ));
        }
    }

    fn method(&mut self, rank: usize, method: &MethodView, shown: Shown) {
        self.method_title(rank, &method.title());
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
        for (paths, what) in [(&method.paths, "path"), (&method.partial, "prefix")] {
            let (taken, rest): (Vec<_>, Vec<_>) = (0..)
                .zip(paths)
                .partition(|(index, path)| shown.has(*index, path));
            for (_, path) in taken {
                self.path(method, path, what);
            }
            self.rest(&rest, what);
        }
        for path in &method.unobserved {
            let text = format!(
                "not counted: {} (a loop with only one way through carries no counter)",
                route(path, method.map, method.decisions())
            );
            self.wrapped(3, &text);
        }
        for bad in method.unreadable.iter().take(MOST_UNREADABLE) {
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
        if method.unreadable.len() > MOST_UNREADABLE {
            self.wrapped(
                3,
                &format!(
                    "… and {} more unreadable numbers",
                    method.unreadable.len() - MOST_UNREADABLE
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

    /// How many paths are not shown, and what they have.
    fn rest(&mut self, rest: &[(usize, &PathView)], what: &str) {
        if rest.is_empty() {
            return;
        }
        let all: f64 = rest.iter().map(|(_, path)| path.share_of_method).sum();
        let s = match (rest.len(), what) {
            (1, _) => "",
            (_, "prefix") => "es",
            _ => "s",
        };
        let text = format!(
            "… and {} more {what}{s} with {} of the method's decisions (--all shows all)",
            thousands(rest.len() as u64),
            percent(all)
        );
        self.wrapped(3, &text);
    }

    fn path(&mut self, method: &MethodView, path: &PathView, what: &str) {
        let d = &path.description;
        let (share, of) = match path.time {
            Some(time) => (time.share, "time with callees"),
            None => (path.share_of_method, "decisions"),
        };
        let share = self.styled(HOT, &format!("{:>7}", percent(share)));
        self.line(&format!(
            "   {share} of the method's {of}   {what} {}, {} times",
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
            let text = format!(
                "{}; {} of its decisions",
                words::bounds_of_path(time),
                percent(path.share_of_method)
            );
            self.wrapped(11, &text);
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
            "Without call sites: what these call is known, but not from which line",
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
        let between = if outcomes.iter().any(|o| o.time.is_some()) {
            "; "
        } else {
            ", "
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
    stops(path, map, decisions).join(between(decisions))
}

/// The stops of a route.
pub(crate) fn stops(path: &PathView, map: &MethodMap, decisions: &Decisions) -> Vec<String> {
    let stop = |stop: &Stop| {
        let mut out = String::new();
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
        out
    };
    let stops: Vec<String> = path.folded(decisions).iter().map(stop).collect();
    if stops.is_empty() {
        vec!["runs straight into the loop".to_owned()]
    } else {
        stops
    }
}

/// What is between two stops of a route.
pub(crate) fn between(decisions: &Decisions) -> &'static str {
    if decisions.is_empty() { " → " } else { " · " }
}

/// Breaks lines that are too long for a terminal, with their indentation; escapes of styles have no width.
pub(crate) fn within(text: &str, width: usize) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let indent = line.chars().take_while(|c| *c == ' ').count().min(width / 2);
        let mut used = 0;
        for (i, word) in line.split(' ').enumerate() {
            let length = visible(word);
            if i > 0 && used + 1 + length > width && used > indent {
                out.push('\n');
                out.push_str(&" ".repeat(indent));
                used = indent;
            } else if i > 0 {
                out.push(' ');
                used += 1;
            }
            // A name that is too long for any line; with escapes of styles it is left as it is.
            let mut rest = word;
            while used + visible(rest) > width && !rest.contains('\u{1b}') {
                let cut = rest
                    .char_indices()
                    .nth(width - used)
                    .map_or(rest.len(), |(at, _)| at);
                out.push_str(&rest[..cut]);
                out.push('\n');
                out.push_str(&" ".repeat(indent));
                (rest, used) = (&rest[cut..], indent);
            }
            out.push_str(rest);
            used += visible(rest);
        }
        out.push('\n');
    }
    out
}

/// Columns of a text with escapes of styles.
fn visible(text: &str) -> usize {
    let mut columns = 0;
    let mut is_escape = false;
    for c in text.chars() {
        match (is_escape, c) {
            (false, '\u{1b}') => is_escape = true,
            (true, 'm') => is_escape = false,
            (true, _) => (),
            (false, _) => columns += 1,
        }
    }
    columns
}

/// Breaks at spaces, but not in front of a `%`; a word longer than a line is broken where it must.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let lines = wrapped(&text.replace(" %", GLUED), width);
    lines.into_iter().map(|line| line.replace(GLUED, " %")).collect()
}

/// What a space in front of a `%` is while lines are broken.
const GLUED: &str = "\u{a0}%";

fn wrapped(text: &str, width: usize) -> Vec<String> {
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
        assert_eq!(wrap("ab 10 %", 5), ["ab", "10 %"]);
        assert_eq!(elide("a.b.C.m()", 5), "….m()");
        assert_eq!(within("  ab cd ef\ngh", 7), "  ab cd\n  ef\ngh\n");
        assert_eq!(within("  abcdefgh ij", 6), "  abcd\n  efgh\n  ij\n");
        assert_eq!(within("\u{1b}[1mab\u{1b}[0m cd", 5), "\u{1b}[1mab\u{1b}[0m cd\n");
    }
}
