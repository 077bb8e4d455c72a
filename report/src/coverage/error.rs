//! Why coverage cannot be written in a format.

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
