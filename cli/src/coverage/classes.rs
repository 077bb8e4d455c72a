//! The program's classes, as their files have them.

use std::path::PathBuf;
use std::sync::Arc;

use rayon::prelude::*;
use trodden_insight::coverage::{KnownClass, KnownMethod};
use trodden_instrumenter::{InstrumentOptions, Instrumenter, Preparation, ProbeKind, SkipReason, outline};
use trodden_profile::ClassMap;
use trodden_source::{LabelTables, recover};

use crate::error::CliError;
use crate::instrument;

/// Reads the classes in folders, jars and class files.
pub fn read(paths: &[PathBuf]) -> Result<Vec<KnownClass>, CliError> {
    let mut known = Vec::new();
    let options = InstrumentOptions {
        single_path_methods: true,
        ..InstrumentOptions::new(ProbeKind::Counters)
    };
    let instrumenter = Instrumenter::new(options);
    for path in paths {
        let classes = instrument::classes(path)?;
        let mut tables = LabelTables::default();
        for class in &classes {
            tables.keep(&class.name, &class.bytes);
        }
        let read: Result<Vec<KnownClass>, String> = classes
            .par_iter()
            .map(|class| one(&instrumenter, class, &tables).map_err(|e| format!("{}: {e}", class.label)))
            .collect();
        known.extend(read.map_err(CliError::Failed)?);
    }
    Ok(known)
}

fn one(
    instrumenter: &Instrumenter,
    class: &instrument::ClassFile,
    tables: &LabelTables,
) -> Result<KnownClass, String> {
    let methods = outline(&class.bytes).map_err(|e| e.to_string())?;
    let preparation = instrumenter.prepare(&class.bytes).map_err(|e| e.to_string())?;
    let map = match preparation {
        Preparation::Ready(prepared) => prepared.map().clone(),
        Preparation::Unchanged { skipped } => {
            let already = SkipReason::AlreadyInstrumented.text();
            if skipped.iter().any(|s| s.reason == already) {
                return Err(format!("is {already}; --classes wants the original"));
            }
            Arc::new(ClassMap {
                name: class.name.clone(),
                sha256: instrument::sha256(&class.bytes),
                source_file: None,
                methods: Vec::new(),
            })
        }
    };
    // Without them, what the compiler made is counted as the programmer's: no reason to fail.
    let conditions = recover(&class.bytes, &map, tables, |_| true).unwrap_or_default();
    let methods = methods.into_iter().map(|m| KnownMethod {
        name: m.name,
        descriptor: m.descriptor,
        synthetic: m.synthetic,
        instructions: m.instructions,
    });
    Ok(KnownClass {
        map,
        methods: methods.collect(),
        conditions,
        release: class.release,
    })
}
