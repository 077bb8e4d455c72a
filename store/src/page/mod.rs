//! `trodden store report`: one HTML page that answers the ready questions. It needs no network, and no script
//! to be read.

mod parts;
mod spark;
mod standing_out;

use maud::{DOCTYPE, Markup, PreEscaped, html};
use trodden_report::{percent, thousands};

use crate::query::{Answer, Engine, Given, Query, QueryError, Value, ready};
use parts::{Ending, table};
use spark::Series;

const STYLES: [&str; 5] = [
    include_str!("../../../report/src/assets/graph.css"),
    include_str!("../../../report/src/assets/page.css"),
    include_str!("../../../report/src/assets/coverage.css"),
    include_str!("../../../report/src/assets/print.css"),
    include_str!("fleet.css"),
];
const SCRIPTS: [&str; 3] = [
    include_str!("../../../report/src/assets/shared.js"),
    include_str!("../../../report/src/assets/table.js"),
    include_str!("../../../report/src/assets/coverage.js"),
];

/// The contents of the page.
#[derive(Clone, Debug)]
pub struct PageOptions {
    /// Name of the store, as people call it.
    pub store: String,
    /// Parameters for the questions that have them: `since`, `service`, `build`.
    pub given: Given,
    /// Rows of each table.
    pub top: usize,
}

/// All answers that the page shows.
#[derive(Debug)]
pub(crate) struct Answers {
    builds: Answer,
    days: Answer,
    hot: Answer,
    hot_days: Answer,
    never_taken: Answer,
    never_ran: Answer,
    changed: Answer,
    odd_hosts: Answer,
    slow: Answer,
    coverage: Answer,
}

/// Windows, hosts and days of each build.
const BUILDS: &str = "\
-- param since DATE default newest-30d: first day that counts
-- param service TEXT default '': of this service only
-- views builds
SELECT w.service, w.build, min(w.day) AS first_day, max(w.day) AS last_day,
  count(DISTINCT w.host) AS hosts, count(DISTINCT w.jvm) AS jvms, sum(w.merged) AS windows, sum(w.path_ends) AS path_ends,
  sum(w.lost) AS lost, bool_and(w.exact) AS exact, bool_and(w.complete) AS complete
FROM params p CROSS JOIN windows w JOIN builds b ON w.service = b.service AND w.build = b.build
WHERE w.day >= p.since AND (p.service = '' OR w.service = p.service)
GROUP BY w.service, w.build, b.first_started
ORDER BY w.service, b.first_started DESC, w.build DESC";

/// Path ends and hosts of each build by day.
const DAYS: &str = "\
-- param since DATE default newest-30d: first day that counts
-- param service TEXT default '': of this service only
-- days windows from since
SELECT w.service, w.build, w.day, sum(w.path_ends) AS path_ends, count(DISTINCT w.host) AS hosts
FROM params p CROSS JOIN windows w
WHERE w.day >= p.since AND (p.service = '' OR w.service = p.service)
GROUP BY w.service, w.build, w.day
ORDER BY w.service, w.build, w.day";

/// The hottest methods by day.
const HOT_DAYS: &str = "\
-- param since DATE default newest-30d: first day that counts
-- param service TEXT default '': of this service only
-- param build TEXT default '': of this build only
-- param top BIGINT default 20: methods
-- days method_days from since
WITH days AS (
  SELECT m.service, m.class, m.method, m.descriptor, m.day, sum(m.decisions) AS decisions, COALESCE(sum(m.cpu_ns), 0) AS cpu_ns
  FROM params p CROSS JOIN method_days m
  WHERE m.day >= p.since AND (p.service = '' OR m.service = p.service) AND (p.build = '' OR m.build = p.build)
  GROUP BY m.service, m.class, m.method, m.descriptor, m.day
), ranked AS (
  SELECT service, class, method, descriptor,
    ROW_NUMBER() OVER (ORDER BY sum(cpu_ns) DESC, sum(decisions) DESC, service, class, method, descriptor) AS place
  FROM days GROUP BY service, class, method, descriptor
)
SELECT d.service, d.class, d.method, d.descriptor, d.day, d.decisions, d.cpu_ns
FROM days d JOIN ranked r ON d.service = r.service AND d.class = r.class AND d.method = r.method AND d.descriptor = r.descriptor
  CROSS JOIN params p
