//! Opcodes that matter here, and the length of every instruction (JVMS 6.5).
#![allow(missing_docs)]

pub const NOP: u8 = 0;
pub const ICONST_M1: u8 = 2;
pub const ICONST_0: u8 = 3;
pub const BIPUSH: u8 = 16;
pub const SIPUSH: u8 = 17;
pub const LDC: u8 = 18;
pub const LDC_W: u8 = 19;
pub const LDC2_W: u8 = 20;
pub const ILOAD: u8 = 21;
pub const LLOAD: u8 = 22;
pub const ALOAD: u8 = 25;
pub const ILOAD_0: u8 = 26;
/// Behind the short forms of loads.
pub const ILOAD_0_END: u8 = 46;
pub const ILOAD_3: u8 = 29;
pub const LLOAD_0: u8 = 30;
pub const ALOAD_0: u8 = 42;
pub const ALOAD_1: u8 = 43;
pub const ALOAD_3: u8 = 45;
pub const IALOAD: u8 = 46;
pub const SALOAD: u8 = 53;
pub const ISTORE: u8 = 54;
pub const LSTORE: u8 = 55;
pub const ASTORE: u8 = 58;
pub const ISTORE_0: u8 = 59;
/// Behind the short forms of stores.
pub const ISTORE_0_END: u8 = 79;
pub const ISTORE_3: u8 = 62;
pub const LSTORE_0: u8 = 63;
pub const ASTORE_0: u8 = 75;
pub const ASTORE_3: u8 = 78;
pub const IASTORE: u8 = 79;
pub const SASTORE: u8 = 86;
pub const IADD: u8 = 96;
pub const IDIV: u8 = 108;
pub const LDIV: u8 = 109;
pub const IREM: u8 = 112;
pub const LREM: u8 = 113;
pub const IINC: u8 = 132;
pub const LCMP: u8 = 148;
pub const FCMPL: u8 = 149;
pub const DCMPG: u8 = 152;
pub const IFEQ: u8 = 153;
pub const IFNE: u8 = 154;
pub const IFLT: u8 = 155;
pub const IFGE: u8 = 156;
pub const IFGT: u8 = 157;
pub const IFLE: u8 = 158;
pub const IF_ICMPEQ: u8 = 159;
pub const IF_ICMPNE: u8 = 160;
pub const IF_ACMPEQ: u8 = 165;
pub const IF_ACMPNE: u8 = 166;
pub const GOTO: u8 = 167;
pub const JSR: u8 = 168;
pub const RET: u8 = 169;
pub const TABLESWITCH: u8 = 170;
pub const LOOKUPSWITCH: u8 = 171;
pub const IRETURN: u8 = 172;
pub const ARETURN: u8 = 176;
pub const RETURN: u8 = 177;
pub const GETSTATIC: u8 = 178;
pub const PUTSTATIC: u8 = 179;
pub const GETFIELD: u8 = 180;
pub const PUTFIELD: u8 = 181;
pub const INVOKEVIRTUAL: u8 = 182;
pub const INVOKESPECIAL: u8 = 183;
pub const INVOKESTATIC: u8 = 184;
pub const INVOKEDYNAMIC: u8 = 186;
pub const NEW: u8 = 187;
pub const NEWARRAY: u8 = 188;
pub const ANEWARRAY: u8 = 189;
pub const ARRAYLENGTH: u8 = 190;
pub const ATHROW: u8 = 191;
pub const CHECKCAST: u8 = 192;
pub const MONITOREXIT: u8 = 195;
pub const WIDE: u8 = 196;
pub const MULTIANEWARRAY: u8 = 197;
pub const IFNULL: u8 = 198;
pub const IFNONNULL: u8 = 199;
pub const GOTO_W: u8 = 200;
pub const JSR_W: u8 = 201;

/// Returns true for a conditional branch (two-byte offset).
pub const fn is_conditional(op: u8) -> bool {
    (op >= IFEQ && op <= IF_ACMPNE) || op == IFNULL || op == IFNONNULL
}

/// Returns true for one of the six returns.
pub const fn is_return(op: u8) -> bool {
    op >= IRETURN && op <= RETURN
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

/// The kinds of instruction that an opcode is.
pub mod kind {
    /// Conditional branch.
    pub const BRANCH: u8 = 1;
    /// goto, goto_w.
    pub const GOTO: u8 = 2;
    /// tableswitch, lookupswitch.
    pub const SWITCH: u8 = 4;
    /// Return or athrow.
    pub const LEAVES: u8 = 8;
    /// Ends a block.
    pub const CONTROL: u8 = BRANCH | GOTO | SWITCH | LEAVES;
    /// jsr, ret, and wide, which may be a ret.
    pub const SUBROUTINE: u8 = 16;
    /// Calls a method.
    pub const CALL: u8 = 32;
    /// Stores to a field or array.
    pub const STORE: u8 = 64;
    /// May throw, as far as the opcode alone says: constants that are resolved may too (`Code::may_throw`).
    pub const THROWS: u8 = 128;
}

/// Per opcode: its [kinds](kind).
pub const KIND: [u8; 256] = {
    let mut kinds = [0u8; 256];
    let mut op = 0;
    while op <= 201 {
        let o = op as u8;
        kinds[op] = match o {
            GOTO | GOTO_W => kind::GOTO,
            TABLESWITCH | LOOKUPSWITCH => kind::SWITCH,
            ATHROW => kind::LEAVES | kind::THROWS,
            JSR | JSR_W | RET | WIDE => kind::SUBROUTINE,
            INVOKEVIRTUAL..=INVOKEDYNAMIC => kind::CALL | kind::THROWS,
            PUTSTATIC | PUTFIELD | IASTORE..=SASTORE => kind::STORE | kind::THROWS,
            IALOAD..=SALOAD | IDIV | LDIV | IREM | LREM | GETSTATIC | GETFIELD => kind::THROWS,
            NEW..=ARRAYLENGTH | CHECKCAST..=MONITOREXIT | MULTIANEWARRAY => kind::THROWS,
            _ if is_conditional(o) => kind::BRANCH,
            _ if is_return(o) => kind::LEAVES,
            _ => 0,
        };
        op += 1;
    }
    kinds
};
