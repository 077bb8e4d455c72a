//! `switch` over enums and patterns: the table from constants to numbers is filled in code of its own.

use super::Findings;
use crate::known::Known;

/// The initialiser of javac's `Outer$1` and Kotlin's `WhenMappings`, and ECJ's method that fills the table.
pub fn find(known: &Known, findings: &mut Findings) {
    let ecj = known.method.name.starts_with(b"$SWITCH_TABLE$");
    let fills = |name: &[u8]| name.starts_with(b"$SwitchMap$") || name.starts_with(b"$EnumSwitchMapping$");
    let initialiser = known.method.name == b"<clinit>" && known.puts_static(fills);
    if ecj || initialiser {
        findings.method();
    }
}
