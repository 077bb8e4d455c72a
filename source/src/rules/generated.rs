//! Methods without a counterpart in the source: of records and enums, bridges, lambdas made again.

use trodden_classfile::attributes::annotation_types;
use trodden_classfile::class::Attribute;
use trodden_classfile::opcodes as op;
use trodden_classfile::reader::get_u2;
use trodden_profile::CompilerMade;

use super::Findings;
use crate::decide::Known;

const ACC_BRIDGE: u16 = 0x0040;
const ACC_SYNTHETIC: u16 = 0x1000;
const ACC_ENUM: u16 = 0x4000;

/// `values` and `valueOf` of an enum; `toString`, `hashCode` and `equals` of a record that are linked at run time.
pub fn methods(known: &Known, findings: &mut Findings) {
    let name = known.method.name;
    let of_enum = known.class.access() & ACC_ENUM != 0
        && match name {
            b"values" | b"$values" => known.method.descriptor.starts_with(b"()["),
            b"valueOf" => known.method.descriptor.starts_with(b"(Ljava/lang/String;)"),
            _ => false,
        };
    let of_record = known.class.superclass() == Some(b"java/lang/Record")
        && matches!(name, b"toString" | b"hashCode" | b"equals")
        && known.links_to(b"java/lang/runtime/ObjectMethods");
    if of_enum || of_record || is_accessor(known) {
        findings.method();
    }
}

/// Does it return the record's component of its name, and nothing else?
fn is_accessor(known: &Known) -> bool {
    if known.class.superclass() != Some(b"java/lang/Record") || !known.method.descriptor.starts_with(b"()") {
        return false;
    }
    let instructions: Vec<(u32, u8)> = known.code.instructions(0, known.code.len()).collect();
    let &[(_, op::ALOAD_0), (at, op::GETFIELD), (_, op::IRETURN..op::RETURN)] = &instructions[..] else {
        return false;
    };
    let member = known.class.pool.member(get_u2(known.code.bytes, at as usize + 1));
    member.is_some_and(|member| member.name == known.method.name)
}

/// Constructors without parameters that only call the superclass's: private ones, and those of enums, whose two parameters
/// are the compiler's.
pub fn empty_constructors(known: &Known, findings: &mut Findings) {
    const ACC_PRIVATE: u16 = 0x0002;
    let of_enum = known.class.access() & ACC_ENUM != 0;
    let descriptor = known.method.descriptor;
    let nothing = match of_enum {
        true => descriptor == b"(Ljava/lang/String;I)V",
        false => descriptor == b"()V" && known.method.access & ACC_PRIVATE != 0,
    };
    let opcodes = || {
        let instructions = known.code.instructions(0, known.code.len());
        instructions.map(|(_, opcode)| opcode)
    };
    let empty: &[u8] = match of_enum {
        true => &[
            op::ALOAD_0,
            op::ALOAD_0 + 1,
            op::ILOAD_0 + 2,
            op::INVOKESPECIAL,
            op::RETURN,
        ],
        false => &[op::ALOAD_0, op::INVOKESPECIAL, op::RETURN],
    };
    if known.method.name == b"<init>" && nothing && opcodes().eq(empty.iter().copied()) {
        findings.method();
    }
}

/// Methods and classes whose annotations say so; as JaCoCo, whatever the annotation's package is. Those that only the
/// source has are not in the class file.
pub fn marked(known: &Known, findings: &mut Findings) {
    let pool = &known.class.pool;
    let of_method = known.method.attributes(pool);
    if of_method
        .chain(known.class.attributes())
        .any(|a| says_generated(known, &a))
    {
        findings.method();
    }
}

/// Does an attribute of annotations have one whose simple name contains `Generated`?
fn says_generated(known: &Known, attribute: &Attribute) -> bool {
    let wanted = [&b"RuntimeVisibleAnnotations"[..], b"RuntimeInvisibleAnnotations"];
    let is_generated = |name: &&[u8]| {
        let simple = name
            .rsplit(|&c| matches!(c, b'/' | b'$'))
            .next()
            .unwrap_or_default();
        simple.windows(9).any(|part| part == b"Generated")
    };
    wanted.contains(&attribute.name)
        && annotation_types(attribute, &known.class.pool)
            .iter()
            .any(is_generated)
}

/// Bridges, accessors and the like; not bodies of lambdas, nor Kotlin's suspending lambdas.
pub fn synthetic(known: &Known, findings: &mut Findings) {
    let name = known.method.name;
    let bridge = known.method.access & ACC_BRIDGE != 0;
    let synthetic = known.method.access & ACC_SYNTHETIC != 0;
    let body = name.starts_with(b"lambda$") || name.windows(8).any(|w| w == b"$lambda$");
    let defaults = name.ends_with(b"$default") || name == b"<init>";
    if bridge || synthetic && !body && !defaults && name != b"$deserializeLambda$" {
        findings.method();
    }
}

/// `$deserializeLambda$`.
pub fn deserialize(known: &Known, findings: &mut Findings) {
    debug_assert_eq!(findings.made, CompilerMade::DeserializeLambda);
    if known.method.name == b"$deserializeLambda$" {
        findings.method();
    }
}
