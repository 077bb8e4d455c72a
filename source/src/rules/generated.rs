//! Methods without a counterpart in the source: of records and enums, bridges, lambdas made again.

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
    if of_enum || of_record {
        findings.method();
    }
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