WHERE r.place <= p.top
ORDER BY r.place, d.day";

/// Makes the page.
///
/// # Errors
/// If a question cannot be answered.
pub async fn page(engine: &Engine, options: &PageOptions) -> Result<String, QueryError> {
    let ask = async |query: Query| -> Result<Answer, QueryError> {
        let known = |name: &String| query.params.iter().any(|param| param.name == *name);
        let given = options.given.iter().filter(|(name, _)| known(name));
        let given: Given = given.map(|(name, value)| (name.clone(), value.clone())).collect();
        Ok(engine.ask(&query, &given).await?.0)
    };
    let mut hot_days = Query::parse("hot-days", HOT_DAYS)?;
    for param in hot_days.params.iter_mut().filter(|param| param.name == "top") {
        let methods = i64::try_from(options.top).unwrap_or(i64::MAX);
        param.default = Some(crate::query::Default::Number(methods));
    }
    let answers = Answers {
        builds: ask(Query::parse("builds", BUILDS)?).await?,
        days: ask(Query::parse("days", DAYS)?).await?,
        hot: ask(ready("hot-methods")?).await?,
        hot_days: ask(hot_days).await?,
        never_taken: ask(ready("never-taken")?).await?,
        never_ran: ask(ready("never-ran")?).await?,
        changed: ask(ready("changed")?).await?,
        odd_hosts: ask(ready("odd-hosts")?).await?,
        slow: ask(ready("slow-requests")?).await?,
        coverage: ask(ready("coverage")?).await?,
    };
    Ok(write(&answers, options))
}

fn write(answers: &Answers, options: &PageOptions) -> String {
    let title = format!("Fleet in {}", options.store);
    let style: String = STYLES.into_iter().collect();
    let script: String = SCRIPTS.into_iter().collect();
    let mut page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                link rel="icon" href="data:,";
                style { (PreEscaped(style)) }
            }
            body.coverage.fleet {
                header {
                    p.brand { "trodden" }
                    h1 { (title) }
                    (run(answers))
                }
                main {
                    @if answers.builds.rows.is_empty() { (empty(options)) } @else {
                        (standing_out::section(answers))
                        (builds(answers))
                        (sections(answers, options))
                    }
                }
                footer { "Written by Trodden " (env!("CARGO_PKG_VERSION")) ". This file needs no network; keep it or send it on." }
                script { (PreEscaped(format!("\"use strict\";\n(() => {{\n{script}}})();\n"))) }
            }
        }
    }
    .into_string();
    page.push('\n');
    page
}

/// Nothing has come in, or nothing of what was asked for.
fn empty(options: &PageOptions) -> Markup {
    html! {
        section #empty {
            h2 { "Nothing has come in" }
            @if options.given.is_empty() {
                p { "There is no window of any JVM in this store. " code { "trodden store add" } " and " code { "trodden ship" } " bring some." }
            } @else {
                p { "There is no window of a JVM that this page was asked about: "
                    (options.given.iter().map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", ")) "." }
            }
        }
    }
}

fn run(answers: &Answers) -> Markup {
    let builds = &answers.builds;
    let sum = |column: &str| {
        builds
            .rows
            .iter()
            .filter_map(|row| builds.get(row, column).number())
            .sum::<i64>()
    };
    let mut services: Vec<String> = builds
        .rows
        .iter()
        .map(|row| builds.get(row, "service").printable())
        .collect();
    services.dedup();
    let day = |column: &'static str| builds.rows.iter().map(move |row| builds.get(row, column).plain());
    html! {
        dl.run {
            @if !services.is_empty() {
                div { dt { "Services" } dd { (brief(&services)) } }
                div { dt { "Builds" } dd { (thousands(builds.rows.len() as u64)) } }
                div { dt { "Days" } dd { (day("first_day").min().unwrap_or_default()) " to " (day("last_day").max().unwrap_or_default()) } }
                div { dt { "JVMs" } dd { (thousands(sum("jvms").unsigned_abs())) } }
                div { dt { "Windows" } dd { (thousands(sum("windows").unsigned_abs())) } }
                div { dt { "Paths" } dd { (thousands(sum("path_ends").unsigned_abs())) } }
            }
        }
    }
}

