//! Coverage in each format.

use std::io;

use super::{Coverage, CoverageError, SiteFile, cobertura, jacoco, json, lcov, site, sonar, text};

impl Coverage {
    /// For a terminal: the sums, and of the `top` methods that lack most paths the nearest uncovered one.
    pub fn text(&self, top: usize, color: bool) -> String {
        text::write(&self.printable(), top, color)
    }

    /// JSON, format `trodden-coverage` version 1.
    ///
    /// # Errors
    /// If the JSON writer fails.
    pub fn json(&self) -> Result<String, CoverageError> {
        json::write(self)
    }

    /// LCOV's tracefile, as `genhtml` reads it.
    pub fn lcov(&self) -> String {
        lcov::write(&self.printable())
    }

    /// JaCoCo's XML report, as of its DTD 1.1.
    ///
    /// # Errors
    /// If instructions are not known, or not those of the loaded classes.
    pub fn jacoco(&self) -> Result<String, CoverageError> {
        jacoco::write(&self.printable())
    }

    /// Cobertura's XML report, as of its DTD `coverage-04`.
    pub fn cobertura(&self) -> String {
        cobertura::write(&self.printable())
    }

    /// SonarQube's generic format, version 1.
    pub fn sonar(&self) -> String {
        sonar::write(&self.printable())
    }

    /// HTML pages, files of one folder: packages, their classes, their sources, with what is worst first. `put` gets one after
    /// the other: a large program has more of them than fit into memory.
    ///
    /// # Errors
    /// If `put` fails.
    pub fn site(&self, put: &mut dyn FnMut(SiteFile) -> io::Result<()>) -> io::Result<()> {
        site::write(&self.printable(), put)
    }
}
