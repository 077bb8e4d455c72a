//! Prints the decisions of the branches of class files: `conditions FILE.class…`, one line per branch.

use std::borrow::Cow;
use std::collections::HashMap;

use trodden_instrumenter::{InstrumentOptions, Instrumenter, Preparation, ProbeKind, class_name};
use trodden_source::{Classes, recover};

struct Given(HashMap<String, Vec<u8>>);

impl Classes for Given {
    fn class(&self, name: &str) -> Option<Cow<'_, [u8]>> {
        self.0.get(name).map(|bytes| bytes.as_slice().into())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut given = Given(HashMap::new());
    for file in std::env::args().skip(1) {
        let bytes = std::fs::read(&file)?;
        given.0.insert(class_name(&bytes)?, bytes);
    }
    let instrumenter = Instrumenter::new(InstrumentOptions::new(ProbeKind::Counters));
    for (name, bytes) in &given.0 {
        let Preparation::Ready(prepared) = instrumenter.prepare(bytes)? else {
            continue;
        };
        let map = prepared.map();
        let all = recover(bytes, map, &given, |_| true).map_err(|fault| fault.message)?;
        for (method, conditions) in map.methods.iter().zip(&all) {
            for condition in &conditions.conditions {
                let line = method
                    .line(method.blocks[condition.block as usize].last)
                    .unwrap_or(0);
                let outcomes: Vec<&str> = condition
                    .outcomes
                    .iter()
                    .map(|o| o.text().unwrap_or("?"))
                    .collect();
                let made = conditions.made(condition.block).or(condition.made);
                println!(
                    "{name}.{} line {line}: {:?} {} -> {}{}",
                    method.name,
                    condition.kind,
                    condition.text.as_deref().unwrap_or("?"),
                    outcomes.join(" / "),
                    made.map_or(String::new(), |made| format!(" [{}]", made.name())),
                );
            }
        }
    }
    Ok(())
}
