//! The operand stack, block by block, as expressions: what each branch compares.

use trodden_classfile::class::Class;
use trodden_classfile::code::Code;
use trodden_classfile::opcodes::{self as op, KIND, kind};
use trodden_classfile::pool::Constant;
use trodden_numbering::{BlockId, FlowGraph};
use trodden_profile::{BlockExit, MethodMap};

use crate::expression::{Arena, Id, List, Name, Node, Type, UNKNOWN, first, parameters, returned};
use crate::variables::Variables;

/// Six ways to compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `>=`
    GreaterOrEqual,
    /// `>`
    Greater,
    /// `<=`
    LessOrEqual,
}

/// The test of a conditional jump.
#[derive(Clone, Copy, Debug)]
pub struct Test {
    /// Jumps if this holds.
    pub relation: Relation,
    /// Left of it.
    pub left: Id,
    /// Right of it; none: zero (for booleans: false).
    pub right: Option<Id>,
}

/// The decision at the end of a block.
#[derive(Clone, Copy, Debug)]
pub enum Decision {
    /// A conditional jump.
    Test(Test),
    /// A switch over this.
    Switch(Id),
}

/// Facts about a block.
#[derive(Clone, Debug, Default)]
pub struct BlockFacts {
    /// How it decides, if it does.
    pub decision: Option<Decision>,
    /// Nothing but the evaluation of what is decided: no statement.
    pub pure: bool,
    /// Values on the stack when it begins.
    pub entry_depth: u16,
    /// Values on the stack when it is left.
    pub exit_depth: u16,
    /// True if it was interpreted. False if nothing leads there.
    pub reached: bool,
    /// It stores what was cast, as for the variable of `instanceof`.
    pub binds: bool,
}

/// A value that was stored to a local variable.
#[derive(Clone, Copy, Debug)]
pub struct Store {
    /// Bytecode index of the store.
    pub pc: u32,
    /// Where to.
    pub slot: u16,
    /// The value.
    pub value: Id,
}

/// A value that was stored to a local variable with a name.
#[derive(Clone, Copy, Debug)]
pub struct NamedStore<'a> {
    /// Bytecode index of the store.
    pub pc: u32,
    /// Raw name.
    pub name: &'a [u8],
    /// The value.
    pub value: Id,
}

/// A method whose stack was followed.
#[derive(Debug, Default)]
pub struct Interpreted<'a> {
    /// All expressions.
    pub arena: Arena<'a>,
    /// Per block.
    pub blocks: Vec<BlockFacts>,
    /// Stores to variables without names, by bytecode index.
    pub stores: Vec<Store>,
    /// Stores to variables with names, by bytecode index.
    pub named: Vec<NamedStore<'a>>,
    /// Calls, fields and the like whose value was dropped or that return nothing: (bytecode index,
    /// expression).
    pub calls: Vec<(u32, Id)>,
}

/// Longest operand stack that is followed.
const MAX_STACK: usize = 256;

/// Follows the operand stack of a method.
pub fn interpret<'a>(
    class: &Class<'a>,
    code: &Code<'a>,
    map: &MethodMap,
    variables: &mut Variables<'a>,
) -> Interpreted<'a> {
    forget_written_parameters(code, variables);
    let mut machine = Machine {
        class,
        code,
        map,
        variables,
        out: Interpreted {
            blocks: vec![BlockFacts::default(); map.blocks.len()],
            ..Interpreted::default()
        },
        stack: Vec::new(),
        pending_step: None,
        pure: true,
        binds: false,
    };
    let mut entries: Vec<Option<Vec<Id>>> = vec![None; map.blocks.len()];
    for &handler in map.graph.extra_starts() {
        let caught = machine.out.arena.add(Node::Unknown(b'L'));
        entries[handler.index()] = Some(vec![caught]);
    }
    entries[map.graph.entry().index()] = Some(Vec::new());
    for index in 0..map.blocks.len() {
        let entry = entries[index].take();
        machine.out.blocks[index].reached = entry.is_some();
        machine.stack = entry.unwrap_or_default();
        machine.block(index);
        let stack = &machine.stack;
        for &to in map.graph.successors(BlockId::new(index)) {
            if to.index() <= index {
                continue;
            }
            match &mut entries[to.index()] {
                empty @ None => *empty = Some(stack.clone()),
                Some(known) => merge(known, stack, &mut machine.out.arena),
            }
        }
    }
    machine.out
}

