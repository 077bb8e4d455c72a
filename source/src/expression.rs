//! Expression trees as the operand stack builds them.

use trodden_classfile::pool::Member;

/// An expression of an [`Arena`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Id(u32);

/// A run of expressions of an [`Arena`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct List {
    start: u32,
    len: u32,
}

/// First letter of a descriptor (`[` counts as `L`), or [`UNKNOWN`].
pub type Type = u8;
/// A type that is not known; for an int: it may be a boolean as well.
pub const UNKNOWN: Type = b'?';

/// One expression. Names are raw, as in the class file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Node<'a> {
    /// Something that is not followed: shown as `…`.
    Unknown(Type),
    /// `this`.
    This,
    /// A local variable, or a parameter without a name by its position.
    Local { slot: u16, name: Name<'a>, ty: Type },
    /// int and smaller.
    Int(i32),
    /// long.
    Long(i64),
    /// float.
    Float(f32),
    /// double.
    Double(f64),
    /// A string literal.
    String(&'a [u8]),
    /// `null`.
    Null,
    /// A class literal.
    Class(&'a [u8]),
    /// A field; without owner a static one.
    Field { owner: Option<Id>, member: Member<'a> },
    /// A call; without receiver a static one.
    Call {
        receiver: Option<Id>,
        member: Member<'a>,
        arguments: List,
        /// `invokespecial`: a private method, or one of the superclass.
        special: bool,
    },
    /// An object that is being made; once its constructor was called, arguments and its descriptor.
    New {
        class: &'a [u8],
        arguments: Option<(List, &'a [u8])>,
    },
    /// An array with its elements, or one of a length.
    NewArray,
    /// An element.
    Index(Id, Id, Type),
    /// `array.length`.
    Length(Id),
    /// An arithmetic operator of Java.
    Binary(&'static str, Id, Id, Type),
    /// `-x`.
    Negate(Id),
    /// A conversion of numbers that has to be written: `(int) x`.
    Narrow(&'static str, Id),
    /// A conversion that need not be written, to this type.
    Widen(Type, Id),
    /// `checkcast`.
    Cast(&'a [u8], Id),
    /// `instanceof`.
    InstanceOf(Id, &'a [u8]),
    /// `lcmp` and its kin; the number is what comes out for NaN.
    Compare(Id, Id, i8),
    /// `target = value`.
    Assign(Id, Id),
    /// `x++`, `--x`.
    Step { target: Id, by: i32, before: bool },
    /// A method reference or a lambda, if not synthetic with its method.
    Function(Option<Member<'a>>),
    /// Any other `invokedynamic`: its pool index and what it takes.
    Dynamic { index: u16, arguments: List, ty: Type },
}

/// The name of a local variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Name<'a> {
    /// As the debug table has it.
    Known(&'a [u8]),
    /// Parameter number, from 0, of a method without a debug table.
    Parameter(u16),
    /// None: made by the compiler, or no debug table.
    None,
}

/// The expressions of one method.
#[derive(Debug, Default)]
pub struct Arena<'a> {
    nodes: Vec<Node<'a>>,
    lists: Vec<Id>,
}

impl<'a> Arena<'a> {
    /// Forgets all expressions; the memory is kept.
    pub fn clear(&mut self) {
        self.nodes.clear();
        self.lists.clear();
    }

    /// Adds an expression.
    pub fn add(&mut self, node: Node<'a>) -> Id {
        self.nodes.push(node);
        Id(self.nodes.len() as u32 - 1)
    }

    /// The expression.
    pub fn get(&self, id: Id) -> Node<'a> {
        self.nodes[id.0 as usize]
    }

    /// Changes an expression in place, for everything that refers to it.
    pub fn set(&mut self, id: Id, node: Node<'a>) {
        self.nodes[id.0 as usize] = node;
    }

    /// Adds a list.
    pub fn add_list(&mut self, items: &[Id]) -> List {
        let start = self.lists.len() as u32;
        self.lists.extend_from_slice(items);
        List {
            start,
            len: items.len() as u32,
        }
    }

    /// The items of a list.
    pub fn list(&self, list: List) -> &[Id] {
        &self.lists[list.start as usize..][..list.len as usize]
    }

    /// The type of an expression.
    pub fn ty(&self, id: Id) -> Type {
        match self.get(id) {
            Node::Unknown(ty) | Node::Local { ty, .. } | Node::Index(_, _, ty) => ty,
            Node::Binary(_, _, _, ty) | Node::Widen(ty, _) | Node::Dynamic { ty, .. } => ty,
            Node::Int(_) | Node::Length(_) | Node::Compare(..) => b'I',
            Node::Long(_) => b'J',
            Node::Float(_) => b'F',
            Node::Double(_) => b'D',
            Node::InstanceOf(..) => b'Z',
            Node::Field { member, .. } => first(member.descriptor),
            Node::Call { member, .. } => returned(member.descriptor),
            Node::Negate(of) | Node::Assign(of, _) | Node::Step { target: of, .. } => self.ty(of),
            Node::Narrow(to, _) => match to {
                "byte" => b'B',
                "char" => b'C',
                "short" => b'S',
                "long" => b'J',
                "float" => b'F',
                _ => b'I',
            },
            Node::This | Node::String(_) | Node::Null | Node::Class(_) | Node::New { .. } => b'L',
            Node::NewArray | Node::Cast(..) | Node::Function(_) => b'L',
        }
    }

    /// Returns true if a value takes two slots of the operand stack.
    pub fn is_wide(&self, id: Id) -> bool {
        matches!(self.ty(id), b'J' | b'D')
    }

    /// Returns true if both are the same place: local variable, field of the same object.
    pub fn same_place(&self, a: Id, b: Id) -> bool {
        if a == b {
            return true;
        }
        match (self.get(a), self.get(b)) {
            (Node::This, Node::This) => true,
            (Node::Local { slot: a, name: n, .. }, Node::Local { slot: b, name: m, .. }) => a == b && n == m,
            (Node::Field { owner: a, member: m }, Node::Field { owner: b, member: n }) => {
                m == n
                    && match (a, b) {
                        (None, None) => true,
                        (Some(a), Some(b)) => self.same_place(a, b),
                        _ => false,
                    }
            }
            (Node::Index(a, i, _), Node::Index(b, j, _)) => self.same_place(a, b) && self.same_place(i, j),
            _ => false,
        }
    }

    /// The expression without casts and conversions around it.
    pub fn bare(&self, mut id: Id) -> Id {
        while let Node::Cast(_, inner) | Node::Widen(_, inner) = self.get(id) {
            id = inner;
        }
        id
    }
}

/// The type that a field descriptor begins with.
pub fn first(descriptor: &[u8]) -> Type {
    match descriptor.first() {
        Some(b'[') => b'L',
        Some(&ty) => ty,
        None => UNKNOWN,
    }
}

/// The type that a method descriptor returns.
pub fn returned(descriptor: &[u8]) -> Type {
    let end = descriptor.iter().position(|&b| b == b')');
    end.map_or(UNKNOWN, |at| first(&descriptor[at + 1..]))
}

/// The types of a method descriptor's parameters; ends early if it is damaged.
pub fn parameters(descriptor: &[u8]) -> impl Iterator<Item = Type> + '_ {
    let mut rest = descriptor.strip_prefix(b"(").unwrap_or_default();
    std::iter::from_fn(move || {
        let arrays = rest.iter().take_while(|&&b| b == b'[').count();
        let (ty, len) = match rest.get(arrays)? {
            b')' => return None,
            b'L' => (b'L', arrays + rest[arrays..].iter().position(|&b| b == b';')? + 1),
            &ty => (if arrays > 0 { b'L' } else { ty }, arrays + 1),
        };
        rest = &rest[len..];
        Some(ty)
    })
}
