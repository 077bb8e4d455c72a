//! CPU samples in words.

use trodden_insight::cpu::CpuView;
use trodden_insight::path_time::ENOUGH_SAMPLES;
use trodden_profile::{CpuFrame, MethodTime};

use super::title_within;
use crate::text::{Page, SOFT, TITLE, wrap};
use crate::words::{percent, seconds, thousands};

/// Methods on the first screen.
const FIRST: usize = 5;

/// How much there is, and what is not in it.
pub(super) fn about(cpu: &CpuView) -> String {
    let about = cpu.about;
    let mut text = format!(
        "CPU time: {} in {} samples of all Java threads{}.",
        seconds(cpu.total.ns),
        thousands(cpu.total.samples),
        match cpu.clock.as_deref() {
            Some("task-clock") => ", by the kernel's task clock",
            Some("timer") => ", by timers at the system's ticks",
            _ => "",
        }
    );
    if cpu.total.samples > 0 && cpu.few {
        text += &format!(" They are too few to say where it was: {ENOUGH_SAMPLES} are needed.");
    }
    // Of each thread the time from its last sample to its end: nothing to speak of, unless threads are short.
    if let Some(ns) = cpu.missed_ns().filter(|&ns| ns >= cpu.total.ns / 100 && ns > 0) {
        text += &format!(" {} more of theirs was not sampled.", seconds(ns));
    }
    if let Some(ns) = cpu.unsampled_ns() {
        text += &format!(
            " The JVM's own threads (garbage collector, compilers) and the profiler took {} more{}.",
            seconds(ns),
            match cpu.probes {
                Some(probes) if !probes.is_zero() =>
                    format!(", {} of it in probes", seconds(probes.as_nanos() as u64)),
                _ => String::new(),
            }
        );
    }
    if about.reader != "async" {
        text += &format!(" Stacks were read by: {}.", about.reader);
    }
    text
}

/// Notes on the samples, if there are any.
pub(super) fn notes(cpu: &CpuView) -> Option<String> {
    let about = cpu.about;
    let mut notes = Vec::new();
    let asked = about.interval_ns.saturating_mul(cpu.total.samples);
    if cpu.total.samples > 0 && cpu.total.ns > asked.saturating_mul(2) {
        notes.push(format!(
            "the system's clock ticks less often than every {} µs: a sample is {} µs on average",
            about.interval_ns / 1000,
            cpu.total.ns / cpu.total.samples / 1000
        ));
    }
    let failed: Vec<String> = about
        .failed
        .iter()
        .filter(|_| !cpu.few)
        .map(|failed| format!("{} {}", failed.reason, percent(cpu.share(failed.time))))
        .collect();
    if !failed.is_empty() {
        notes.push(format!(
            "the stack of some samples is not known: {}",
            failed.join(", ")
        ));
    }
    if about.lost.samples > 0 {
        notes.push(format!(
            "{} samples ({}) were lost",
            thousands(about.lost.samples),
            seconds(about.lost.ns)
        ));
    }
    if about.cut.samples > 0 {
        notes.push(format!(
            "{} samples have only their innermost frames",
            thousands(about.cut.samples)
        ));
    }
    if about.shortened.samples > 0 {
        notes.push(format!(
            "{} samples are with their callers, as the tree was full",
            thousands(about.shortened.samples)
        ));
    }
    (!notes.is_empty()).then(|| {
        let text = notes.join("; ");
        let mut letters = text.chars();
        let first = letters
            .next()
            .map(|c| c.to_uppercase().to_string())
            .unwrap_or_default();
        format!("{first}{}.", letters.as_str())
    })
}

fn table<'c>(
    cpu: &CpuView,
    methods: impl Iterator<Item = &'c (&'c CpuFrame, &'c MethodTime)>,
    top: usize,
    width: usize,
    page: &mut Page,
) {
    page.line("     self  with callees  method");
    for (frame, time) in methods.take(top) {
        let [own, total] = [time.all.own, time.all.total].map(|time| percent(cpu.share(time)));
        page.line(&format!(
            "{own:>9}{total:>14}  {}",
            title_within(frame, width - 25)
        ));
    }
}

/// On the first screen: the methods with most time of their own.
pub(super) fn overview(cpu: &CpuView, width: usize, page: &mut Page) {
    let lines = wrap(&about(cpu), width);
    for (at, line) in lines.iter().enumerate() {
        let text = if at == 0 {
            page.styled(TITLE, line)
        } else {
            line.clone()
        };
        page.line(&text);
    }
    if !cpu.few {
        let own = cpu.methods.iter().filter(|(_, time)| !time.all.own.is_none());
        table(cpu, own, FIRST, width, page);
    }
    for line in notes(cpu).iter().flat_map(|notes| wrap(notes, width)) {
        page.styled_line(SOFT, &line);
    }
    page.line("");
}

/// In the long report: by own time, and with what is called.
pub(super) fn lines(cpu: &CpuView, top: usize, page: &mut Page) {
    page.wrapped(0, &about(cpu));
    page.line("");
    if !cpu.few {
        page.styled_line(TITLE, "Most time of their own");
        let own = cpu.methods.iter().filter(|(_, time)| !time.all.own.is_none());
        table(cpu, own, top, 100, page);
        page.line("");
        page.styled_line(TITLE, "Most time with callees");
        table(cpu, cpu.by_total().into_iter(), top, 100, page);
        page.line("");
    }
    if let Some(notes) = notes(cpu) {
        page.wrapped(0, &notes);
        page.line("");
    }
}
