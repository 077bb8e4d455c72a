//! The contents of the view, and the effect of keys on it. Nothing here knows a terminal.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use trodden_insight::view::MethodView;
use trodden_profile::{Profile, printable};
use trodden_report::{OneMethod, Report, ReportOptions};

use super::elsewhere::{Elsewhere, elsewhere};

/// Internal class name, name and descriptor.
pub type Names = (String, String, String);

/// The action of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    Up,
    Down,
    PageUp,
    PageDown,
    First,
    Last,
    Open,
    Back,
    Sort(Sort),
    Freeze,
    Span,
    Help,
    Quit,
}

/// By what methods are ranked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    Time,
    Executions,
    Decisions,
}

/// The span of time that is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// From the last look but one to the last one.
    Recent,
    /// Since the view was opened.
    All,
}

/// Sums of a span.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct About {
    /// How long it was.
    pub seconds: f64,
    /// How many processors the whole process kept busy, JVM threads included.
    pub processors: Option<f64>,
    /// Samples of CPU time; lost ones are none.
    pub samples: Option<u64>,
    /// Paths counted.
    pub paths: u64,
    /// Decisions on them.
    pub decisions: u64,
    /// True if all paths were counted. Else these are samples of them.
    pub exact: bool,
    /// The part of the CPU time that no method of the table has, 0 to 1.
    pub elsewhere: Option<f64>,
}

/// A method in a span. What is not known is none.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub names: Names,
    /// `a.b.C.m(int)`, fit for a terminal.
    pub title: String,
    /// `C.m`, likewise.
    pub short: String,
    /// Its part of the program's CPU time, 0 to 1, with that of callees that are not measured.
    pub time: Option<f64>,
    /// The part of its own time, with everything that it calls, of which it is not known which paths took it.
    pub unplaced: Option<f64>,
    /// Paths per second.
    pub executions: Option<f64>,
    /// Decisions per second.
    pub decisions: Option<f64>,
}

impl Row {
    /// Returns true for the row of the time that no other row has.
    pub fn is_elsewhere(&self) -> bool {
        self.names.1.is_empty()
    }
}

/// Methods of a span.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    pub about: About,
    /// The last one is that of all other methods, if they have time.
    pub rows: Vec<Row>,
    /// The methods that have no row, by their time.
    pub elsewhere: Vec<Elsewhere>,
}

impl Table {
    /// The table of a profile, whose seconds are the span.
    pub fn from_profile(profile: &Profile) -> Table {
        let Ok(report) = Report::new(profile, &ReportOptions::default()) else {
            // Only options can be wrong.
            return Table::default();
        };
        let view = report.view();
        let seconds = profile.run.seconds;
        let rate = |count: u64| (seconds > 0.0).then(|| count as f64 / seconds);
        // Classes of one name, of several loaders, have one row: samples do not distinguish them.
        let mut together: BTreeMap<Names, (&MethodView, u64, u64)> = BTreeMap::new();
        for method in &view.methods {
            let map = method.map;
            let names = (method.class.to_owned(), map.name.clone(), map.descriptor.clone());
            let (_, count, flow) = together.entry(names).or_insert((method, 0, 0));
            *count = count.saturating_add(method.count);
            *flow = flow.saturating_add(method.flow);
        }
        let samples = profile.cpu.as_ref().map(|cpu| cpu.total());
        let sampled = samples.is_some_and(|all| all.ns > 0);
        let elsewhere = elsewhere(profile, |names| together.contains_key(names));
        let mut rows: Vec<Row> = together
            .into_iter()
            .map(|(names, (method, count, flow))| Row {
                title: printable(&method.title()).into_owned(),
                short: printable(&method.short_name()).into_owned(),
                names,
                // Without a sample of its own it has no time that could be distinguished from none.
                time: sampled.then(|| method.time.as_ref().map_or(0.0, |time| time.share)),
                unplaced: (method.time.as_ref())
                    .filter(|time| time.total.ns > 0)
                    .map(|time| time.unplaced.ns as f64 / time.total.ns as f64),
                executions: rate(count),
                decisions: rate(flow),
            })
            .collect();
        let here: f64 = rows.iter().filter_map(|row| row.time).sum();
        if !elsewhere.is_empty() {
            rows.push(Row {
                names: Names::default(),
                title: "elsewhere: in methods without a row (Enter names them)".to_owned(),
                short: "elsewhere (Enter)".to_owned(),
                time: Some((1.0 - here).max(0.0)),
                unplaced: None,
                executions: None,
                decisions: None,
            });
        }
        let process = profile.cpu.as_ref().and_then(|cpu| cpu.process_ns);
        Table {
            about: About {
                seconds,
                processors: process.and_then(|ns| rate(ns).map(|rate| rate / 1e9)),
                samples: samples.map(|all| all.samples),
                paths: view.totals.paths,
                decisions: view.totals.flow,
                exact: profile.run.exact,
                elsewhere: sampled.then(|| (1.0 - here).max(0.0)),
            },
            rows,
            elsewhere,
        }
    }

