//! For a terminal: the cause first, in its source.

use super::finding::{BranchChange, Diff, MethodChange, Reason, Summary};
use super::{TimeDiff, time_words};
use crate::source::Sources;
use crate::text::{DECISION, HOT, Page, SOFT, TITLE};
use crate::words::{dotted, percent, signature, thousands};

/// Lines of one kind that are named before the rest is only counted.
const MOST_LINES: usize = 6;
/// How far consequences of consequences are indented.
const MOST_INDENT: usize = 11;

impl Diff {
    /// For a terminal, 100 columns wide; `color` adds ANSI styles.
    pub fn text(&self, sources: &crate::DiffSources, color: bool) -> String {
        let mut page = Page {
            out: String::new(),
            color,
        };
        let (leading, following) = self.places_of_time();
        if let Some(time) = leading {
            self.time_text(time, &mut page);
        }
        if self.counts_paths() {
            page.wrapped(0, &self.headline());
        }
        for (index, change) in self.methods.iter().enumerate() {
            if change.reason == Reason::Consequence && change.because_of.is_some() {
                continue;
            }
            self.change(&mut page, index, change, &sources.0);
        }
        if let Some(time) = following {
            self.time_text(time, &mut page);
        }
        for line in self.closing() {
            page.wrapped(0, &line);
        }
        page.out
    }

    /// Time leads, unless there is nothing to tell of it while the work has changed: then it follows.
    pub(super) fn places_of_time(&self) -> (Option<&TimeDiff>, Option<&TimeDiff>) {
        let time = self.time.as_ref();
        let leads = |time: &&TimeDiff| !time.methods.is_empty() || self.methods.is_empty();
        (time.filter(leads), time.filter(|time| !leads(time)))
    }

    /// Is there something to say of paths? Two profiles of samples alone have none.
    pub(super) fn counts_paths(&self) -> bool {
        self.summary.work != [0; 2] || self.time.is_none()
    }

    /// What became of the whole, in one sentence.
    pub(super) fn headline(&self) -> String {
        let Summary {
            work: [b, a], scale, ..
        } = self.summary;
        let causes = self
            .methods
            .iter()
            .filter(|m| m.reason == Reason::Behaviour)
            .count();
        let what = match (causes, self.methods.len()) {
            (0, 0) => "No method does other work than before".to_owned(),
            (0, _) => "No method behaves differently".to_owned(),
            (1, _) => "1 method behaves differently".to_owned(),
            (n, _) => format!("{n} methods behave differently"),
        };
        let mut out = format!(
            "{what}. Executed work {}: {} → {} bytecode instructions",
            grew(b, a),
            short(b),
            short(a)
        );
        if (scale - 1.0).abs() > 0.02 {
            out += &format!(", of which {scale:.2} times the same work");
        }
        out + "."
    }

    fn change(&self, page: &mut Page, index: usize, change: &MethodChange, sources: &Sources) {
        let title = page.styled(TITLE, &format!("{}. {}", index + 1, change.title()));
        let share = page.styled(HOT, &signed_percent(change.share));
        let time = change
            .time
            .as_ref()
            .map_or(String::new(), |time| format!("; {}", time_words::share(time)));
        page.line(&format!("{title}   {share} of the work{time}"));
        if let Some(from) = &change.renamed_from {
            page.wrapped(3, &format!("was {from}"));
        }
        match &change.cause {
            Some(cause) => {
                let line = page.styled(DECISION, &cause_line(cause));
                page.wrapped(3, &line);
                let text = change.source_file.as_deref();
                if let Some((line, text)) = source_line(sources, &change.class, text, cause.line) {
                    page.line(&format!("   {line:>5} │ {text}"));
                }
            }
            None => page.wrapped(3, &self.without_cause(change)),
        }
        for (words, lines) in [
            ("new code", &change.new_lines),
            ("code that is gone", &change.gone_lines),
        ] {
            if !lines.is_empty() {
                page.wrapped(3, &format!("{words}: {}", line_list(lines)));
            }
        }
        for path in change.paths.iter().take(3) {
            let [b, a] = path.per_entry;
            let text = format!("{} → {} per call: {}", rate(b), rate(a), path.text);
            let text = page.styled(SOFT, &text);
            page.wrapped(3, &text);
        }
        self.consequences(page, index, 3);
    }

    /// What follows from a change, and from that.
    fn consequences(&self, page: &mut Page, index: usize, indent: usize) {
        for (next, other) in self.methods.iter().enumerate() {
            if other.because_of != Some(index) || next == index {
                continue;
            }
            let what = match &other.cause {
                Some(cause) => cause_line(cause),
                None => self.calls(other),
            };
            let text = format!(
                "→ {}: {what} ({} of the work)",
                other.title(),
                signed_percent(other.share)
            );
            page.wrapped(indent, &text);
            if indent < MOST_INDENT {
                self.consequences(page, next, indent + 2);
            }
        }
    }

    /// How often it was called, and how often it would have been.
    pub(super) fn calls(&self, change: &MethodChange) -> String {
        let [b, a] = change.entries;
        let scale = self.summary.scale;
        match (scale - 1.0).abs() > 0.02 {
            true => format!(
                "called {} times instead of {} ({scale:.2} × {})",
                thousands(a),
                thousands((b as f64 * scale).round() as u64),
                thousands(b)
            ),
            false => format!("called {} times instead of {}", thousands(a), thousands(b)),
        }
    }

