//! Reading the oracle's log (`oracle/OracleLog.java`).

use std::collections::BTreeMap;

use trodden_profile::{ClassMap, MethodMap};

use crate::Result;

/// A method that the oracle watched.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MethodId {
    /// Internal name of the class.
    pub class: String,
    /// Name.
    pub name: String,
    /// Descriptor.
    pub descriptor: String,
}

impl MethodId {
    /// A method of a path map.
    pub fn new(class: &ClassMap, method: &MethodMap) -> Self {
        MethodId {
            class: class.name.clone(),
            name: method.name.clone(),
            descriptor: method.descriptor.clone(),
        }
    }
}

/// Something that an activation did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The branch at `bci` jumped or did not.
    Branch {
        /// Bytecode index.
        bci: u32,
        /// True if it jumped.
        taken: bool,
    },
    /// The switch at `bci` went to `target`.
    Select {
        /// Bytecode index of the switch.
        bci: u32,
        /// Bytecode index it went to.
        target: u32,
    },
    /// The goto at `bci` runs.
    Goto(u32),
    /// Runs on into the instruction at this index.
    Fall(u32),
    /// The return or athrow at this index runs.
    Leave(u32),
    /// The handler at this index starts.
    Handler(u32),
}

/// One activation of a method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Activation {
    /// The method.
    pub method: MethodId,
    /// Its events, in order.
    pub events: Vec<Event>,
}

/// All activations of a log, in the order of their entries.
///
/// # Errors
/// If the log is damaged.
pub fn read(bytes: &[u8]) -> Result<Vec<Activation>> {
    let mut input = Input { bytes };
    let mut methods: BTreeMap<u32, MethodId> = BTreeMap::new();
    let mut entered: BTreeMap<u32, (u32, Vec<Event>)> = BTreeMap::new();
    while !input.bytes.is_empty() {
        let kind = input.take(1)?[0];
        if kind == 0 {
            continue; // what was left of a chunk
        }
        if kind == b'M' {
            let id = input.int()?;
            let method = MethodId {
                class: input.string()?,
                name: input.string()?,
                descriptor: input.string()?,
            };
            methods.insert(id, method);
            continue;
        }
        let (activation, a, b) = (input.int()?, input.int()?, input.int()?);
        if kind == b'E' {
            entered.insert(activation, (a, Vec::new()));
            continue;
        }
        let event = match kind {
            b'B' => Event::Branch {
                bci: a,
                taken: b == 1,
            },
            b'S' => Event::Select { bci: a, target: b },
            b'G' => Event::Goto(a),
            b'F' => Event::Fall(a),
            b'X' => Event::Leave(a),
            b'H' => Event::Handler(a),
            _ => return Err(format!("oracle log: record kind {kind}").into()),
        };
        let known = entered.get_mut(&activation);
        known
            .ok_or_else(|| format!("activation {activation} was never entered"))?
            .1
            .push(event);
    }
    let resolve = |(method, events): (u32, Vec<Event>)| {
        let method = methods
            .get(&method)
            .ok_or_else(|| format!("unknown method {method}"))?;
        Ok(Activation {
            method: method.clone(),
            events,
        })
    };
    entered.into_values().map(resolve).collect()
}

struct Input<'a> {
    bytes: &'a [u8],
}

impl<'a> Input<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8]> {
        let (head, tail) = self
            .bytes
            .split_at_checked(length)
            .ok_or("oracle log: truncated")?;
        self.bytes = tail;
        Ok(head)
    }

    fn int(&mut self) -> Result<u32> {
        let mut four = [0; 4];
        four.copy_from_slice(self.take(4)?);
        Ok(u32::from_be_bytes(four))
    }

    fn string(&mut self) -> Result<String> {
        let mut two = [0; 2];
        two.copy_from_slice(self.take(2)?);
        // Modified UTF-8 differs from UTF-8 only in names that no target has.
        Ok(String::from_utf8(
            self.take(usize::from(u16::from_be_bytes(two)))?.to_vec(),
        )?)
    }
}
