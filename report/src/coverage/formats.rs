//! Coverage in each format.

use std::io;

use trodden_insight::coverage::Coverage;

use super::{SiteFile, cobertura, jacoco, json, lcov, never, site, sonar, text};

/// Why a format of coverage cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum CoverageWriteError {
    /// JaCoCo's XML without class files.
    #[error(
        "JaCoCo's XML counts instructions, which only the class files have: name them by --classes FOLDER|JAR"
    )]
    NoInstructions,
    /// JaCoCo's XML of classes that were changed before they were loaded.
    #[error(
        "{class} and {others} more classes were loaded with other bytes than --classes has (JaCoCo's own agent changes \
         classes, and so does a build after the run): JaCoCo's XML cannot be made of them; LCOV can"
    )]
    OtherBytes {
        /// One of them.
        class: String,
        /// How many others.
        others: usize,
    },
    /// The JSON writer failed.
    #[error("cannot write the coverage as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

/// The formats of [`Coverage`].
pub trait CoverageFormats {
    /// For a terminal: the sums, and of the `top` methods that lack most paths the nearest uncovered one.
    fn text(&self, top: usize, color: bool) -> String;

    /// JSON, format `trodden-coverage` version 1.
    ///
    /// # Errors
    /// If the JSON writer fails.
    fn json(&self) -> Result<String, CoverageWriteError>;

    /// LCOV's tracefile, as `genhtml` reads it.
    fn lcov(&self) -> String;

    /// JaCoCo's XML report, as of its DTD 1.1.
    ///
    /// # Errors
    /// If instructions are not known, or not those of the loaded classes.
    fn jacoco(&self) -> Result<String, CoverageWriteError>;

    /// Cobertura's XML report, as of its DTD `coverage-04`.
    fn cobertura(&self) -> String;

    /// SonarQube's generic format, version 1.
    fn sonar(&self) -> String;

    /// HTML pages, files of one folder: packages, their classes, their sources, with what is worst first. `put` gets one after
    /// the other: a large program has more of them than fit into memory.
    ///
    /// # Errors
    /// If `put` fails.
    fn site(&self, put: &mut dyn FnMut(SiteFile) -> io::Result<()>) -> io::Result<()>;

    /// For a terminal: at most `top` classes of which methods never ran, those with most such lines first.
    fn never_ran(&self, top: usize, color: bool) -> String;
}

impl CoverageFormats for Coverage {
    fn text(&self, top: usize, color: bool) -> String {
        text::write(&self.printable(), top, color)
    }

    fn json(&self) -> Result<String, CoverageWriteError> {
        json::write(self)
    }

    fn lcov(&self) -> String {
        lcov::write(&self.printable())
    }

    fn jacoco(&self) -> Result<String, CoverageWriteError> {
        jacoco::write(&self.printable())
    }

    fn cobertura(&self) -> String {
        cobertura::write(&self.printable())
    }

    fn sonar(&self) -> String {
        sonar::write(&self.printable())
    }

    fn site(&self, put: &mut dyn FnMut(SiteFile) -> io::Result<()>) -> io::Result<()> {
        site::write(&self.printable(), put)
    }

    fn never_ran(&self, top: usize, color: bool) -> String {
        never::text(&self.printable(), top, color)
    }
}
