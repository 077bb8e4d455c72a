//! A file of path maps that is written class by class, for more classes than anybody wants to keep in memory.

use std::sync::Arc;

use super::codec::wire::Encoder;
use super::codec::{CLASSES, END, FORMAT_VERSION, MAGIC, RUN, SECTION_TARGET, SKIPPED, Tag, validate, write};
use super::conditions::codec::{CONDITIONS, RANGES, put_method, put_ranges};
use super::conditions::{self, MethodConditions};
use super::counts::MethodCounts;
use super::map::ClassMap;
use super::profile::{ClassProfile, RunInfo, Skipped};
use super::section::Sections;
use super::{inlining, shapes};
use crate::WriteError;

/// Path maps without counts, with what decisions mean, on their way into a `.trodden` file. What was added is kept packed.
///
/// The classes stand in the file in the order in which they were added.
#[derive(Debug, Default)]
pub struct MapsWriter {
    number: usize,
    classes: Stream,
    shapes: Stream,
    inlined: Stream,
    conditions: Stream,
    ranges: Stream,
}

/// Sections of one tag.
#[derive(Debug, Default)]
struct Stream {
    /// Those that are complete.
    packed: Vec<u8>,
    /// The records of the next.
    plain: Encoder,
}

impl Stream {
    /// Ends a record, and the section if it has grown large enough.
    fn end(&mut self, tag: Tag) -> Result<(), WriteError> {
        if self.plain.bytes.len() >= SECTION_TARGET {
            self.flush(tag)
        } else {
            Ok(())
        }
    }

    fn flush(&mut self, tag: Tag) -> Result<(), WriteError> {
        if !self.plain.bytes.is_empty() {
            Sections::new(&mut self.packed).put(tag, &self.plain.bytes)?;
            self.plain.bytes.clear();
        }
        Ok(())
    }

    fn finish(mut self, tag: Tag) -> Result<Vec<u8>, WriteError> {
        self.flush(tag)?;
        Ok(self.packed)
    }
}

impl MapsWriter {
    /// Adds a class, and what is known of the decisions of its methods, in their order (as many as are known, so
    /// none at all will do). The same class must not be added again.
    ///
    /// # Errors
    /// If the map or a condition breaks a rule of the data model, as
    /// [`Profile::to_bytes`](crate::Profile::to_bytes).
    pub fn add(&mut self, map: &Arc<ClassMap>, conditions: &[MethodConditions]) -> Result<(), WriteError> {
        let class = ClassProfile {
            map: Arc::clone(map),
            counts: vec![MethodCounts::default(); map.methods.len()],
        };
        validate::class(&class).map_err(WriteError::Invalid)?;
        shapes::section::check_class(&class).map_err(WriteError::Invalid)?;
        inlining::section::check_class(&class).map_err(WriteError::Invalid)?;
        write::class(&mut self.classes.plain, &class);
        self.classes.end(CLASSES)?;
        shapes::codec::put_class(&mut self.shapes.plain, self.number, &class);
        self.shapes.end(shapes::codec::SHAPES)?;
        inlining::put_class(&mut self.inlined.plain, self.number, &class);
        self.inlined.end(inlining::INLINED)?;
        for (method, of) in conditions.iter().enumerate() {
            if *of != MethodConditions::default() {
                conditions::check_method(map, method, of).map_err(WriteError::Invalid)?;
                let place = (self.number as u32, method as u32);
                put_method(&mut self.conditions.plain, place, of);
                self.conditions.end(CONDITIONS)?;
                put_ranges(&mut self.ranges.plain, place, of);
                self.ranges.end(RANGES)?;
            }
        }
        self.number += 1;
        Ok(())
    }

    /// The file, with what was left alone (sorted).
    ///
    /// # Errors
    /// If something is too large for a file.
    pub fn finish(self, run: &RunInfo, skipped: &[Skipped]) -> Result<Vec<u8>, WriteError> {
        validate::run(run).map_err(WriteError::Invalid)?;
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&FORMAT_VERSION.to_le_bytes());
        let mut plain = Encoder::default();
        write::run(&mut plain, run);
        Sections::new(&mut bytes).put(RUN, &plain.bytes)?;
        bytes.extend_from_slice(&self.classes.finish(CLASSES)?);
        bytes.extend_from_slice(&self.shapes.finish(shapes::codec::SHAPES)?);
        bytes.extend_from_slice(&self.inlined.finish(inlining::INLINED)?);
        bytes.extend_from_slice(&self.conditions.finish(CONDITIONS)?);
        bytes.extend_from_slice(&self.ranges.finish(RANGES)?);
        let mut entries = Stream::default();
        for entry in skipped {
            write::skipped(&mut entries.plain, entry);
            entries.end(SKIPPED)?;
        }
        bytes.extend_from_slice(&entries.finish(SKIPPED)?);
        let mut plain = Encoder::default();
        plain.len(self.number);
        plain.len(skipped.len());
        Sections::new(&mut bytes).put(END, &plain.bytes)?;
        Ok(bytes)
    }
}
