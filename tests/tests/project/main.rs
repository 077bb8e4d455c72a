//! The repository itself: documents, words, prerequisites; class files by other readers and HotSpot's
//! verifier.

mod documents;
mod prerequisites;
mod public;
mod readers;
mod suites;
mod sweep_sample;
mod tiers;
mod words;