fn forget_written_parameters(code: &Code, variables: &mut Variables) {
    if variables.named() {
        return;
    }
    for (pc, opcode) in code.instructions(0, code.len()) {
        if let Some((slot, _)) = store_slot(code, pc, opcode) {
            variables.written(slot);
        } else if opcode == op::IINC {
            variables.written(u16::from(code.bytes[pc as usize + 1]));
        } else if opcode == op::WIDE && code.bytes[pc as usize + 1] == op::IINC {
            variables.written(u2(code, pc + 2));
        }
    }
}

fn merge<'a>(known: &mut Vec<Id>, other: &[Id], arena: &mut Arena<'a>) {
    known.truncate(other.len());
    for (a, &b) in known.iter_mut().zip(other) {
        if *a == b || arena.get(*a) == arena.get(b) {
            continue;
        }
        let (s, t) = (arena.ty(*a), arena.ty(b));
        let bit = |id| matches!(arena.get(id), Node::Int(0 | 1));
        let boolean = |id, ty| ty == b'Z' || bit(id);
        let ty = match (s, t) {
            _ if boolean(*a, s) && boolean(b, t) => b'Z',
            (s, t) if s == t => s,
            _ => UNKNOWN,
        };
        *a = arena.add(Node::Unknown(ty));
    }
}

fn u2(code: &Code, pc: u32) -> u16 {
    let at = pc as usize;
    u16::from_be_bytes([code.bytes[at], code.bytes[at + 1]])
}

/// Slot and type of a load.
pub fn load_slot(code: &Code, pc: u32, opcode: u8) -> Option<(u16, Type)> {
    slot_of(code, pc, opcode, op::ILOAD)
}

/// Slot and type of a store.
pub fn store_slot(code: &Code, pc: u32, opcode: u8) -> Option<(u16, Type)> {
    slot_of(code, pc, opcode, op::ISTORE)
}

/// Slot and type of an instruction of one family, whose first opcode is that for integers: five with an
/// operand, then four short ones for each type.
fn slot_of(code: &Code, pc: u32, opcode: u8, first: u8) -> Option<(u16, Type)> {
    const TYPES: [Type; 5] = [b'I', b'J', b'F', b'D', b'L'];
    let byte = |at: u32| code.bytes[at as usize];
    let of = |opcode: u8| TYPES.get(usize::from(opcode.checked_sub(first)?)).copied();
    if let Some(ty) = of(opcode) {
        return Some((u16::from(byte(pc + 1)), ty));
    }
    if opcode == op::WIDE {
        return Some((u2(code, pc + 2), of(byte(pc + 1))?));
    }
    let number = usize::from(opcode.checked_sub(first)?).checked_sub(TYPES.len())?;
    Some(((number % 4) as u16, *TYPES.get(number / 4)?))
}

struct Machine<'m, 'a> {
    class: &'m Class<'a>,
    code: &'m Code<'a>,
    map: &'m MethodMap,
    variables: &'m Variables<'a>,
    out: Interpreted<'a>,
    stack: Vec<Id>,
    /// An `iinc` just before: slot, by how much, where the next instruction is.
    pending_step: Option<(u16, i32, u32)>,
    pure: bool,
    binds: bool,
}

