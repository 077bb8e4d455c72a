//! Coverage in real JVMs against JaCoCo and GCC, its formats, and the tests that a change concerns.

mod change;
mod compiler_made;
mod criteria;
mod formats;
mod jacoco;
mod live;
mod reach;
mod since;
