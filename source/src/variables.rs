//! Names and types of local variables: the debug table, else parameters by position.

use trodden_classfile::class::{Class, Method};
use trodden_classfile::code::Code;

use crate::expression::{Name, Type, UNKNOWN, first, parameters};

const ACC_STATIC: u16 = 0x0008;

/// The local variables of a method, as far as they are known.
#[derive(Debug, Default)]
pub struct Variables<'a> {
    entries: Vec<Entry<'a>>,
    /// Without a debug table: per slot its parameter and that one's type.
    parameters: Vec<Option<(u16, Type)>>,
    /// Slot 0 is `this`.
    instance: bool,
}

#[derive(Clone, Copy, Debug)]
struct Entry<'a> {
    start: u32,
    end: u32,
    slot: u16,
    name: &'a [u8],
    descriptor: &'a [u8],
}

impl<'a> Variables<'a> {
    /// Reads the debug table of a method; a damaged one counts as none.
    pub fn read(class: &Class<'a>, method: &Method<'a>, code: &Code<'a>) -> Self {
        let mut entries = Vec::new();
        let mut has_table = false;
        for table in code
            .attributes(&class.pool)
            .filter(|a| a.name == b"LocalVariableTable")
        {
            has_table = true;
            let mut reader = table.reader();
            for _ in 0..reader.u2().unwrap_or(0) {
                let mut fields = [0u16; 5];
                if !fields
                    .iter_mut()
                    .all(|f| reader.u2().map(|value| *f = value).is_ok())
                {
                    break;
                }
                let [start, length, name, descriptor, slot] = fields;
                if let (Some(name), Some(descriptor)) = (class.pool.utf8(name), class.pool.utf8(descriptor)) {
                    entries.push(Entry {
                        start: u32::from(start),
                        end: u32::from(start) + u32::from(length),
                        slot,
                        name,
                        descriptor,
                    });
                }
            }
        }
        let instance = method.access & ACC_STATIC == 0;
        let mut by_slot = Vec::new();
        if !has_table {
            if instance {
                by_slot.push(None);
            }
            for (number, ty) in parameters(method.descriptor).enumerate() {
                by_slot.push(Some((number as u16, ty)));
                if matches!(ty, b'J' | b'D') {
                    by_slot.push(None);
                }
            }
        }
        Variables {
            entries,
            parameters: by_slot,
            instance,
        }
    }

    /// Returns true if the method has a debug table. Then variables without a name were made by the compiler.
    pub fn named(&self) -> bool {
        !self.entries.is_empty()
    }

    /// Returns true for `this`.
    pub fn is_this(&self, slot: u16) -> bool {
        self.instance && slot == 0 && self.at(0, 0).is_none_or(|(name, _)| name == Name::Known(b"this"))
    }

    /// Name and type of the variable in a slot at a bytecode index; nothing if it has no name.
    pub fn at(&self, slot: u16, pc: u32) -> Option<(Name<'a>, Type)> {
        let holds = |e: &&Entry| e.slot == slot && (e.start..e.end).contains(&pc);
        if let Some(entry) = self.entries.iter().find(holds) {
            return Some((Name::Known(entry.name), first(entry.descriptor)));
        }
        let (number, ty) = (*self.parameters.get(usize::from(slot))?)?;
        Some((Name::Parameter(number), ty))
    }

    /// The descriptor of the variable in a slot at a bytecode index, if the debug table has it.
    pub fn descriptor(&self, slot: u16, pc: u32) -> Option<&'a [u8]> {
        let holds = |e: &&Entry| e.slot == slot && (e.start..e.end).contains(&pc);
        self.entries.iter().find(holds).map(|e| e.descriptor)
    }

    /// A parameter without a name that is written to: its slot may hold another variable by now.
    pub fn written(&mut self, slot: u16) {
        if let Some(parameter) = self.parameters.get_mut(usize::from(slot)) {
            *parameter = None;
        }
    }

    /// Returns true if there is a local variable of that name in the method.
    pub fn has_name(&self, name: &[u8]) -> bool {
        self.entries.iter().any(|e| e.name == name)
    }

    /// The type to assume of a slot without name.
    pub fn unknown(op_type: Type) -> Type {
        match op_type {
            b'I' => UNKNOWN,
            other => other,
        }
    }
}
