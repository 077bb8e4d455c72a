//! For a terminal: 100 columns, plain words, colour only if asked.

pub(crate) mod branch;
mod page;

use std::fmt::Write;

use trodden_insight::left_out::LeftOut;
use trodden_insight::names;
use trodden_insight::names::place;
use trodden_insight::route::route;
use trodden_insight::view::{BranchView, MethodView, PathView, Reasons, View};

pub(crate) use page::{DECISION, HOT, Page, SOFT, TITLE, WIDTH, elide, within, wrap};

use crate::hotspot;
use crate::kinds::KINDS;
use crate::overview::{self, Ranked};
use crate::section::Extent;
use crate::section::OfKinds;
use crate::words::{self, percent, thousands};
use branch::branch_words;

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

    /// Number of places, and of outcomes, of a method whose paths are not known.
    fn places(self) -> usize {
        match self {
            Shown::First(count) => count,
            Shown::WithWork => 10,
            Shown::All => usize::MAX,
        }
    }
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
    let mut page = Page::new(color);
    // Of methods that were asked for the run is one line.
    if options.method.is_some() && view.counts_paths() {
        page.run_line(view);
    } else {
        page.head(view);
    }
    if options.method.is_none() {
        overview::stands_out(&mut page, view, WIDTH);
    }
    for kind in KINDS {
        kind.text(view, extent, &mut page);
    }
    if view.counts_paths() {
        let rows = overview::ranked(view);
        if rows.is_empty() {
            page.line("No path was counted.");
        }
        if !view.methods.is_empty() && options.method.is_none() {
            page.table(view, &rows[..rows.len().min(top)]);
        }
        for (rank, row) in (1..).zip(rows.iter().take(top)) {
            match row {
                Ranked::Method(method) => {
                    page.method(rank, method, shown);
                    for kind in KINDS {
                        kind.text_of_method(view, method, extent, &mut page);
                    }
                }
                Ranked::LeftOut(left) => page.left_out(rank, left, shown.places()),
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
    if options.method.is_none() {
        page.skipped(view);
    }
    page.out
}

impl Page {
    /// What ran, for how long, and what the numbers of its paths are.
    fn run_line(&mut self, view: &View) {
        let mut facts = format!("{:.1} s", view.run.seconds);
        if !view.run.has_time_only() {
            let whole = match words::not_counted(view.run) {
                Some(_) if view.run.exact => "whole ",
                _ => "",
            };
            facts += &format!("; {whole}paths {}", words::participle(view.basis));
        }
        if let Some(times) = &view.sampled {
            let (time, samples) = (words::seconds(times.total.ns), thousands(times.total.samples));
            facts += &format!("; {time} of CPU time in {samples} samples");
        }
        let program = match words::program(&view.run.command) {
            "" => "the program",
            program => program,
        };
        let program = words::cut(program, WIDTH.saturating_sub(facts.chars().count() + 2));
        self.styled_line(SOFT, &format!("{program}: {facts}"));
    }

    fn head(&mut self, view: &View) {
        let run = view.run;
        self.styled_line(TITLE, "Trodden: which paths the program took");
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
            &format!(
                "counted  {:.1} s. {}",
                run.seconds,
                words::how_counted(run, view.basis)
            ),
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
        let title = match view.times() {
            Some(_) => {
                "Hot methods (own CPU time, with that of code without probes that they call; share of decisions)"
            }
            None => "Hot methods (share of all branch decisions made on counted paths)",
        };
        for line in wrap(title, WIDTH) {
            self.styled_line(TITLE, &line);
        }
        let time = |text: String| match view.times() {
            Some(_) => format!("{text:>9}"),
            None => String::new(),
        };
        self.line(&format!(
            "{}{:>9} {:>17} {:>17}  method",
            time("own time".to_owned()),
            "share",
            "decisions",
            format!("paths {}", words::participle(view.basis))
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
    fn left_out(&mut self, rank: usize, left: &LeftOut, shown: usize) {
        self.method_title(rank, &left.title_with_file());
        self.wrapped(3, &format!("its paths are not known: {}", left.reason));
        self.wrapped(
            3,
            &format!(
                "own time {} of the whole (with that of code without probes that it calls); with callees {}",
                percent(left.share(left.near)),
                percent(left.share(left.total))
            ),
        );
        let outcomes = hotspot::lines(left, shown);
        if !outcomes.is_empty() {
            self.wrapped(3, hotspot::ABOUT);
            for (time, share, text) in outcomes {
                self.line(&format!("   {time:<15} {share:>7} of times  {text}"));
            }
        }
        for (at, time) in left.places.iter().take(shown) {
            self.line(&format!(
                "   {:>7} of the whole time   {}",
                percent(left.share(*time)),
                place(*at)
            ));
        }
    }

    fn method(&mut self, rank: usize, method: &MethodView, shown: Shown) {
        self.method_title(rank, &method.title_with_file());
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
            if let Some(divided) = words::divided(time) {
                self.wrapped(3, &divided);
            }
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

    fn share_of(&self, share: f64, of: &str) -> String {
        let share = self.styled(HOT, &format!("{:>7}", percent(share)));
        format!("{share} of the method's {of}")
    }

    fn path(&mut self, method: &MethodView, path: &PathView, what: &str) {
        let d = &path.description;
        let known = path.time.is_none_or(|time| words::share_is_known(time.interval));
        let share = match path.time {
            _ if !known => self.styled(HOT, words::TIME_NOT_KNOWN),
            Some(time) => self.share_of(time.share, "time with callees"),
            None => self.share_of(path.share_of_method, "decisions"),
        };
        self.line(&format!(
            "   {share}   {what} {}, {} times",
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
            let bounds = if known {
                words::bounds_of_path(time) + "; "
            } else {
                String::new()
            };
            let text = format!("{bounds}{} of its decisions", percent(path.share_of_method));
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
        let columns =
            method.decisions().of(branch.block).is_none() && method.time.is_none() && !branch.is_switch;
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
        self.styled_line(TITLE, title);
        for (reason, list) in all {
            let mut text = format!("{}: {reason}", thousands(list.len() as u64));
            let (class, method) = list[0];
            let _ = write!(
                text,
                " (such as {}{})",
                names::dotted(class),
                method.map(|m| format!("#{m}")).unwrap_or_default()
            );
            self.wrapped(2, &text);
        }
    }
}
