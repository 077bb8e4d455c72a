//! Coverage in each format: text, JSON, pages, LCOV, XML of JaCoCo, Cobertura and SonarQube.

mod cobertura;
mod criteria;
mod formats;
mod jacoco;
mod json;
mod lcov;
mod marks;
mod never;
pub(crate) mod section;
mod site;
mod sonar;
mod text;
mod xml;

pub use formats::{CoverageFormats, CoverageWriteError};
pub use site::SiteFile;
