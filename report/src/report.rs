//! A report in any format.

use std::borrow::Cow;
use std::io::Write;
use std::rc::Rc;

use trodden_insight::contexts::ContextsView;
use trodden_insight::pattern::MethodPattern;
use trodden_insight::source;
use trodden_insight::view::View;
use trodden_profile::Profile;

use crate::dot;
use crate::exports;
use crate::findings;
use crate::findings::Finding;
use crate::html;
use crate::json;
use crate::kinds::KINDS;
use crate::options::{ReportError, ReportOptions};
use crate::overview;
use crate::sarif::Repository;
use crate::section::Extent;
use crate::section::OfKinds;
use crate::svg;
use crate::text;

/// A report, ready to be written in any format.
#[derive(Debug)]
pub struct Report<'p> {
    profile: &'p Profile,
    view: View<'p>,
    options: ReportOptions,
}

impl<'p> Report<'p> {
    /// Prepares the view model. Path numbers that cannot be read do not stop it: they are listed per method.
    ///
    /// # Errors
    /// If the method pattern is malformed or matches nothing.
    pub fn new(profile: &'p Profile, options: &ReportOptions) -> Result<Self, ReportError> {
        let view = view_of(profile, options)?;
        let nothing = view.methods.is_empty()
            && view.left_out.is_empty()
            && KINDS.iter().all(|kind| !kind.has_chosen(&view));
        if let Some(pattern) = options.method.as_ref().filter(|_| nothing) {
            let methods = profile.classes.iter().map(|c| c.map.methods.len()).sum();
            return Err(ReportError::NoMethod {
                pattern: pattern.clone(),
                methods,
            });
        }
        Ok(Report {
            profile,
            view,
            options: options.clone(),
        })
    }

    /// Writes a format that cannot hold control characters in names: with printable ones.
    fn shown<T>(&self, write: impl FnOnce(&View) -> T) -> T {
        match self.profile.printable() {
            Cow::Borrowed(_) => write(&self.view),
            Cow::Owned(profile) => {
                let view = view_of(&profile, &self.options).expect("the options were good before");
                write(&view)
            }
        }
    }