    /// Ranks the rows; what is not known comes last.
    fn sort(&mut self, by: Sort) {
        let key = |row: &Row| {
            let first = match by {
                Sort::Time => row.time,
                Sort::Executions => row.executions,
                Sort::Decisions => row.decisions,
            };
            [first, row.decisions, row.executions].map(|value| value.unwrap_or(-1.0))
        };
        self.rows.sort_by(|a, b| {
            let (x, y) = (key(a), key(b));
            let pairs = x.iter().zip(&y);
            let hotter = pairs.map(|(x, y)| y.total_cmp(x)).find(|order| order.is_ne());
            hotter.unwrap_or_else(|| a.names.cmp(&b.names))
        });
    }
}

/// The state of the JVM at one moment.
#[derive(Clone, Debug)]
pub struct Snapshot {
    all: (Table, Arc<Profile>),
    recent: Option<(Table, Arc<Profile>)>,
}

impl Snapshot {
    /// The snapshot of a dump, and of the one before.
    pub fn new(profile: Arc<Profile>, before: Option<&Profile>) -> Snapshot {
        let recent = before.map(|before| {
            let since = profile.since(before);
            (Table::from_profile(&since), Arc::new(since))
        });
        Snapshot {
            all: (Table::from_profile(&profile), profile),
            recent,
        }
    }

    /// The span that was asked for; until there are two looks there is only one.
    fn span(&mut self, span: Span) -> &mut (Table, Arc<Profile>) {
        match (span, &mut self.recent) {
            (Span::Recent, Some(recent)) => recent,
            _ => &mut self.all,
        }
    }
}

/// The method that is open.
#[derive(Clone, Debug)]
pub struct Opened {
    pub names: Names,
    pub title: String,
    /// Its row in the span; none if it did not run.
    pub row: Option<Row>,
    pub method: OneMethod,
    /// The first line that is shown.
    pub scroll: usize,
}

impl Opened {
    /// Returns true for the time that no row has.
    pub fn is_elsewhere(&self) -> bool {
        self.names.1.is_empty()
    }
}

/// Everything that the view shows.
#[derive(Debug)]
pub struct Model {
    pub pid: u32,
    pub name: String,
    pub sort: Sort,
    pub span: Span,
    pub frozen: bool,
    pub help: bool,
    /// The selected row.
    pub selected: usize,
    /// Rows that fit: set when it is drawn.
    pub page: usize,
    pub opened: Option<Opened>,
    /// Which method is selected, once one was chosen: it keeps the selection when ranks change.
    chosen: Option<Names>,
    sources: Vec<PathBuf>,
    shown: Option<Snapshot>,
    /// The latest snapshot that came while frozen.
    newer: Option<Snapshot>,
}

impl Model {
    /// The view of a process, with the name of its program.
    pub fn new(pid: u32, name: &str, sources: Vec<PathBuf>) -> Self {
        Model {
            pid,
            name: printable(name).into_owned(),
            sort: Sort::Time,
            span: Span::Recent,
            frozen: false,
            help: false,
            selected: 0,
            page: 10,
            opened: None,
            chosen: None,
            sources,
            shown: None,
            newer: None,
        }
    }

