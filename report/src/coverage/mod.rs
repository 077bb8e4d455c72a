//! Coverage in each format: text, JSON, pages, LCOV, XML of JaCoCo, Cobertura and SonarQube; and of a
//! [`change`].

pub mod change;
mod cobertura;
mod criteria;
mod error;
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

pub use cobertura::cobertura;
pub use error::CoverageWriteError;
pub use jacoco::jacoco;
pub use json::{json, write_json};
pub use lcov::lcov;
pub use never::never_ran;
pub use site::{SiteFile, site};
pub use sonar::sonar;
pub use text::text;
