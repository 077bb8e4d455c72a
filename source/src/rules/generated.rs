//! Methods without a counterpart in the source: of records and enums, bridges, lambdas made again.

use trodden_classfile::attributes::annotation_types;
use trodden_classfile::class::{Attribute, Class};
use trodden_classfile::opcodes as op;
use trodden_classfile::reader::get_u2;
use trodden_profile::CompilerMade;

use super::Findings;
use crate::known::Known;
use crate::print::Dialect;

const ACC_STATIC: u16 = 0x0008;
const ACC_BRIDGE: u16 = 0x0040;
const ACC_SYNTHETIC: u16 = 0x1000;
const ACC_ENUM: u16 = 0x4000;

/// `values` and `valueOf` of an enum; `toString`, `hashCode` and `equals` of a record that are linked at run
/// time.
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

/// Returns true if it returns the record's component of its name, and does nothing else.
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

/// Constructors without parameters that only call the superclass's: private ones, and those of enums, whose
/// two parameters are the compiler's.
pub fn empty_constructors(known: &Known, findings: &mut Findings) {
    const ACC_PRIVATE: u16 = 0x0002;
    // Not of a constant with a body, whose class extends that of the enum.
    let of_enum = known.class.superclass() == Some(b"java/lang/Enum");
    let descriptor = known.method.descriptor;
    let nothing = if of_enum {
        descriptor == b"(Ljava/lang/String;I)V"
    } else {
        descriptor == b"()V" && known.method.access & ACC_PRIVATE != 0
    };
    let opcodes = || {
        let instructions = known.code.instructions(0, known.code.len());
        instructions.map(|(_, opcode)| opcode)
    };
    let empty: &[u8] = if of_enum {
        &[
            op::ALOAD_0,
            op::ALOAD_0 + 1,
            op::ILOAD_0 + 2,
            op::INVOKESPECIAL,
            op::RETURN,
        ]
    } else {
        &[op::ALOAD_0, op::INVOKESPECIAL, op::RETURN]
    };
    if known.method.name == b"<init>" && nothing && opcodes().eq(empty.iter().copied()) {
        findings.method();
    }
}

/// Methods and classes whose annotations say so; as JaCoCo, whatever the annotation's package is. Those that
/// only the source has are not in the class file.
pub fn marked(known: &Known, findings: &mut Findings) {
    let pool = &known.class.pool;
    let of_method = || {
        known
            .method
            .attributes(pool)
            .flat_map(|a| annotations(&a, known.class))
    };
    if known.marks.generated || of_method().any(says_generated) {
        findings.method();
    }
}

/// Properties of a class that concern all its methods.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClassMarks {
    /// An annotation says that it is generated.
    generated: bool,
    /// It is a value class of Kotlin.
    value_class: bool,
    /// The compiler has made it for itself.
    synthetic: bool,
}

impl ClassMarks {
    /// Reads them, once per class.
    pub fn new(class: &Class) -> Self {
        let annotations: Vec<&[u8]> = class.attributes().flat_map(|a| annotations(&a, class)).collect();
        ClassMarks {
            generated: annotations.iter().any(|name| says_generated(name)),
            value_class: annotations
                .iter()
                .any(|name| name.ends_with(b"kotlin/jvm/JvmInline;")),
            synthetic: class.access() & ACC_SYNTHETIC != 0,
        }
    }
}

/// The types of the annotations in an attribute; none if it holds something else.
fn annotations<'a>(attribute: &Attribute<'a>, class: &Class<'a>) -> Vec<&'a [u8]> {
    let wanted = [&b"RuntimeVisibleAnnotations"[..], b"RuntimeInvisibleAnnotations"];
    if wanted.contains(&attribute.name) {
        annotation_types(attribute, &class.pool)
    } else {
        Vec::new()
    }
}

/// Returns true if the simple name of an annotation contains `Generated`.
fn says_generated(name: &[u8]) -> bool {
    let mut parts = name.rsplit(|&c| matches!(c, b'/' | b'$'));
    let simple = parts.next().unwrap_or_default();
    simple.windows(9).any(|part| part == b"Generated")
}

/// Bridges, accessors and the like, and classes that are synthetic as a whole. Not bodies of lambdas; Kotlin
/// and Scala put more than these into synthetic methods.
pub fn synthetic(known: &Known, findings: &mut Findings) {
    let name = known.method.name;
    let synthetic = known.method.access & ACC_SYNTHETIC != 0;
    let has = |attribute: &[u8]| known.class.attributes().any(|a| a.name == attribute);
    let made = || match known.dialect {
        Dialect::Kotlin => name.starts_with(b"access$"),
        Dialect::Java if name.starts_with(b"lambda$") || name == b"$deserializeLambda$" => false,
        Dialect::Java => !(name.starts_with(b"$anonfun$") && (has(b"ScalaSig") || has(b"Scala"))),
    };
    if known.marks.synthetic || known.method.access & ACC_BRIDGE != 0 || synthetic && made() {
        findings.method();
    }
}

/// Methods of Kotlin that have no line of the source: those of data classes, `getEntries` of enums, the
/// instance methods of value classes, and what leads to the bodies of an interface's methods.
pub fn of_kotlin(known: &Known, findings: &mut Findings) {
    if known.dialect != Dialect::Kotlin {
        return;
    }
    // Without a source file, nothing has lines.
    let without_lines =
        known.class.source_file.is_some() && known.map.lines.is_empty() && known.map.inlined.is_empty();
    let entries = known.class.superclass() == Some(b"java/lang/Enum")
        && known.method.name == b"getEntries"
        && known.method.descriptor == b"()Lkotlin/enums/EnumEntries;";
    let of_value = known.marks.value_class && known.method.access & ACC_STATIC == 0;
    if without_lines || entries || of_value || leads_to_body(known) {
        findings.method();
    }
}

/// Returns true if it begins with a call of the like method in the interface's `DefaultImpls`.
fn leads_to_body(known: &Known) -> bool {
    let mut instructions = known.code.instructions(0, known.code.len());
    let (Some((_, op::ALOAD_0)), Some((at, op::INVOKESTATIC))) = (instructions.next(), instructions.next())
    else {
        return false;
    };
    let member = known.class.pool.member(get_u2(known.code.bytes, at as usize + 1));
    member.is_some_and(|member| member.class.ends_with(b"$DefaultImpls"))
}

/// `$deserializeLambda$`.
pub fn deserialize(known: &Known, findings: &mut Findings) {
    debug_assert_eq!(findings.made, CompilerMade::DeserializeLambda);
    if known.method.name == b"$deserializeLambda$" {
        findings.method();
    }
}