    /// The part that a format has room for.
    fn extent(&self, top: usize, paths: usize, least: f64) -> Extent<'_> {
        Extent {
            top: limit(self.options.top, top),
            paths: limit(self.options.paths, paths),
            least,
            options: &self.options,
        }
    }

    /// The view model, for formats of your own. Its names are those of the profile: whatever shows them passes them
    /// through [`trodden_profile::printable`].
    pub fn view(&self) -> &View<'p> {
        &self.view
    }

    /// For a terminal: the first screen, or, of methods that were asked for ([`ReportOptions::method`],
    /// [`ReportOptions::all`]) and of kinds of data beside plain paths, everything. `color` adds ANSI styles. No line is longer
    /// than [`ReportOptions::width`].
    pub fn text(&self, color: bool) -> String {
        let plain = self.view.counts_paths()
            && KINDS
                .iter()
                .all(|kind| kind.has_overview() || !kind.is_in(&self.view));
        if plain && !self.options.all && self.options.method.is_none() && !self.view.methods.is_empty() {
            let (top, paths) = (limit(self.options.top, 10), limit(self.options.paths, 3));
            let width = limit(self.options.width, 100);
            return self.shown(|view| overview::write(view, top, paths, width, color));
        }
        let extent = self.extent(10, 5, 0.05);
        let width = limit(self.options.width, text::WIDTH);
        let text = self.shown(|view| text::write(view, &extent, color));
        text::within(&text, width.max(overview::MIN_WIDTH))
    }

    /// Collapsed stacks: one line `frame;frame;frame COUNT` per calling context, or per path, the count being its own.
    ///
    /// # Errors
    /// If the profile has no stacks, or not those that were asked for.
    pub fn collapsed(&self) -> Result<String, ReportError> {
        self.shown(|view| Ok(exports::collapsed(&exports::of(view, &self.options)?)))
    }

    /// The same stacks in speedscope's file format.
    ///
    /// # Errors
    /// If the profile has no stacks, or not those that were asked for.
    pub fn speedscope(&self) -> Result<String, ReportError> {
        self.shown(|view| Ok(exports::speedscope(&exports::of(view, &self.options)?, view)?))
    }

    /// The same stacks for pprof: a gzipped protocol buffer.
    ///
    /// # Errors
    /// If the profile has no stacks, or not those that were asked for.
    pub fn pprof(&self) -> Result<Vec<u8>, ReportError> {
        self.shown(|view| Ok(exports::pprof(&exports::of(view, &self.options)?, view)?))
    }

    /// The same stacks for OpenTelemetry: one `ProfilesData` of OTLP, which is also an `ExportProfilesServiceRequest`, as a
    /// protocol buffer (version 1.10.0 of the protocol; its profiles are not stable yet).
    ///
    /// # Errors
    /// If the profile has no stacks, or not those that were asked for.
    pub fn otlp(&self) -> Result<Vec<u8>, ReportError> {
        self.shown(|view| Ok(exports::otlp(&exports::of(view, &self.options)?, view)))
    }

    /// The same message in OTLP's JSON.
    ///
    /// # Errors
    /// If the profile has no stacks, or not those that were asked for.
    pub fn otlp_json(&self) -> Result<String, ReportError> {
        self.shown(|view| Ok(exports::otlp_json(&exports::of(view, &self.options)?, view)?))
    }

    /// The same stacks for Firefox Profiler, as JSON in its processed profile format.
    ///
    /// # Errors
    /// If the profile has no stacks, or not those that were asked for.
    pub fn firefox(&self) -> Result<String, ReportError> {
        self.shown(|view| Ok(exports::firefox(&exports::of(view, &self.options)?, view)?))
    }

    /// Lines with their CPU time and executions, calls, and jumps with both outcomes, in callgrind's format.
    ///
    /// # Errors
    /// If the profile has neither samples nor counts of paths.
    pub fn callgrind(&self) -> Result<String, ReportError> {
        self.shown(exports::callgrind)
    }

    /// CPU samples as events of Java Flight Recorder, in its file format.
    ///
    /// # Errors
    /// If the profile has no CPU samples.
    pub fn jfr(&self) -> Result<Vec<u8>, ReportError> {
        self.shown(|view| exports::jfr(view, self.options.all))
    }

    /// The findings, the weightiest first; at most ten.
    pub fn findings(&self) -> Vec<Finding> {
        self.shown(findings::find)
    }

    /// The findings in SARIF 2.1.0, at their lines in the files of a repository.
    ///
    /// # Errors
    /// If the JSON writer fails.
    pub fn sarif(&self, repository: &Repository) -> Result<String, ReportError> {
        let folders = source::folders(&self.options.sources);
        self.shown(|view| {
            Ok(findings::sarif(
                view,
                &findings::find(view),
                &folders,
                repository,
            )?)
        })
    }

    /// JSON, format `trodden-report` version 1.
    ///
    /// # Errors
    /// If the JSON writer fails.
    pub fn json(&self) -> Result<String, ReportError> {
        let mut out = Vec::new();
        self.write_json(&mut out)?;
        Ok(String::from_utf8(out).expect("JSON is UTF-8"))
    }

    /// Like [`json`](Self::json), piece by piece: that of a large program has many times the bytes of its profile.
    ///
    /// # Errors
    /// If `out` or the JSON writer fails.
    pub fn write_json(&self, out: &mut dyn Write) -> Result<(), ReportError> {
        json::write(&self.view, &self.extent(usize::MAX, usize::MAX, 0.01), out)
    }

    /// One HTML page that needs nothing else: no network, and no script to be read.
    ///
    /// # Errors
    /// None at present; the signature leaves room.
    pub fn html(&self) -> Result<String, ReportError> {
        let sources = &self.view.sources;
        let extent = self.extent(50, 25, 0.01);
        Ok(self.shown(|view| html::write(view, sources, &extent)))
    }

    /// The name of a method's place on the page, where the page has one: `#NAME` leads there. Methods have their
    /// internal class name, name and descriptor.
    pub fn html_anchor(&self, names: (&str, &str, &str)) -> Option<String> {
        let counted = html::Anchors::of(&self.view)
            .find(&self.view, names)
            .map(str::to_owned);
        let mut left_out = self.view.left_out.iter();
        counted.or_else(|| {
            Some(
                left_out
                    .find(|left| left.names() == names)?
                    .title()
                    .replace(' ', ""),
            )
        })
    }

    /// Control-flow graphs in DOT, one cluster per method, the hottest path marked; and one cluster with the trees of
    /// its k-iteration path forest, if it has one.
    ///
    /// # Errors
    /// None at present; the signature leaves room.
    pub fn dot(&self) -> Result<String, ReportError> {
        let extent = self.extent(1, 5, 0.05);
        Ok(self.shown(|view| dot::write(view, &extent)))
    }

    /// Control-flow graphs as one standalone SVG, the hottest path marked.
    ///
    /// # Errors
    /// None at present; the signature leaves room.
    pub fn svg(&self) -> Result<String, ReportError> {
        Ok(self.shown(|view| svg::standalone(view, limit(self.options.top, 1))))
    }
}

fn view_of<'p>(profile: &'p Profile, options: &ReportOptions) -> Result<View<'p>, ReportError> {
    let pattern = options.method.as_deref().map(MethodPattern::new).transpose()?;
    let sources = Rc::new(source::Sources::new(&options.sources));
    let mut view = View::new(profile, pattern.as_ref(), &sources, options.bytecode);
    view.contexts = ContextsView::new(profile, options.contexts, pattern.as_ref(), options.bytecode)?;
    Ok(view)
}

fn limit(given: usize, default: usize) -> usize {
    if given == 0 { default } else { given }
}