/// The first names, and how many more.
fn brief(names: &[String]) -> String {
    const NAMED: usize = 5;
    let first = names[..names.len().min(NAMED)].join(", ");
    match names.len().saturating_sub(NAMED) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

fn builds(answers: &Answers) -> Markup {
    let builds = &answers.builds;
    html! {
        section #builds {
            h2 { "Builds" }
            p.note { "The newest of each service first. The line: paths a day." }
            div.scroll { table.sortable {
                thead { tr {
                    th scope="col" data-type="text" { "Service" } th scope="col" data-type="text" { "Build" }
                    th scope="col" data-type="text" { "First day" } th scope="col" data-type="text" { "Last day" }
                    th.num scope="col" { "Hosts" } th.num scope="col" { "JVMs" } th.num scope="col" { "Windows" }
                    th.num scope="col" { "Paths" } th scope="col" data-type="text" { "Counts" } th scope="col" { "By day" }
                } }
                tbody { @for row in &builds.rows { tr {
                    @let series = Series::of(&answers.days, "path_ends", &[("service", builds.get(row, "service")), ("build", builds.get(row, "build"))]);
                    @for column in ["service", "build", "first_day", "last_day"] {
                        @let text = builds.get(row, column).printable();
                        td data-value=(text) { (text) }
                    }
                    @for column in ["hosts", "jvms", "windows", "path_ends"] { (parts::number(builds.get(row, column))) }
                    @let counts = match (builds.get(row, "complete"), builds.get(row, "exact")) {
                        (Value::Flag(true), _) => "exact, nothing lost",
                        (_, Value::Flag(true)) => "exact, not all of it",
                        _ => "estimates",
                    };
                    td data-value=(counts) { (counts) }
                    td data-value=(series.total()) { (series.line("paths")) }
                } } }
            } }
        }
    }
}

fn sections(answers: &Answers, options: &PageOptions) -> Markup {
    let ending = |command: &'static str| Ending {
        top: options.top,
        command,
    };
    html! {
        section #changed {
            h2 { "What the newest build does differently" }
            p.note { "Against the build before it. Only what chance does not explain; " em { "moved" } " is the change of the share of the build's \
                work (branches decided). Where a method's flow graph changed, its paths cannot be compared." }
            (table(&answers.changed, &["kind", "method", "text", "old_share", "new_share", "old_count", "new_count", "moved"], &ending("changed")))
        }
        section #never-taken {
            h2 { "Branches that no JVM takes" }
            p.note { "In methods that ran, in the newest build. " em { "Never" } ": all windows since are there and complete. " em { "Not seen" } ": something was \
                lost, or only estimated. " em { "Not known" } ": windows did not come in, or recordings have no last window. It is said of JVMs that sent windows." }
            (table(&answers.never_taken, &["certain", "method", "way", "method_paths"], &ending("never-taken")))
        }
        section #never-ran {
            h2 { "Methods that no JVM runs" }
            p.note { "Of classes that were loaded." }
            (table(&answers.never_ran, &["certain", "method", "source_file", "line"], &ending("never-ran")))
        }
        section #odd-hosts {
            h2 { "Hosts that differ" }
            p.note { "How far a host's shares of paths are from those of all others on the last day: 0 is the same, 1 is no path in common." }
            (table(&answers.odd_hosts, &["host", "build", "distance", "others", "method", "text", "share", "others_share"], &ending("odd-hosts")))
        }
        // Most JVMs record none.
        @if !answers.slow.rows.is_empty() {
            section #slow-requests {
                h2 { "What slow requests share" }
                p.note { "Outcomes that the slowest hundredth of all hosts' requests took more often than the others did, by more than chance explains; \
                    how many of the hosts with slow ones; and how long requests take with it and without." }
                (table(&answers.slow, &["request", "build", "over_ms", "slow", "method", "way", "slow_share", "other_share", "hosts", "of_hosts", "with_ms", "without_ms"], &ending("slow-requests")))
            }
        }
        section #hot-methods {
            h2 { "Methods that cost most" }
            (hot(answers, options))
        }
        section #coverage {
            h2 { "What has run" }
            p.note { "Classes by what did not run in production, in the newest build." }
            (coverage(&answers.coverage, options.top))
        }
    }
}

