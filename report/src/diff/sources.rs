//! Source of the second build.

use std::path::PathBuf;

use trodden_insight::source::Sources;

/// Where the source of the second build is looked for.
pub struct DiffSources(pub(super) Sources);

impl DiffSources {
    /// Folders with source files, as in [`ReportOptions::sources`](crate::ReportOptions::sources).
    pub fn new(folders: &[PathBuf]) -> Self {
        DiffSources(Sources::new(folders))
    }
}
