//! From a profile to bytes in a format: where the command line meets `trodden-report`.

use std::io;
use std::path::Path;

use clap::ValueEnum;
use trodden_profile::Profile;
use trodden_profile::options::FileFormat;
use trodden_report::{Report, ReportError, ReportOptions};

use crate::coverage::CoverageFormat;
use crate::error::CliError;
use crate::output;
use crate::sources;

/// Formats of `trodden report`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For the terminal.
    Text,
    /// For programs; documented in docs.
    Json,
    /// One self-contained page.
    Html,
    /// Flow graphs, for Graphviz.
    Dot,
    /// Flow graphs as a picture.
    Svg,
    /// Path coverage, for the terminal.
    Coverage,
    /// Path coverage, for programs.
    CoverageJson,
    /// Coverage of lines and branches, for genhtml and many others; the paths in a file next to it.
    Lcov,
    /// Coverage of lines and branches as JaCoCo's XML; the paths in a file next to it.
    Jacoco,
    /// Calling contexts, or paths, as collapsed stacks, for flame graph viewers.
    Collapsed,
    /// The same stacks for speedscope.
    Speedscope,
    /// The same stacks for pprof (go tool pprof, Pyroscope, Grafana), gzipped.
    Pprof,
    /// The same stacks for OpenTelemetry (OTLP's profiles, version 1.10.0, not stable), a protocol buffer.
    Otlp,
    /// The same message as JSON.
    OtlpJson,
    /// The same stacks for Firefox Profiler.
    Firefox,
    /// Lines with time and executions, calls, and both outcomes of branches, for KCachegrind.
    Callgrind,
    /// CPU samples as a file of Java Flight Recorder, for JMC, IntelliJ and the JDK's jfr.
    Jfr,
    /// The findings at their lines, for code hosts and editors (SARIF 2.1.0).
    Sarif,
}

impl Format {
    /// The format of coverage, if it is one.
    pub fn coverage(self) -> Option<CoverageFormat> {
        match self {
            Format::Coverage => Some(CoverageFormat::Text),
            Format::CoverageJson => Some(CoverageFormat::Json),
            Format::Lcov => Some(CoverageFormat::Lcov),
            Format::Jacoco => Some(CoverageFormat::Jacoco),
            Format::Text | Format::Json | Format::Html | Format::Dot | Format::Svg => None,
            Format::Collapsed | Format::Speedscope | Format::Pprof | Format::Firefox => None,
            Format::Otlp | Format::OtlpJson | Format::Callgrind | Format::Jfr | Format::Sarif => None,
        }
    }

    /// The report format of a file name's extension; `None` if it asks for the profile itself.
    pub fn of_file(format: FileFormat) -> Option<Self> {
        match format {
            FileFormat::Trodden | FileFormat::Trace => None,
            FileFormat::Json => Some(Format::Json),
            FileFormat::Html => Some(Format::Html),
            FileFormat::Text => Some(Format::Text),
            FileFormat::Dot => Some(Format::Dot),
            FileFormat::Svg => Some(Format::Svg),
            FileFormat::Collapsed => Some(Format::Collapsed),
            FileFormat::Speedscope => Some(Format::Speedscope),
            FileFormat::Pprof => Some(Format::Pprof),
            FileFormat::Otlp => Some(Format::Otlp),
            FileFormat::OtlpJson => Some(Format::OtlpJson),
            FileFormat::Firefox => Some(Format::Firefox),
            FileFormat::Callgrind => Some(Format::Callgrind),
            FileFormat::Jfr => Some(Format::Jfr),
            FileFormat::Sarif => Some(Format::Sarif),
        }
    }
}

/// Writes a rendering to a file, or to standard output if there is none.
pub fn write(
    profile: &Profile,
    format: Format,
    options: &ReportOptions,
    path: Option<&Path>,
) -> Result<(), CliError> {
    if format != Format::Json {
        let colour = path.is_none() && output::colour(&io::stdout());
        return output::write(path, &render(profile, format, options, colour)?);
    }
    let report = Report::new(profile, options).map_err(CliError::failed)?;
    output::write_with(path, |out| {
        report.write_json(out).map_err(|e| match e {
            ReportError::Write(e) => e,
            e => io::Error::other(e),
        })
    })
}

/// Shows a report as text, at once: on the terminal, if standard output is one.
pub fn show(profile: &Profile, options: ReportOptions) -> Result<(), CliError> {
    let width = output::width();
    let options = ReportOptions { width, ..options };
    let text = render(profile, Format::Text, &options, output::colour(&io::stdout()))?;
    output::write(None, &text)
}

/// Renders; `colour` is for text.
pub fn render(
    profile: &Profile,
    format: Format,
    options: &ReportOptions,
    colour: bool,
) -> Result<Vec<u8>, CliError> {
    let report = Report::new(profile, options).map_err(CliError::failed)?;
    let text = match format {
        Format::Json => report.json(),
        Format::Html => report.html(),
        Format::Dot => report.dot(),
        Format::Svg => report.svg(),
        Format::Text | Format::Coverage | Format::CoverageJson | Format::Lcov | Format::Jacoco => {
            Ok(report.text(colour))
        }
        Format::Collapsed => report.collapsed(),
        Format::Speedscope => report.speedscope(),
        Format::Firefox => report.firefox(),
        Format::Callgrind => report.callgrind(),
        Format::Sarif => report.sarif(&sources::repository()),
        Format::OtlpJson => report.otlp_json(),
        Format::Otlp => return report.otlp().map_err(CliError::failed),
        Format::Jfr => return report.jfr().map_err(CliError::failed),
        Format::Pprof => return report.pprof().map_err(CliError::failed),
    };
    text.map(String::into_bytes).map_err(CliError::failed)
}
