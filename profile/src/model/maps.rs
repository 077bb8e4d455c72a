//! A file of path maps that is written class by class, for more classes than anybody wants to keep in memory.

use std::sync::Arc;

use super::codec::{CLASSES, validate, write};
use super::conditions::codec::{CONDITIONS, RANGES, put_method, put_ranges};
use super::conditions::{self, MethodConditions};
use super::counts::MethodCounts;
use super::map::ClassMap;
use super::profile::{ClassProfile, RunInfo, Skipped};
use super::section::Records;
use super::{inlining, shapes};
use crate::WriteError;

/// Path maps without counts, with what decisions mean, on their way into a `.trodden` file. What was added is kept packed.
///
/// The classes are in the file in the order in which they were added.
#[derive(Debug)]
pub struct MapsWriter {
    number: usize,
    classes: Records,
    shapes: Records,
    inlined: Records,
    conditions: Records,
    ranges: Records,
}

impl Default for MapsWriter {
    fn default() -> Self {
        MapsWriter {
            number: 0,
            classes: Records::new(CLASSES),
            shapes: Records::new(shapes::codec::SHAPES),
            inlined: Records::new(inlining::INLINED),
            conditions: Records::new(CONDITIONS),
            ranges: Records::new(RANGES),
        }
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
        validate::class(&class)?;
        shapes::section::check_class(&class)?;
        inlining::section::check_class(&class)?;
        write::class(&mut self.classes.plain, &class);
        self.classes.end()?;
        shapes::codec::put_class(&mut self.shapes.plain, self.number, &class);
        self.shapes.end()?;
        inlining::put_class(&mut self.inlined.plain, self.number, &class);
        self.inlined.end()?;
        for (method, of) in conditions.iter().enumerate() {
            if *of != MethodConditions::default() {
                conditions::check_conditions(map, method as u32, of)?;
                let place = (self.number as u32, method as u32);
                put_method(&mut self.conditions.plain, place, of);
                self.conditions.end()?;
                put_ranges(&mut self.ranges.plain, place, of);
                self.ranges.end()?;
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
        let mut bytes = write::begin(run)?;
        let records = [
            self.classes,
            self.shapes,
            self.inlined,
            self.conditions,
            self.ranges,
        ];
        for records in records {
            records.append_to(&mut bytes)?;
        }
        write::end(bytes, self.number, skipped)
    }
}
