//! Opcodes that matter here, and the length of every instruction (JVMS 6.5).
#![allow(missing_docs)]

pub const ICONST_0: u8 = 3;
pub const BIPUSH: u8 = 16;
pub const SIPUSH: u8 = 17;
pub const LDC: u8 = 18;
pub const LDC_W: u8 = 19;
pub const ILOAD: u8 = 21;
pub const ALOAD: u8 = 25;
pub const ILOAD_0: u8 = 26;
pub const ALOAD_0: u8 = 42;
pub const ISTORE: u8 = 54;
pub const ASTORE: u8 = 58;
pub const ISTORE_0: u8 = 59;
pub const ASTORE_0: u8 = 75;
pub const IADD: u8 = 96;
pub const IINC: u8 = 132;
pub const IFEQ: u8 = 153;
pub const IF_ICMPEQ: u8 = 159;
pub const IF_ACMPEQ: u8 = 165;
pub const IF_ACMPNE: u8 = 166;
pub const GOTO: u8 = 167;
pub const JSR: u8 = 168;
pub const RET: u8 = 169;
pub const TABLESWITCH: u8 = 170;
pub const LOOKUPSWITCH: u8 = 171;
pub const IRETURN: u8 = 172;
pub const RETURN: u8 = 177;
pub const PUTSTATIC: u8 = 179;
pub const PUTFIELD: u8 = 181;
pub const INVOKEVIRTUAL: u8 = 182;
pub const INVOKESTATIC: u8 = 184;
pub const INVOKEDYNAMIC: u8 = 186;
pub const ATHROW: u8 = 191;
pub const WIDE: u8 = 196;
pub const IFNULL: u8 = 198;
pub const IFNONNULL: u8 = 199;
pub const GOTO_W: u8 = 200;
pub const JSR_W: u8 = 201;

/// Is it a conditional branch (two-byte offset)?
pub const fn is_conditional(op: u8) -> bool {
    (op >= IFEQ && op <= IF_ACMPNE) || op == IFNULL || op == IFNONNULL
}

/// Is it one of the six returns?
pub const fn is_return(op: u8) -> bool {
    op >= IRETURN && op <= RETURN
}

/// Does execution never run on into the next instruction?
pub const fn never_falls_through(op: u8) -> bool {
    matches!(op, GOTO | GOTO_W | TABLESWITCH | LOOKUPSWITCH | ATHROW | RET) || is_return(op)
}

/// The opposite conditional branch.
pub const fn inverted(op: u8) -> u8 {
    if op >= IFNULL { op ^ 1 } else { ((op + 1) ^ 1) - 1 }
}

/// Length of an instruction, operands included; 0 for the three of variable length and for unknown opcodes.
pub const LENGTH: [u8; 256] = {
    let mut length = [0u8; 256];
    let mut op = 0;
    while op <= 201 {
        length[op] = match op as u8 {
            BIPUSH | LDC | 188 => 2,
            SIPUSH | LDC_W | 20 => 3,
            ILOAD..=ALOAD | ISTORE..=ASTORE | RET => 2,
            IINC => 3,
            IFEQ..=JSR | IFNULL | IFNONNULL => 3,
            TABLESWITCH | LOOKUPSWITCH | WIDE => 0,
            178..=184 => 3,
            185 | 186 => 5,
            187 | 189 | 192 | 193 => 3,
            197 => 4,
            GOTO_W | JSR_W => 5,
            _ => 1,
        };
        op += 1;
    }
    length
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inversion_pairs_up() {
        let pairs = [
            (153, 154),
            (155, 156),
            (157, 158),
            (159, 160),
            (161, 162),
            (163, 164),
            (165, 166),
            (198, 199),
        ];
        for (a, b) in pairs {
            assert_eq!((inverted(a), inverted(b)), (b, a));
        }
    }
}
