//! The report's page in a file, and the place of a method on it.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use trodden_profile::Profile;
use trodden_report::{Report, ReportOptions, dotted, percent_encoded};

use super::MethodName;
use crate::error::CliError;
use crate::output;

/// Pages of a profile, in a folder that goes with them.
#[derive(Default)]
pub struct Pages {
    folder: OnceCell<TempDir>,
    /// The whole page.
    whole: OnceCell<String>,
}

impl Pages {
    /// The URI of the page at a method; of one of the method alone, where the whole page has no room for it.
    /// Without a method, of the whole page.
    pub fn uri(
        &self,
        profile: &Profile,
        sources: &[PathBuf],
        method: Option<&MethodName>,
    ) -> Result<String, CliError> {
        let options = ReportOptions {
            sources: sources.to_vec(),
            ..ReportOptions::default()
        };
        let report = Report::new(profile, &options).map_err(CliError::failed)?;
        let html = match self.whole.get() {
            Some(html) => html,
            None => {
                let html = report.html().map_err(CliError::failed)?;
                self.whole.get_or_init(|| html)
            }
        };
        let Some(method) = method else {
            return Ok(uri(&self.write("page.html", html)?, None));
        };
        let names = (&*method.class, &*method.name, &*method.descriptor);
        let anchor = report.html_anchor(names);
        if let Some(anchor) = anchor.as_deref().filter(|anchor| has_place(html, anchor)) {
            return Ok(uri(&self.write("page.html", html)?, Some(anchor)));
        }
        let options = ReportOptions {
            method: Some(format!("{}#{}", dotted(&method.class), method.name)),
            ..options
        };
        let report = Report::new(profile, &options).map_err(CliError::failed)?;
        let html = report.html().map_err(CliError::failed)?;
        let anchor = report.html_anchor(names);
        Ok(uri(&self.write("method.html", &html)?, anchor.as_deref()))
    }

    fn write(&self, name: &str, html: &str) -> Result<PathBuf, CliError> {
        let folder = match self.folder.get() {
            Some(folder) => folder,
            None => {
                let made = tempfile::Builder::new().prefix("trodden-page-").tempdir();
                let made = made.map_err(|e| CliError::Failed(format!("no folder for the page: {e}")))?;
                self.folder.get_or_init(|| made)
            }
        };
        let path = folder.path().join(name);
        output::write_file(&path, html.as_bytes())?;
        Ok(path)
    }
}

/// True if a page has a place of this name.
fn has_place(html: &str, anchor: &str) -> bool {
    let escaped = anchor
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;");
    html.contains(&format!("id=\"{escaped}\""))
}

fn uri(page: &Path, anchor: Option<&str>) -> String {
    let fragment = anchor.map_or_else(String::new, |anchor| format!("#{}", percent_encoded(anchor)));
    format!("file://{}{fragment}", percent_encoded(&page.to_string_lossy()))
}
