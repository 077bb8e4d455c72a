//! Instructions of x86-64.

use super::Effect;

/// Bytes of the longest instruction.
pub const LONGEST: usize = 15;

/// An instruction's effect and length; `None`: another instruction than those that counters are written with.
pub fn decode(code: &[u8]) -> Option<(Effect, usize)> {
    let [rex, opcode, modrm, sib, ..] = *code else {
        return None;
    };
    // A REX prefix with W: eight bytes.
    if rex & 0xf8 != 0x48 {
        return None;
    }
    let (mode, base) = (modrm >> 6, modrm & 7);
    let has_sib = base == 4;
    let displacement = match mode {
        0 if base == 5 || (has_sib && sib & 7 == 5) => 4,
        0 => 0,
        1 => 1,
        2 => 4,
        _ => return None,
    };
    let at = 3 + usize::from(has_sib) + displacement;
    let register = usize::from((modrm >> 3 & 7) | (rex & 4) << 1);
    let byte = || Some(i64::from(*code.get(at)? as i8));
    let word = || {
        Some(i64::from(i32::from_le_bytes(
            code.get(at..at + 4)?.try_into().ok()?,
        )))
    };
    match (opcode, modrm >> 3 & 7) {
        (0x89, _) => Some((Effect::Set(register), at)),
        (0x01, _) => Some((Effect::Add(register), at)),
        (0xff, 0) => Some((Effect::AddNumber(1), at)),
        (0x83, 0) => Some((Effect::AddNumber(byte()?), at + 1)),
        (0x81, 0) => Some((Effect::AddNumber(word()?), at + 4)),
        (0xc7, 0) => Some((Effect::SetNumber(word()?), at + 4)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As GNU's assembler encodes them.
    #[test]
    fn stores_to_counters_are_understood() {
        let known: [(&[u8], Effect, usize); 10] = [
            // mov %rcx,(%rax)
            (&[0x48, 0x89, 0x08, 0x90], Effect::Set(1), 3),
            // mov %r11,0x8(%rax,%rbx,8)
            (&[0x4c, 0x89, 0x5c, 0xd8, 0x08], Effect::Set(11), 5),
            // mov %rdx,0x12345678(%r10)
            (&[0x49, 0x89, 0x92, 0x78, 0x56, 0x34, 0x12], Effect::Set(2), 7),
            // mov %rax,0x1000(,%rcx,8)
            (&[0x48, 0x89, 0x04, 0xcd, 0, 0x10, 0, 0], Effect::Set(0), 8),
            // mov %rax,0x10(%r12)
            (&[0x49, 0x89, 0x44, 0x24, 0x10], Effect::Set(0), 5),
            // add %rsi,(%rdi)
            (&[0x48, 0x01, 0x37, 0x90], Effect::Add(6), 3),
            // incq (%rdi)
            (&[0x48, 0xff, 0x07, 0x90], Effect::AddNumber(1), 3),
            // addq $-1,(%rdi)
            (&[0x48, 0x83, 0x07, 0xff], Effect::AddNumber(-1), 4),
            // addq $0x100,0x8(%rdi)
            (&[0x48, 0x81, 0x47, 0x08, 0, 1, 0, 0], Effect::AddNumber(256), 8),
            // movq $1,(%r8)
            (&[0x49, 0xc7, 0x00, 1, 0, 0, 0], Effect::SetNumber(1), 7),
        ];
        for (code, effect, length) in known {
            assert_eq!(decode(code), Some((effect, length)), "{code:x?}");
        }
        let other: [&[u8]; 5] = [
            // mov %ecx,(%rax), four bytes
            &[0x89, 0x08, 0x90, 0x90],
            // mov %rcx,%rax
            &[0x48, 0x89, 0xc8, 0x90],
            // subq $1,(%rdi)
            &[0x48, 0x83, 0x2f, 0x01],
            // lock xadd %rax,(%rdi)
            &[0xf0, 0x48, 0x0f, 0xc1, 0x07],
            // cut off
            &[0x48, 0x81, 0x47, 0x08, 0],
        ];
        for code in other {
            assert_eq!(decode(code), None, "{code:x?}");
        }
    }
}