    /// Methods of the span, ranked; none before the first look.
    pub fn table(&self) -> Option<&Table> {
        let shown = self.shown.as_ref()?;
        let recent = shown.recent.as_ref().filter(|_| self.span == Span::Recent);
        Some(&recent.unwrap_or(&shown.all).0)
    }

    /// How long it is profiled already.
    pub fn seconds(&self) -> Option<f64> {
        Some(self.shown.as_ref()?.all.0.about.seconds)
    }

    /// Returns true if the last interval is shown, and nothing was recorded in it. Then the profiler was
    /// stopped from elsewhere.
    pub fn stands_still(&self) -> bool {
        let recent = self.shown.as_ref().and_then(|shown| shown.recent.as_ref());
        recent.is_some_and(|(table, _)| table.about.seconds <= 0.0)
    }

    /// Takes in a snapshot.
    pub fn see(&mut self, snapshot: Snapshot) {
        if self.frozen {
            self.newer = Some(snapshot)
        } else {
            self.shown = Some(snapshot);
            self.renew();
        }
    }

    /// Executes a key's action. Returns false if the view is to be left.
    pub fn press(&mut self, key: Key) -> bool {
        match key {
            Key::Quit => return false,
            Key::Help => self.help = !self.help,
            Key::Back if self.help => self.help = false,
            Key::Back => self.opened = None,
            Key::Open => self.open(),
            Key::Sort(by) => {
                self.sort = by;
                self.renew();
            }
            Key::Span => {
                self.span = match self.span {
                    Span::Recent => Span::All,
                    Span::All => Span::Recent,
                };
                self.renew();
            }
            Key::Freeze => {
                self.frozen = !self.frozen;
                if let Some(newer) = self.newer.take() {
                    self.shown = Some(newer);
                    self.renew();
                }
            }
            Key::Up | Key::Down | Key::PageUp | Key::PageDown | Key::First | Key::Last => self.go(key),
        }
        true
    }

    fn go(&mut self, key: Key) {
        let page = self.page.max(1);
        let moved = |at: usize| match key {
            Key::Up => at.saturating_sub(1),
            Key::Down => at.saturating_add(1),
            Key::PageUp => at.saturating_sub(page),
            Key::PageDown => at.saturating_add(page),
            Key::Last => usize::MAX,
            _ => 0,
        };
        match &mut self.opened {
            // The end is known where it is drawn.
            Some(opened) => opened.scroll = moved(opened.scroll),
            None => {
                let Some(table) = self.table() else { return };
                let at = moved(self.selected).min(table.rows.len().saturating_sub(1));
                // On the first rank it is the rank that is selected, whichever method has it.
                let chosen = table.rows.get(at).filter(|_| at > 0);
                self.chosen = chosen.map(|row| row.names.clone());
                self.selected = at;
            }
        }
    }

    fn open(&mut self) {
        let row = self.table().and_then(|table| table.rows.get(self.selected));
        let Some(row) = row.filter(|_| self.opened.is_none()) else {
            return;
        };
        let opened = Opened {
            names: row.names.clone(),
            title: row.title.clone(),
            row: None,
            method: OneMethod::default(),
            scroll: 0,
        };
        self.chosen = Some(opened.names.clone());
        self.opened = Some(opened);
        self.renew();
    }

    /// Ranks again, finds the selected method again, and the report of the open one.
    fn renew(&mut self) {
        let Some(shown) = &mut self.shown else { return };
        let (table, profile) = shown.span(self.span);
        table.sort(self.sort);
        let chosen = self.chosen.as_ref();
        let found = chosen.and_then(|names| table.rows.iter().position(|row| row.names == *names));
        let last = table.rows.len().saturating_sub(1);
        self.selected = found.unwrap_or(self.selected).min(last);
        if let Some(opened) = &mut self.opened {
            let (class, name, descriptor) = &opened.names;
            let names = (&**class, &**name, &**descriptor);
            opened.method = OneMethod::of(profile, names, &self.sources).unwrap_or_default();
            let row = table.rows.iter().find(|row| row.names == opened.names);
            opened.row = row.cloned();
        }
    }
}
