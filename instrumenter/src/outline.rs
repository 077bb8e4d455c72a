//! The methods of a class file, without probes or paths: for callers that count instructions.

use crate::classfile::class::Class;
use crate::classfile::code::Code;
use crate::classfile::decode;
use crate::classfile::reader::Fault;
use crate::error::ClassError;

/// Flag of what the compiler made (JVMS table 4.6-A).
const ACC_SYNTHETIC: u16 = 0x1000;

/// A method that has code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MethodOutline {
    /// Its name.
    pub name: String,
    /// Its descriptor.
    pub descriptor: String,
    /// Made by the compiler, with no counterpart in the source: bridges, accessors; lambdas' bodies too.
    pub synthetic: bool,
    /// Bytecode indices of its instructions, ascending.
    pub instructions: Vec<u32>,
}

/// The methods with code of the class in these bytes, in class-file order.
///
/// # Errors
/// If the bytes are not a well-formed class file; the error states class, method and offset.
pub fn outline(bytes: &[u8]) -> Result<Vec<MethodOutline>, ClassError> {
    let class = Class::read(bytes).map_err(|fault| ClassError::new(None, None, fault))?;
    let mut marks = Default::default();
    let mut methods = Vec::new();
    for method in &class.methods {
        let Some(attribute) = &method.code else { continue };
        let (name, descriptor) = (decode(method.name), decode(method.descriptor));
        let wrong = |fault: Fault| {
            let class = decode(class.name);
            ClassError::new(Some(&class), Some(format!("{name}{descriptor}")), fault)
        };
        let code = Code::read(attribute, &class.pool, &mut marks).map_err(wrong)?;
        methods.push(MethodOutline {
            instructions: code.instructions(0, code.len()).map(|(bci, _)| bci).collect(),
            synthetic: method.access & ACC_SYNTHETIC != 0,
            name: name.into_owned(),
            descriptor: descriptor.into_owned(),
        });
    }
    Ok(methods)
}
