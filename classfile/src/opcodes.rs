//! Opcodes that matter here, and the length of every instruction (JVMS 6.5).
#![allow(missing_docs)]

pub const NOP: u8 = 0;
pub const ACONST_NULL: u8 = 1;
pub const ICONST_M1: u8 = 2;
pub const ICONST_0: u8 = 3;
pub const ICONST_5: u8 = 8;
pub const LCONST_0: u8 = 9;
pub const LCONST_1: u8 = 10;
pub const FCONST_0: u8 = 11;
pub const FCONST_2: u8 = 13;
pub const DCONST_0: u8 = 14;
pub const DCONST_1: u8 = 15;
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
pub const POP: u8 = 87;
pub const POP2: u8 = 88;
pub const DUP: u8 = 89;
pub const DUP_X1: u8 = 90;
pub const DUP_X2: u8 = 91;
pub const DUP2: u8 = 92;
pub const DUP2_X1: u8 = 93;
pub const DUP2_X2: u8 = 94;
pub const SWAP: u8 = 95;
pub const IADD: u8 = 96;
pub const IDIV: u8 = 108;
pub const LDIV: u8 = 109;
pub const IREM: u8 = 112;
pub const LREM: u8 = 113;
pub const DREM: u8 = 115;
pub const INEG: u8 = 116;
pub const DNEG: u8 = 119;
pub const ISHL: u8 = 120;
pub const LXOR: u8 = 131;
pub const IINC: u8 = 132;
pub const I2L: u8 = 133;
pub const I2F: u8 = 134;
pub const I2D: u8 = 135;
pub const L2I: u8 = 136;
pub const L2F: u8 = 137;
pub const L2D: u8 = 138;
pub const F2I: u8 = 139;
pub const F2L: u8 = 140;
pub const F2D: u8 = 141;
pub const D2I: u8 = 142;
pub const D2L: u8 = 143;
pub const D2F: u8 = 144;
pub const I2B: u8 = 145;
pub const I2C: u8 = 146;
pub const I2S: u8 = 147;
pub const LCMP: u8 = 148;
pub const FCMPL: u8 = 149;
pub const FCMPG: u8 = 150;
pub const DCMPL: u8 = 151;
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
pub const INVOKEINTERFACE: u8 = 185;
pub const INVOKEDYNAMIC: u8 = 186;
pub const NEW: u8 = 187;
pub const NEWARRAY: u8 = 188;
pub const ANEWARRAY: u8 = 189;
pub const ARRAYLENGTH: u8 = 190;
pub const ATHROW: u8 = 191;
pub const CHECKCAST: u8 = 192;
pub const INSTANCEOF: u8 = 193;
pub const MONITORENTER: u8 = 194;
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
            BIPUSH | LDC | NEWARRAY => 2,
            SIPUSH | LDC_W | LDC2_W => 3,
            ILOAD..=ALOAD | ISTORE..=ASTORE | RET => 2,
            IINC => 3,
            IFEQ..=JSR | IFNULL | IFNONNULL => 3,
            TABLESWITCH | LOOKUPSWITCH | WIDE => 0,
            GETSTATIC..=INVOKESTATIC => 3,
            INVOKEINTERFACE | INVOKEDYNAMIC => 5,
            NEW | ANEWARRAY | CHECKCAST | INSTANCEOF => 3,
            MULTIANEWARRAY => 4,
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