impl<'a> Machine<'_, 'a> {
    fn block(&mut self, index: usize) {
        let block = &self.map.blocks[index];
        self.pure = true;
        self.binds = false;
        self.pending_step = None;
        self.out.blocks[index].entry_depth = self.stack.len() as u16;
        let mut decision = None;
        let instructions = self.code.instructions(block.start, block.end);
        let mut instructions = instructions.peekable();
        while let Some((pc, opcode)) = instructions.next() {
            let next = instructions.peek().map_or(block.end, |&(pc, _)| pc);
            if let Some((_, _, at)) = self.pending_step
                && (at != pc || load_slot(self.code, pc, opcode).is_none())
            {
                self.pending_step = None;
                self.pure = false;
            }
            if pc == block.last {
                match block.exit {
                    BlockExit::Branch => {
                        decision = Some(Decision::Test(self.test(opcode)));
                        continue;
                    }
                    BlockExit::Switch => {
                        decision = Some(Decision::Switch(self.pop()));
                        continue;
                    }
                    BlockExit::Goto => continue,
                    BlockExit::Return | BlockExit::Throw => {
                        self.pure = false;
                        self.stack.clear();
                        continue;
                    }
                    BlockExit::FallThrough => {}
                }
            }
            self.step(pc, opcode, next);
            self.stack.truncate(MAX_STACK);
        }
        if self.pending_step.take().is_some() {
            self.pure = false;
        }
        let facts = &mut self.out.blocks[index];
        facts.decision = decision;
        facts.pure = self.pure;
        facts.binds = self.binds;
        facts.exit_depth = self.stack.len() as u16;
    }

    fn pop(&mut self) -> Id {
        match self.stack.pop() {
            Some(id) => id,
            None => self.out.arena.add(Node::Unknown(UNKNOWN)),
        }
    }

    fn push(&mut self, node: Node<'a>) {
        let id = self.out.arena.add(node);
        self.stack.push(id);
    }

    fn test(&mut self, opcode: u8) -> Test {
        use Relation::*;
        const ORDER: [Relation; 6] = [Equal, NotEqual, Less, GreaterOrEqual, Greater, LessOrEqual];
        match opcode {
            op::IFEQ..=op::IFLE => Test {
                relation: ORDER[usize::from(opcode - op::IFEQ)],
                left: self.pop(),
                right: None,
            },
            op::IF_ICMPEQ..=op::IF_ACMPNE => {
                let right = self.pop();
                let left = self.pop();
                Test {
                    relation: ORDER[usize::from(opcode - op::IF_ICMPEQ) % 6],
                    left,
                    right: Some(right),
                }
            }
            // ifnull, ifnonnull
            _ => {
                let null = self.out.arena.add(Node::Null);
                Test {
                    relation: if opcode == op::IFNULL { Equal } else { NotEqual },
                    left: self.pop(),
                    right: Some(null),
                }
            }
        }
    }

    fn arguments(&mut self, descriptor: &[u8]) -> List {
        let count = parameters(descriptor).count();
        let mut arguments: Vec<Id> = (0..count).map(|_| self.pop()).collect();
        arguments.reverse();
        self.out.arena.add_list(&arguments)
    }

    fn binary(&mut self, operator: &'static str, ty: Type) {
        let right = self.pop();
        let left = self.pop();
        let boolean = |id| self.out.arena.ty(id) == b'Z';
        let bit = |id| matches!(self.out.arena.get(id), Node::Int(0 | 1));
        let ty = match operator {
            "&" | "|" | "^" if (boolean(left) || bit(left)) && (boolean(right) || bit(right)) => b'Z',
            _ => ty,
        };
        self.push(Node::Binary(operator, left, right, ty));
    }

    fn widen(&mut self, ty: Type) {
        let of = self.pop();
        self.push(Node::Widen(ty, of));
    }

    fn narrow(&mut self, to: &'static str) {
        let of = self.pop();
        self.push(Node::Narrow(to, of));
    }

    fn constant(&mut self, index: u16) {
        let node = match self.class.pool.constant(index) {
            Some(Constant::Integer(n)) => Node::Int(n),
            Some(Constant::Long(n)) => Node::Long(n),
            Some(Constant::Float(x)) => Node::Float(x),
            Some(Constant::Double(x)) => Node::Double(x),
            Some(Constant::String(text)) => Node::String(text),
            Some(Constant::Class(name)) => Node::Class(name),
            Some(Constant::Other) => {
                let dynamic = self.class.pool.dynamic(index);
                Node::Unknown(dynamic.map_or(b'L', |(_, _, ty)| crate::expression::first(ty)))
            }
            None => Node::Unknown(UNKNOWN),
        };
        self.push(node);
    }

    fn load(&mut self, pc: u32, slot: u16, ty: Type) {
        if self.variables.is_this(slot) && ty == b'L' {
            return self.push(Node::This);
        }
        if let Some((name, ty)) = self.variables.at(slot, pc) {
            self.push(Node::Local { slot, name, ty });
            // On a line of its own it was a statement.
            let of_line = self.map.lines.binary_search_by_key(&pc, |e| e.bci).is_ok();
            let step = self
                .pending_step
                .take_if(|(stepped, ..)| *stepped == slot && !of_line);
            if let Some((_, by, _)) = step {
                let target = self.pop();
                self.push(Node::Step {
                    target,
                    by,
                    before: true,
                });
            }
        } else {
            // A copy that the compiler keeps is shown as what it is a copy of.
            let last = self.out.stores.iter().rev().find(|s| s.slot == slot);
            match last.filter(|_| ty == b'L' && self.variables.named()) {
                Some(store) if !matches!(self.out.arena.get(store.value), Node::Null | Node::Unknown(_)) => {
                    let value = store.value;
                    self.stack.push(value);
                }
                _ => {
                    let (name, ty) = (Name::None, Variables::unknown(ty));
                    self.push(Node::Local { slot, name, ty });
                }
            }
        }
        if self.pending_step.take().is_some() {
            self.pure = false;
        }
    }

    fn store(&mut self, pc: u32, next: u32, slot: u16) {
        let value = self.pop();
        let copied = self.stack.last() == Some(&value);
        match self.variables.at(slot, next) {
            Some((name, ty)) => {
                if let Name::Known(name) = name {
                    self.out.named.push(NamedStore { pc, name, value });
                }
                if copied {
                    let target = self.out.arena.add(Node::Local { slot, name, ty });
                    self.stack.pop();
                    self.push(Node::Assign(target, value));
                } else {
                    self.plain_store(value);
                }
            }
            None => {
                self.out.stores.push(Store { pc, slot, value });
                if !copied {
                    self.plain_store(value);
                }
            }
        }
    }

    /// A statement, but for a cast: that may be the variable of `instanceof`, which is judged with its
    /// neighbours.
    fn plain_store(&mut self, value: Id) {
        match self.out.arena.get(value) {
            Node::Cast(..) => self.binds = true,
            _ => self.pure = false,
        }
    }

    /// A store to a field or element: an expression if a copy of the value stays.
    fn assign(&mut self, target: Id, value: Id) {
        let arena = &mut self.out.arena;
        let Some(&top) = self.stack.last() else {
            self.pure = false;
            return;
        };
        if top == value {
            self.stack.pop();
            self.push(Node::Assign(target, value));
        } else if let Node::Binary(sign @ ("+" | "-"), left, by, _) = arena.get(arena.bare(value))
            && left == top
            && matches!(arena.get(by), Node::Int(1) | Node::Long(1))
        {
            let by = if sign == "+" { 1 } else { -1 };
            self.stack.pop();
            self.push(Node::Step {
                target,
                by,
                before: false,
            });
        } else {
            self.pure = false;
        }
    }

    /// Copies the `count` topmost words below the `below` words under them.
    fn duplicate(&mut self, count: usize, below: usize) {
        let take = |words: usize, stack: &mut Vec<Id>, arena: &mut Arena<'a>| {
            let mut taken = Vec::new();
            let mut left = words;
            while left > 0 {
                let id = match stack.pop() {
                    Some(id) => id,
                    None => arena.add(Node::Unknown(UNKNOWN)),
                };
                left = left.saturating_sub(if arena.is_wide(id) { 2 } else { 1 });
                taken.push(id);
            }
            taken.reverse();
            taken
        };
        let top = take(count, &mut self.stack, &mut self.out.arena);
        let under = take(below, &mut self.stack, &mut self.out.arena);
        self.stack.extend_from_slice(&top);
        self.stack.extend_from_slice(&under);
        self.stack.extend_from_slice(&top);
    }

    fn invoke(&mut self, pc: u32, opcode: u8) {
        let index = u2(self.code, pc + 1);
        let Some(member) = self.class.pool.member(index) else {
            self.stack.clear();
            return;
        };
        let arguments = self.arguments(member.descriptor);
        let receiver = (opcode != op::INVOKESTATIC).then(|| self.pop());
        if let (b"<init>", Some(object)) = (member.name, receiver) {
            if let Node::New { class, .. } = self.out.arena.get(object) {
                let arguments = Some((arguments, member.descriptor));
                self.out.arena.set(object, Node::New { class, arguments });
            } else {
                self.pure = false;
            }
            return;
        }
        let call = Node::Call {
            receiver,
            member,
            arguments,
            special: opcode == op::INVOKESPECIAL,
        };
        if returned(member.descriptor) == b'V' {
            self.pure = false;
            let id = self.out.arena.add(call);
            self.out.calls.push((pc, id));
        } else {
            self.push(call);
        }
    }

    fn invoke_dynamic(&mut self, pc: u32) {
        let index = u2(self.code, pc + 1);
        let Some((bootstrap, _, descriptor)) = self.class.pool.dynamic(index) else {
            self.stack.clear();
            return;
        };
        let arguments = self.arguments(descriptor);
        let target = crate::bootstrap::Bootstrap::read(self.class, bootstrap);
        let node = match target.as_ref().filter(|b| b.is_lambda()) {
            Some(lambda) => Node::Function(lambda.implementation(&self.class.pool)),
            None => Node::Dynamic {
                index,
                arguments,
                ty: returned(descriptor),
            },
        };
        self.push(node);
    }

    #[expect(clippy::too_many_lines, reason = "one arm per kind of instruction")]
    fn step(&mut self, pc: u32, opcode: u8, next: u32) {
        let byte = |at: u32| self.code.bytes[at as usize];
        if let Some((slot, ty)) = load_slot(self.code, pc, opcode) {
            return self.load(pc, slot, ty);
        }
        if let Some((slot, _)) = store_slot(self.code, pc, opcode) {
            return self.store(pc, next, slot);
        }
        match opcode {
            op::NOP => {}
            op::ACONST_NULL => self.push(Node::Null),
            op::ICONST_M1..=op::ICONST_5 => self.push(Node::Int(i32::from(opcode) - i32::from(op::ICONST_0))),
            op::LCONST_0..=op::LCONST_1 => self.push(Node::Long(i64::from(opcode - op::LCONST_0))),
            op::FCONST_0..=op::FCONST_2 => self.push(Node::Float(f32::from(opcode - op::FCONST_0))),
            op::DCONST_0..=op::DCONST_1 => self.push(Node::Double(f64::from(opcode - op::DCONST_0))),
            op::BIPUSH => self.push(Node::Int(i32::from(byte(pc + 1) as i8))),
            op::SIPUSH => self.push(Node::Int(i32::from(u2(self.code, pc + 1) as i16))),
            op::LDC => self.constant(u16::from(byte(pc + 1))),
            op::LDC_W | op::LDC2_W => self.constant(u2(self.code, pc + 1)),
            op::IALOAD..=op::SALOAD => self.load_element(pc, opcode),
            op::IASTORE..=op::SASTORE => self.store_element(),
            op::POP => self.drop_one(pc),
            op::POP2 => {
                let top = self.pop();
                if !self.out.arena.is_wide(top) {
                    self.pop();
                }
                self.pure = false;
            }
            op::DUP => self.duplicate(1, 0),
            op::DUP_X1 => self.duplicate(1, 1),
            op::DUP_X2 => self.duplicate(1, 2),
            op::DUP2 => self.duplicate(2, 0),
            op::DUP2_X1 => self.duplicate(2, 1),
            op::DUP2_X2 => self.duplicate(2, 2),
            op::SWAP => {
                let top = self.pop();
                let below = self.pop();
                self.stack.extend([top, below]);
            }
            op::IADD..=op::DREM => {
                const SIGNS: [&str; 5] = ["+", "-", "*", "/", "%"];
                let number = opcode - op::IADD;
                self.binary(SIGNS[usize::from(number / 4)], b"IJFD"[usize::from(number % 4)]);
            }
            op::INEG..=op::DNEG => {
                let of = self.pop();
                self.push(Node::Negate(of));
            }
            op::ISHL..=op::LXOR => {
                const SIGNS: [&str; 6] = ["<<", ">>", ">>>", "&", "|", "^"];
                let number = opcode - op::ISHL;
                self.binary(SIGNS[usize::from(number / 2)], b"IJ"[usize::from(number % 2)]);
            }
            op::IINC => self.increment(next, u16::from(byte(pc + 1)), i32::from(byte(pc + 2) as i8), pc),
            op::WIDE => {
                // Loads and stores were handled above.
                let by = i32::from(u2(self.code, pc + 4) as i16);
                self.increment(next, u2(self.code, pc + 2), by, pc);
            }
            op::I2L | op::F2L | op::D2L => match opcode {
                op::I2L => self.widen(b'J'),
                _ => self.narrow("long"),
            },
            op::I2F | op::L2F => self.widen(b'F'),
            op::I2D | op::L2D | op::F2D => self.widen(b'D'),
            op::L2I | op::F2I | op::D2I => self.narrow("int"),
            op::D2F => self.narrow("float"),
            op::I2B => self.narrow("byte"),
            op::I2C => self.narrow("char"),
            op::I2S => self.narrow("short"),
            op::LCMP..=op::DCMPG => {
                let right = self.pop();
                let left = self.pop();
                let nan = match opcode {
                    op::FCMPL | op::DCMPL => -1,
                    op::FCMPG | op::DCMPG => 1,
                    _ => 0,
                };
                self.push(Node::Compare(left, right, nan));
            }
            op::GETSTATIC | op::GETFIELD => self.load_field(pc, opcode == op::GETFIELD),
            op::PUTSTATIC | op::PUTFIELD => self.store_field(pc, opcode == op::PUTFIELD),
            op::INVOKEDYNAMIC => self.invoke_dynamic(pc),
            _ if KIND[usize::from(opcode)] & kind::CALL != 0 => self.invoke(pc, opcode),
            op::NEW => {
                let class = self.class_at(pc);
                let arguments = None;
                self.push(Node::New { class, arguments });
            }
            op::NEWARRAY | op::ANEWARRAY => {
                self.pop();
                self.push(Node::NewArray);
            }
            op::ARRAYLENGTH => {
                let array = self.pop();
                self.push(Node::Length(array));
            }
            op::CHECKCAST => {
                let of = self.pop();
                let class = self.class_at(pc);
                self.push(Node::Cast(class, of));
            }
            op::INSTANCEOF => {
                let of = self.pop();
                let class = self.class_at(pc);
                self.push(Node::InstanceOf(of, class));
            }
            op::MONITORENTER | op::MONITOREXIT => {
                self.pop();
                self.pure = false;
            }
            op::MULTIANEWARRAY => {
                for _ in 0..byte(pc + 3) {
                    self.pop();
                }
                self.push(Node::NewArray);
            }
            // Nothing else is left in methods that have a map.
            _ => {
                self.stack.clear();
                self.pure = false;
            }
        }
    }

    fn load_element(&mut self, pc: u32, opcode: u8) {
        const TYPES: [Type; 8] = [b'I', b'J', b'F', b'D', b'L', UNKNOWN, b'C', b'S'];
        let index = self.pop();
        let array = self.pop();
        let ty = match TYPES[usize::from(opcode - op::IALOAD)] {
            // Bytes and booleans have the same instruction.
            UNKNOWN => match self.descriptor(array, pc) {
                Some(array) if array.starts_with(b"[") => first(&array[1..]),
                _ => UNKNOWN,
            },
            ty => ty,
        };
        self.push(Node::Index(array, index, ty));
    }

    fn store_element(&mut self) {
        let value = self.pop();
        let index = self.pop();
        let array = self.pop();
        // An element of an array that is being made.
        if self.stack.last() == Some(&array) && self.out.arena.get(array) == Node::NewArray {
            return;
        }
        let ty = self.out.arena.ty(value);
        let target = self.out.arena.add(Node::Index(array, index, ty));
        self.assign(target, value);
    }

    fn load_field(&mut self, pc: u32, of_object: bool) {
        let node = match self.class.pool.member(u2(self.code, pc + 1)) {
            Some(member) => {
                let owner = of_object.then(|| self.pop());
                Node::Field { owner, member }
            }
            None => Node::Unknown(UNKNOWN),
        };
        self.push(node);
    }

    fn store_field(&mut self, pc: u32, of_object: bool) {
        let Some(member) = self.class.pool.member(u2(self.code, pc + 1)) else {
            return self.stack.clear();
        };
        let value = self.pop();
        let owner = of_object.then(|| self.pop());
        let target = self.out.arena.add(Node::Field { owner, member });
        self.assign(target, value);
    }

    /// The class that an instruction names.
    fn class_at(&self, pc: u32) -> &'a [u8] {
        let name = self.class.pool.class_name(u2(self.code, pc + 1));
        name.unwrap_or_default()
    }

    /// The descriptor of an expression's type, if it is declared.
    fn descriptor(&self, id: Id, pc: u32) -> Option<&'a [u8]> {
        let arena = &self.out.arena;
        match arena.get(id) {
            Node::Local { slot, .. } => self.variables.descriptor(slot, pc),
            Node::Field { member, .. } => Some(member.descriptor),
            Node::Call { member, .. } => {
                let end = member.descriptor.iter().position(|&b| b == b')')?;
                Some(&member.descriptor[end + 1..])
            }
            Node::Cast(class, _) => Some(class),
            Node::Assign(_, value) => self.descriptor(value, pc),
            Node::Index(array, ..) => self.descriptor(array, pc)?.strip_prefix(b"["),
            _ => None,
        }
    }

    fn drop_one(&mut self, pc: u32) {
        let dropped = self.pop();
        // `Objects.requireNonNull(x)` and `x.getClass()` are put in front of lambdas and inner classes.
        self.out.calls.push((pc, dropped));
        self.pure = false;
    }

    fn increment(&mut self, next: u32, slot: u16, by: i32, pc: u32) {
        let is_same = |id: Id| matches!(self.out.arena.get(id), Node::Local { slot: s, .. } if s == slot);
        if let Some(&top) = self.stack.last().filter(|&&id| is_same(id))
            && by.abs() == 1
        {
            self.stack.pop();
            let before = false;
            self.push(Node::Step {
                target: top,
                by,
                before,
            });
        } else if self.variables.at(slot, pc).is_some() && by.abs() == 1 {
            self.pending_step = Some((slot, by, next));
        } else {
            self.pure = false;
        }
    }
}