    /// What is to say where no branch explains the change.
    pub(super) fn without_cause(&self, change: &MethodChange) -> String {
        let [b, a] = change.entries;
        match change.reason {
            Reason::Code if b == 0 => format!("new: called {} times", thousands(a)),
            Reason::Code => format!("gone: was called {} times", thousands(b)),
            Reason::Calls | Reason::Consequence => {
                format!(
                    "{}; no change of a method with probes explains that",
                    self.calls(change)
                )
            }
            Reason::Behaviour => "its work per call changed; no single branch explains that".to_owned(),
        }
    }

    /// What a reader should know about the numbers.
    pub(super) fn closing(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let listed = &self.summary.matched;
        let number = |name: &str| listed.get(name).copied().unwrap_or(0);
        lines.push(format!(
            "Methods: {} with the same code, {} with the same flow graph, {} changed, {} new, {} gone.",
            number("same"),
            number("graph"),
            number("partial"),
            number("new"),
            number("gone")
        ));
        if let Some(which) = self.only_timed {
            let which = ["first", "second"][which];
            lines.push(format!(
                "Only the {which} profile has CPU samples (--sample), so times are not compared."
            ));
        }
        if self.more > 0 {
            lines.push(format!("{} more changed; raise --top to see them.", self.more));
        }
        if self.summary.threshold > 0.0 {
            lines.push(format!(
                "Changes below {} of the work are not listed (--threshold).",
                percent(self.summary.threshold)
            ));
        }
        if self.summary.exact != [true, true] {
            lines.push(
                "Not every execution was counted: only differences beyond chance (four standard errors) are listed."
                    .to_owned(),
            );
        }
        if !self.summary.shapes {
            lines.push(
                "A profile does not record instructions (it is of an older version): work is estimated from bytes."
                    .to_owned(),
            );
        }
        lines
    }
}

impl MethodChange {
    /// `a.b.C.m(int)`.
    pub fn title(&self) -> String {
        format!(
            "{}.{}",
            dotted(&self.class),
            signature(&self.name, &self.descriptor)
        )
    }
}

/// The branch, and what became of it.
pub(super) fn cause_line(cause: &BranchChange) -> String {
    let place = place(cause);
    let what = match &cause.condition {
        Some(condition) => format!("{place}  {condition} → {}", cause.outcome),
        None => format!("{place}  branch {}", cause.outcome),
    };
    if cause.is_gone {
        let [was, times] = [odds(cause.probability[0]), thousands(cause.reached[0])];
        return format!("{what}: this condition is gone; before {was} of {times} times");
    }
    let now = format!(
        "{} of {} times",
        odds(cause.probability[1]),
        thousands(cause.reached[1])
    );
    let was = match (cause.is_new, cause.probability[0]) {
        (true, _) => "this condition is new".to_owned(),
        (false, None) => "never reached before".to_owned(),
        (false, share) => format!("before {} of {} times", odds(share), thousands(cause.reached[0])),
    };
    format!("{what}: {now}; {was}")
}

/// `line 12`, or where there are no line numbers `bytecode 7`.
pub(super) fn place(branch: &BranchChange) -> String {
    match branch.line {
        Some(line) => format!("line {line}"),
        None => format!("bytecode {}", branch.bci),
    }
}

pub(super) fn odds(share: Option<f64>) -> String {
    share.map_or_else(|| "never reached".to_owned(), percent)
}

/// A share with its sign.
pub(super) fn signed_percent(share: f64) -> String {
    let sign = if share < 0.0 { "−" } else { "+" };
    format!("{sign}{}", percent(share.abs()))
}

pub(super) fn grew(before: u64, after: u64) -> String {
    match before {
        0 => "grew from nothing".to_owned(),
        before if before == after => "is the same".to_owned(),
        before => {
            let ratio = after as f64 / before as f64;
            match ratio {
                r if r >= 3.0 => format!("grew {r:.1} times"),
                r if r >= 1.0 => format!("grew by {}", percent(r - 1.0)),
                r => format!("fell by {}", percent(1.0 - r)),
            }
        }
    }
}

/// Large numbers in millions, as people say them.
pub(super) fn short(number: u64) -> String {
    match number {
        0..1_000_000 => thousands(number),
        1_000_000..100_000_000 => format!("{:.1} million", number as f64 / 1e6),
        _ => format!("{} million", thousands(number / 1_000_000)),
    }
}

/// How often per activation.
pub(super) fn rate(times: f64) -> String {
    match times {
        0.0 => "never".to_owned(),
        t if t < 0.001 => "<0.001".to_owned(),
        t if t < 100.0 => format!("{t:.3}"),
        t => format!("{t:.0}"),
    }
}

pub(super) fn line_list(lines: &[u32]) -> String {
    let named: Vec<String> = lines.iter().take(MOST_LINES).map(u32::to_string).collect();
    let word = if lines.len() == 1 { "line" } else { "lines" };
    match lines.len().saturating_sub(MOST_LINES) {
        0 => format!("{word} {}", named.join(", ")),
        more => format!("{word} {} and {more} more", named.join(", ")),
    }
}

/// A line of the source, if it is there.
pub(super) fn source_line(
    sources: &Sources,
    class: &str,
    file: Option<&str>,
    line: Option<u32>,
) -> Option<(u32, String)> {
    let line = line?;
    let text = sources.find(class, file)?;
    let text = text.lines.get(line.checked_sub(1)? as usize)?;
    Some((line, text.trim().to_owned()))
}
