//! The repository itself: documents, prerequisites; class files by other readers and HotSpot's verifier.

mod documents;
mod prerequisites;
mod readers;
mod sweep_sample;
mod tiers;