fn hot(answers: &Answers, options: &PageOptions) -> Markup {
    let hot = &answers.hot;
    let by_cpu = hot
        .rows
        .first()
        .is_some_and(|row| hot.get(row, "ranked_by").text() == Some("cpu"));
    let (measure, what) = if by_cpu {
        ("cpu_ns", "CPU time")
    } else {
        ("decisions", "branches decided")
    };
    html! {
        p.note { "By " (what) ". The line: " (what) " by day." }
        div.scroll { table.sortable {
            thead { tr {
                th scope="col" data-type="text" { "Method" } th scope="col" data-type="text" { "Service" } th.num scope="col" { "Share" }
                th.num scope="col" { "CPU time" } th.num scope="col" { "Decisions" } th.num scope="col" { "Paths" } th scope="col" { "By day" }
            } }
            tbody { @for row in hot.rows.iter().take(options.top) { tr {
                @let name = hot.method(row);
                @let keys = ["service", "class", "method", "descriptor"].map(|key| (key, hot.get(row, key)));
                @let series = Series::of(&answers.hot_days, measure, &keys);
                @let share = hot.get(row, "share").float().unwrap_or(0.0);
                td data-value=(name) { code { (name) } }
                @let service = hot.get(row, "service").printable();
                td data-value=(service) { (service) }
                td.num data-value=(share) { span.bar aria-hidden="true" { i style={ "width:" (format!("{:.2}%", share * 100.0)) } {} } span { (percent(share)) } }
                (parts::seconds(hot.get(row, "cpu_ns")))
                (parts::number(hot.get(row, "decisions"))) (parts::number(hot.get(row, "paths")))
                td data-value=(series.total()) { (series.line(what)) }
            } } }
        } }
        (parts::more(hot.rows.len(), options.top, "hot-methods"))
    }
}

fn coverage(answer: &Answer, top: usize) -> Markup {
    let two = |row: &[Value], run: &str, all: &str| {
        let number = |column| answer.get(row, column).number().unwrap_or(0).unsigned_abs();
        let (run, all) = (number(run), number(all));
        let share = run as f64 / all.max(1) as f64;
        html! { td data-value=(share) {
            @if all == 0 { "–" } @else {
                span.two aria-hidden="true" { i.missed style={ "width:" (format!("{:.1}px", 110.0 * (1.0 - share))) } {}
                    i.covered style={ "width:" (format!("{:.1}px", 110.0 * share)) } {} }
                (thousands(run)) " of " (thousands(all))
            }
        } }
    };
    html! {
        div.scroll { table.sortable {
            thead { tr {
                th scope="col" data-type="text" { "Class" } th scope="col" data-type="text" { "Service" } th scope="col" { "Ways out of branches" } th scope="col" { "Methods" }
            } }
            tbody { @for row in answer.rows.iter().take(top) { tr {
                @let class = answer.class(row);
                td data-value=(class) { code { (class) } }
                @let service = answer.get(row, "service").printable();
                td data-value=(service) { (service) }
                (two(row, "ways_taken", "ways")) (two(row, "methods_run", "methods"))
            } } }
        } }
        (parts::more(answer.rows.len(), top, "coverage"))
    }
}
