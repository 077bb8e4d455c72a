//! Instructions of AArch64: counters are added to in a register, and stored by one `str`.

use super::Effect;

/// Bytes of an instruction.
pub const LONGEST: usize = 4;

/// Stores of eight bytes that change no other register: their bits, and which of these count.
const STORES: [(u32, u32); 3] = [
    // str xt, [xn, #imm]
    (0xf900_0000, 0xffc0_0000),
    // stur xt, [xn, #imm]
    (0xf800_0000, 0xffe0_0c00),
    // str xt, [xn, xm]
    (0xf820_0800, 0xffe0_0c00),
];

/// An instruction's effect and length; `None`: another instruction than those that counters are written with.
pub fn decode(code: &[u8]) -> Option<(Effect, usize)> {
    let word = u32::from_le_bytes(code.get(..LONGEST)?.try_into().ok()?);
    let is_store = STORES.iter().any(|&(bits, mask)| word & mask == bits);
    is_store.then_some((Effect::Set((word & 31) as usize), LONGEST))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As GNU's assembler encodes them.
    #[test]
    fn stores_to_counters_are_understood() {
        for (word, register) in [
            // str x1, [x0]
            (0xf900_0001_u32, 1),
            // str x30, [x2, #32760]
            (0xf93f_fc5e, 30),
            // str xzr, [x3, #8]
            (0xf900_047f, 31),
            // stur x7, [x8, #-8]
            (0xf81f_8107, 7),
            // str x9, [x10, x11]
            (0xf82b_6949, 9),
            // str x9, [x10, x11, lsl #3]
            (0xf82b_7949, 9),
            // str x9, [x10, w11, sxtw #3]
            (0xf82b_d949, 9),
        ] {
            let found = decode(&word.to_le_bytes());
            assert_eq!(found, Some((Effect::Set(register), 4)), "{word:08x}");
        }
        for word in [
            // str w1, [x0]
            0xb900_0001_u32,
            // ldr x1, [x0]
            0xf940_0001,
            // str x1, [x0], #8
            0xf800_8401,
            // str x1, [x0, #8]!
            0xf800_8c01,
            // stp x1, x2, [x0]
            0xa900_0801,
            // stlr x1, [x0]
            0xc89f_fc01,
            // ldadd x1, xzr, [x0]
            0xf821_001f,
        ] {
            assert_eq!(decode(&word.to_le_bytes()), None, "{word:08x}");
        }
        assert_eq!(decode(&[0x01, 0, 0]), None);
    }
}
