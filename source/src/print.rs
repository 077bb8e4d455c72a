//! Expressions as text, in Java's syntax or Kotlin's.

use trodden_classfile::decode;
use trodden_classfile::pool::Member;

use crate::expression::{Arena, Id, List, Name, Node, UNKNOWN, parameters};
use crate::interpret::{Relation, Test};
use crate::variables::Variables;

/// Longest text of a condition, in characters; what is longer is cut with `…`.
pub const MAX_TEXT: usize = 60;
/// The text in place of something left out.
pub const CUT: &str = "…";

/// The language that a class was compiled from, as far as text depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Java, and everything that is not known better.
    Java,
    /// Kotlin.
    Kotlin,
}

/// Writes expressions of one method.
pub struct Printer<'p, 'a> {
    /// Where they are.
    pub arena: &'p Arena<'a>,
    /// The method's variables.
    pub variables: &'p Variables<'a>,
    /// Raw internal name of the class.
    pub class: &'a [u8],
    /// Its language.
    pub dialect: Dialect,
}

/// Binding strength, as in Java's grammar; larger binds more tightly.
type Strength = u8;
const ASSIGNMENT: Strength = 1;
const EQUALITY: Strength = 8;
const RELATION: Strength = 9;
const UNARY: Strength = 14;
const PRIMARY: Strength = 15;

fn strength(operator: &str) -> Strength {
    match operator {
        "*" | "/" | "%" => 12,
        "+" | "-" => 11,
        "<<" | ">>" | ">>>" => 10,
        "&" => 7,
        "^" => 6,
        _ => 5,
    }
}

/// Text with a limit of its depth.
struct Out {
    text: String,
    depth: u32,
}

impl Printer<'_, '_> {
    /// The text of a test, if `holds`, or of its opposite; none if nothing is known of it.
    pub fn test(&self, test: &Test, holds: bool) -> Option<String> {
        self.bounded(|out| self.put_test(test, holds, out))
    }

    /// The text of an expression, bounded.
    pub fn expression(&self, id: Id) -> Option<String> {
        self.bounded(|out| self.put(id, 0, out))
    }

    /// Tries with less and less depth until the text is short enough.
    fn bounded(&self, put: impl Fn(&mut Out)) -> Option<String> {
        let mut last = None;
        for depth in [12, 6, 4, 3, 2, 1] {
            let mut out = Out {
                text: String::new(),
                depth,
            };
            put(&mut out);
            let text = out.text;
            // The rest says something: a name, a literal but zero.
            if !text.contains(|c: char| c.is_alphanumeric() && c != '0') {
                break;
            }
            let fits = text.chars().count() <= MAX_TEXT;
            last = Some(text);
            if fits {
                break;
            }
        }
        let mut text = last?;
        if let Some((at, _)) = text.char_indices().nth(MAX_TEXT) {
            let (before, _) = text.char_indices().nth(MAX_TEXT - 1).unwrap_or((at, ' '));
            text.truncate(before);
            text.push_str(CUT);
        }
        let stripped: String = text.replace("null", "").replace("instanceof", "");
        stripped.contains(char::is_alphanumeric).then_some(text)
    }

    fn put_test(&self, test: &Test, holds: bool, out: &mut Out) {
        use Relation::*;
        let mut relation = if holds {
            test.relation
        } else {
            test.relation.opposite()
        };
        let left = self.arena.bare(test.left);
        match (self.arena.get(left), test.right) {
            // A comparison of long, float or double, whose outcome is compared to 0.
            (Node::Compare(a, b, nan), None) => {
                // NaN makes every relation false; the pair of instructions that does not is a negated one.
                let exact = match test.relation {
                    Less | LessOrEqual => nan >= 0,
                    Greater | GreaterOrEqual => nan <= 0,
                    Equal => true,
                    NotEqual => true,
                };
                let equality = matches!(relation, Equal | NotEqual);
                if exact == holds || equality || nan == 0 {
                    self.relation(a, relation.sign(), b, out);
                } else {
                    relation = relation.opposite();
                    out.text.push_str("!(");
                    self.relation(a, relation.sign(), b, out);
                    out.text.push(')');
                }
            }
            (_, None) if self.arena.ty(left) == b'Z' => self.boolean(left, relation == NotEqual, out),
            // A byte or a boolean: not known which, so nothing is said.
            (Node::Index(_, _, UNKNOWN), None) => {}
            (_, None) => {
                self.put(left, self.strength_of(relation), out);
                let zero = if self.arena.ty(left) == b'C' { "'\\0'" } else { "0" };
                out.text.push_str(&format!(" {} {zero}", relation.sign()));
            }
            (_, Some(right)) => self.relation(left, self.sign(relation, left, right), right, out),
        }
    }

    /// Kotlin's `==` asks `equals`: whether two objects are one is another sign.
    fn sign(&self, relation: Relation, left: Id, right: Id) -> &'static str {
        let objects = [left, right]
            .map(|id| self.arena.bare(id))
            .into_iter()
            .all(|id| self.arena.get(id) != Node::Null && matches!(self.arena.ty(id), b'L' | b'['));
        match (self.dialect, relation) {
            (Dialect::Kotlin, Relation::Equal) if objects => "===",
            (Dialect::Kotlin, Relation::NotEqual) if objects => "!==",
            _ => relation.sign(),
        }
    }

    fn strength_of(&self, relation: Relation) -> Strength {
        match relation {
            Relation::Equal | Relation::NotEqual => EQUALITY,
            _ => RELATION,
        }
    }

    fn relation(&self, left: Id, sign: &str, right: Id, out: &mut Out) {
        let strength = if matches!(sign, "==" | "!=" | "===" | "!==") {
            EQUALITY
        } else {
            RELATION
        };
        // The other side says how a number is to be written.
        self.put_as(left, right, strength, out);
        out.text.push_str(&format!(" {sign} "));
        self.put_as(right, left, strength + 1, out);
    }

    /// A number compared with a char is a char, with a boolean `true` or `false`.
    fn put_as(&self, id: Id, other: Id, strength: Strength, out: &mut Out) {
        match (self.arena.get(id), self.arena.ty(self.arena.bare(other))) {
            (Node::Int(n), b'C') => match u32::try_from(n).ok().and_then(char::from_u32) {
                Some(c) => out.text.push_str(&character(c)),
                None => out.text.push_str(&n.to_string()),
            },
            (Node::Int(n @ 0..=1), b'Z') => out.text.push_str(if n == 1 { "true" } else { "false" }),
            _ => self.put(id, strength, out),
        }
    }

    /// A boolean expression, or its opposite.
    fn boolean(&self, id: Id, holds: bool, out: &mut Out) {
        if self.dialect == Dialect::Kotlin
            && let Node::Call {
                member, arguments, ..
            } = self.arena.get(id)
            && member.class == b"kotlin/jvm/internal/Intrinsics"
            && member.name == b"areEqual"
            && let &[a, b] = self.arena.list(arguments)
        {
            return self.relation(a, if holds { "==" } else { "!=" }, b, out);
        }
        if holds {
            return self.put(id, 0, out);
        }
        if let (Node::InstanceOf(of, class), Dialect::Kotlin) = (self.arena.get(id), self.dialect) {
            self.put(of, RELATION, out);
            out.text.push_str(" !is ");
            out.text.push_str(&simple(class));
            return;
        }
        out.text.push('!');
        self.put(id, UNARY, out);
    }

    fn put(&self, id: Id, around: Strength, out: &mut Out) {
        if out.depth == 0 {
            return out.text.push_str(CUT);
        }
        out.depth -= 1;
        let own = self.own_strength(id);
        if own < around {
            out.text.push('(');
        }
        self.node(id, out);
        if own < around {
            out.text.push(')');
        }
        out.depth += 1;
    }

    fn own_strength(&self, id: Id) -> Strength {
        match self.arena.get(id) {
            Node::Widen(_, of) | Node::Cast(_, of) => self.own_strength(of),
            Node::Binary("^", _, by, _) if matches!(self.arena.get(by), Node::Int(-1)) => UNARY,
            Node::Binary(operator, ..) => strength(operator),
            Node::Assign(..) => ASSIGNMENT,
            Node::InstanceOf(..) => RELATION,
            Node::Negate(_) | Node::Narrow(..) => UNARY,
            Node::Int(n) if n < 0 => UNARY,
            Node::Function(_) => ASSIGNMENT,
            Node::Step { .. } => UNARY,
            Node::Call {
                receiver: Some(of),
                member,
                ..
            } if is_unboxing(&member) => self.own_strength(of),
            _ => PRIMARY,
        }
    }

    fn node(&self, id: Id, out: &mut Out) {
        match self.arena.get(id) {
            Node::Unknown(_) | Node::Dynamic { .. } | Node::Compare(..) => out.text.push_str(CUT),
            Node::This => out.text.push_str("this"),
            Node::Local { name, .. } => match name {
                Name::Known(name) => out.text.push_str(&self.local(&decode(name))),
                Name::Parameter(number) => out.text.push_str(&format!("arg{number}")),
                Name::None => out.text.push_str(CUT),
            },
            Node::Int(n) => out.text.push_str(&n.to_string()),
            Node::Long(n) => out.text.push_str(&n.to_string()),
            Node::Float(x) => out.text.push_str(&float(x)),
            Node::Double(x) => out.text.push_str(&real(x, "Double", format!("{x:?}"))),
            Node::String(raw) => out.text.push_str(&string(&decode(raw))),
            Node::Null => out.text.push_str("null"),
            Node::Class(name) => out.text.push_str(&match self.dialect {
                Dialect::Java => simple(name) + ".class",
                Dialect::Kotlin => simple(name) + "::class",
            }),
            Node::Field { owner, member } => self.field(owner, &member, out),
            Node::Call {
                receiver,
                member,
                arguments,
                special,
            } => self.call(receiver, &member, arguments, special, out),
            Node::New { class, arguments } => {
                if self.dialect == Dialect::Java {
                    out.text.push_str("new ");
                }
                out.text.push_str(&simple(class));
                match arguments {
                    Some((list, descriptor)) => self.arguments(list, descriptor, out),
                    None => out.text.push_str("(…)"),
                }
            }
            Node::NewArray => out.text.push_str(CUT),
            Node::Index(array, index, _) => {
                self.put(array, PRIMARY, out);
                out.text.push('[');
                self.put(index, 0, out);
                out.text.push(']');
            }
            Node::Length(array) => {
                self.put(array, PRIMARY, out);
                out.text.push_str(match self.dialect {
                    Dialect::Java => ".length",
                    Dialect::Kotlin => ".size",
                });
            }
            Node::Binary("^", of, by, _) if matches!(self.arena.get(by), Node::Int(-1) | Node::Long(-1)) => {
                out.text.push('~');
                self.put(of, UNARY, out);
            }
            Node::Binary(operator, left, right, _) => {
                let own = strength(operator);
                self.put_as(left, right, own, out);
                out.text.push_str(&format!(" {operator} "));
                self.put_as(right, left, own + 1, out);
            }
            Node::Negate(of) => {
                out.text.push('-');
                self.put(of, UNARY, out);
            }
            Node::Narrow(to, of) => match self.dialect {
                Dialect::Java => {
                    out.text.push_str(&format!("({to}) "));
                    self.put(of, UNARY, out);
                }
                Dialect::Kotlin => self.put(of, PRIMARY, out),
            },
            Node::Widen(_, of) | Node::Cast(_, of) => self.node(of, out),
            Node::InstanceOf(of, class) => {
                self.put(of, RELATION, out);
                out.text.push_str(match self.dialect {
                    Dialect::Java => " instanceof ",
                    Dialect::Kotlin => " is ",
                });
                out.text.push_str(&simple(class));
            }
            Node::Assign(target, value) => self.assign(target, value, out),
            Node::Step { target, by, before } => {
                let sign = if by > 0 { "++" } else { "--" };
                if before {
                    out.text.push_str(sign);
                }
                self.put(target, PRIMARY, out);
                if !before {
                    out.text.push_str(sign);
                }
            }
            Node::Function(target) => match target {
                Some(member) if !is_lambda_body(&member) => {
                    out.text.push_str(&simple(member.class));
                    out.text.push_str("::");
                    let name = if member.name == b"<init>" {
                        b"new"
                    } else {
                        member.name
                    };
                    out.text.push_str(&decode(name));
                }
                _ => out.text.push_str(match self.dialect {
                    Dialect::Java => "… -> …",
                    Dialect::Kotlin => "{ … }",
                }),
            },
        }
    }

    /// Kotlin gives names of its own to receivers and to what was inlined.
    pub fn local(&self, name: &str) -> String {
        if self.dialect == Dialect::Java {
            return name.to_owned();
        }
        let mut plain = name;
        while let Some(shorter) = plain.strip_suffix("$iv") {
            plain = shorter;
        }
        if plain.starts_with("$this$") || plain.starts_with("this_") || plain == "$this" {
            return "this".to_owned();
        }
        plain.strip_prefix('$').unwrap_or(plain).to_owned()
    }

    fn assign(&self, target: Id, value: Id, out: &mut Out) {
        let arena = self.arena;
        if let Node::Binary(operator, left, by, _) = arena.get(arena.bare(value))
            && arena.same_place(target, arena.bare(left))
        {
            let one = matches!(arena.get(by), Node::Int(1) | Node::Long(1));
            match operator {
                "+" if one => {
                    out.text.push_str("++");
                    self.put(target, PRIMARY, out);
                }
                "-" if one => {
                    out.text.push_str("--");
                    self.put(target, PRIMARY, out);
                }
                _ => {
                    self.put(target, PRIMARY, out);
                    out.text.push_str(&format!(" {operator}= "));
                    self.put(by, ASSIGNMENT, out);
                }
            }
            return;
        }
        self.put(target, PRIMARY, out);
        out.text.push_str(" = ");
        self.put_as(value, target, ASSIGNMENT, out);
    }

    fn field(&self, owner: Option<Id>, member: &Member, out: &mut Out) {
        let name = decode(member.name);
        // References to enclosing objects and captured variables.
        if name.starts_with("this$") {
            out.text.push_str(&format!("{}.this", enclosing(self.class)));
            return;
        }
        if let Some(captured) = name.strip_prefix("val$").or_else(|| match self.dialect {
            Dialect::Kotlin => name.strip_prefix('$').filter(|n| !n.is_empty()),
            Dialect::Java => None,
        }) {
            out.text.push_str(captured);
            return;
        }
        // The class literals of primitive types.
        if owner.is_none() && name == "TYPE" && BOXES.contains(&member.class) {
            let primitive = match member.class {
                b"java/lang/Character" => "char".to_owned(),
                b"java/lang/Integer" => "int".to_owned(),
                other => simple(other).to_lowercase(),
            };
            out.text.push_str(&primitive);
            out.text.push_str(".class");
            return;
        }
        match owner {
            None if member.class != self.class => {
                out.text.push_str(&simple(member.class));
                out.text.push('.');
            }
            None => {}
            Some(owner) => self.receiver(owner, member.name, out),
        }
        out.text.push_str(&name);
    }

    /// Writes `receiver.`, unless it is `this` or the enclosing object.
    fn receiver(&self, receiver: Id, member: &[u8], out: &mut Out) {
        match self.arena.get(self.arena.bare(receiver)) {
            Node::This if !self.variables.has_name(member) => {}
            Node::Field { member: field, .. } if field.name.starts_with(b"this$") => {}
            _ => {
                self.put(receiver, PRIMARY, out);
                out.text.push('.');
            }
        }
    }

    fn call(&self, receiver: Option<Id>, member: &Member, list: List, special: bool, out: &mut Out) {
        let name = decode(member.name);
        if is_boxing(member)
            && receiver.is_none()
            && let &[of] = self.arena.list(list)
        {
            return self.put_inner(of, out);
        }
        if let Some(of) = receiver.filter(|_| is_unboxing(member)) {
            return self.put_inner(of, out);
        }
        // An accessor that the compiler made; what it gives access to is not known here.
        if name.starts_with("access$") {
            return out.text.push_str(CUT);
        }
        if self.dialect == Dialect::Kotlin && self.kotlin_call(receiver, member, list, out) {
            return;
        }
        match receiver {
            None if member.class != self.class => {
                out.text.push_str(&simple(member.class));
                out.text.push('.');
            }
            None => {}
            Some(of) if special && member.class != self.class => match self.arena.get(of) {
                Node::This => out.text.push_str("super."),
                _ => self.receiver(of, b"", out),
            },
            // A method is never hidden by a local variable.
            Some(of) => match self.arena.get(self.arena.bare(of)) {
                Node::This => {}
                _ => self.receiver(of, b"", out),
            },
        }
        if let Some(property) = self.property(&name, member, receiver, list) {
            return out.text.push_str(&property);
        }
        out.text.push_str(&name);
        self.arguments(list, member.descriptor, out);
    }

    fn put_inner(&self, id: Id, out: &mut Out) {
        self.node(id, out);
    }

    /// Kotlin's functions for what Java writes otherwise.
    fn kotlin_call(&self, receiver: Option<Id>, member: &Member, list: List, out: &mut Out) -> bool {
        let arguments = self.arena.list(list);
        if member.class == b"kotlin/jvm/internal/Intrinsics"
            && member.name == b"areEqual"
            && let &[a, b] = arguments
        {
            self.relation(a, "==", b, out);
            return true;
        }
        let name = decode(member.name);
        // Functions of other files take their receiver first; with default values there is more than was
        // written.
        if let Some(plain) = name.strip_suffix("$default") {
            if receiver.is_none() && member.class.ends_with(b"Kt") && !arguments.is_empty() {
                self.put(arguments[0], PRIMARY, out);
                out.text.push('.');
            }
            out.text.push_str(plain);
            out.text.push_str("(…)");
            return true;
        }
        false
    }

    /// Kotlin writes getters as properties.
    fn property(&self, name: &str, member: &Member, receiver: Option<Id>, list: List) -> Option<String> {
        if self.dialect != Dialect::Kotlin || !self.arena.list(list).is_empty() || receiver.is_none() {
            return None;
        }
        if matches!(
            (member.class, name),
            (b"java/lang/String" | b"java/lang/CharSequence", "length")
        ) {
            return Some(name.to_owned());
        }
        if matches!(
            member.class,
            b"java/util/List" | b"java/util/Set" | b"java/util/Map" | b"java/util/Collection"
        ) && name == "size"
        {
            return Some(name.to_owned());
        }
        if name.len() > 2 && name.starts_with("is") && name.as_bytes()[2].is_ascii_uppercase() {
            // A property only where the language says so; both are written with this name.
            return None;
        }
        let rest = name.strip_prefix("get")?;
        let mut letters = rest.chars();
        let head = letters.next().filter(|c| c.is_uppercase())?;
        Some(head.to_lowercase().collect::<String>() + letters.as_str())
    }

    /// The types say whether a number is a boolean or a character.
    fn arguments(&self, list: List, descriptor: &[u8], out: &mut Out) {
        let mut types = parameters(descriptor);
        out.text.push('(');
        for (index, &argument) in self.arena.list(list).iter().enumerate() {
            if index > 0 {
                out.text.push_str(", ");
            }
            match (self.arena.get(argument), types.next()) {
                (Node::Int(n), Some(b'C')) => match u32::try_from(n).ok().and_then(char::from_u32) {
                    Some(c) => out.text.push_str(&character(c)),
                    None => out.text.push_str(&n.to_string()),
                },
                (Node::Int(n @ 0..=1), Some(b'Z')) => {
                    out.text.push_str(if n == 1 { "true" } else { "false" });
                }
                _ => self.put(argument, ASSIGNMENT, out),
            }
        }
        out.text.push(')');
    }
}

impl Relation {
    /// Holds exactly when this one does not.
    pub fn opposite(self) -> Self {
        use Relation::*;
        match self {
            Equal => NotEqual,
            NotEqual => Equal,
            Less => GreaterOrEqual,
            GreaterOrEqual => Less,
            Greater => LessOrEqual,
            LessOrEqual => Greater,
        }
    }

    /// As Java writes it.
    pub fn sign(self) -> &'static str {
        use Relation::*;
        match self {
            Equal => "==",
            NotEqual => "!=",
            Less => "<",
            GreaterOrEqual => ">=",
            Greater => ">",
            LessOrEqual => "<=",
        }
    }
}

/// Types that box a primitive one.
const BOXES: [&[u8]; 8] = [
    b"java/lang/Boolean",
    b"java/lang/Byte",
    b"java/lang/Character",
    b"java/lang/Short",
    b"java/lang/Integer",
    b"java/lang/Long",
    b"java/lang/Float",
    b"java/lang/Double",
];

fn is_boxing(member: &Member) -> bool {
    // Of a string it parses.
    member.name == b"valueOf" && BOXES.contains(&member.class) && !member.descriptor.starts_with(b"(L")
}

/// Returns true if it takes the value out of a box of the same type.
fn is_unboxing(member: &Member) -> bool {
    let own: &[u8] = match member.class {
        b"java/lang/Boolean" => b"booleanValue",
        b"java/lang/Byte" => b"byteValue",
        b"java/lang/Character" => b"charValue",
        b"java/lang/Short" => b"shortValue",
        b"java/lang/Integer" => b"intValue",
        b"java/lang/Long" => b"longValue",
        b"java/lang/Float" => b"floatValue",
        b"java/lang/Double" => b"doubleValue",
        b"java/lang/Number" => return member.name.ends_with(b"Value"),
        _ => return false,
    };
    member.name == own
}

fn is_lambda_body(member: &Member) -> bool {
    member.name.starts_with(b"lambda$") || member.name.contains(&b'$')
}

/// The last part of an internal class name, as source files write it.
pub fn simple(class: &[u8]) -> String {
    let text = decode(class);
    let element = text.trim_start_matches('[');
    let arrays = text.len() - element.len();
    let element = match (arrays, element) {
        (0, _) => element,
        (_, "I") => "int",
        (_, "J") => "long",
        (_, "Z") => "boolean",
        (_, "B") => "byte",
        (_, "C") => "char",
        (_, "S") => "short",
        (_, "F") => "float",
        (_, "D") => "double",
        _ => element.trim_start_matches('L').trim_end_matches(';'),
    };
    let last = element.rsplit('/').next().unwrap_or(element);
    let inner = last.rsplit('$').next().unwrap_or(last);
    // An anonymous class has a number in place of a name, and a local one begins with a number.
    let named = inner.trim_start_matches(|c: char| c.is_ascii_digit());
    let name = if named.is_empty() { last } else { named };
    format!("{name}{}", "[]".repeat(arrays))
}

/// The name of the class around an inner one.
fn enclosing(class: &[u8]) -> String {
    let text = decode(class);
    match text.rsplit_once('$') {
        Some((outer, _)) => simple(outer.as_bytes()),
        None => simple(class),
    }
}

/// A character literal.
pub fn character(c: char) -> String {
    match c {
        '\'' => "'\\''".to_owned(),
        '"' => "'\"'".to_owned(),
        '\\' => "'\\\\'".to_owned(),
        '\n' => "'\\n'".to_owned(),
        '\r' => "'\\r'".to_owned(),
        '\t' => "'\\t'".to_owned(),
        '\u{8}' => "'\\b'".to_owned(),
        '\u{c}' => "'\\f'".to_owned(),
        '\0' => "'\\0'".to_owned(),
        c if c.is_ascii() && !c.is_control() => format!("'{c}'"),
        c => format!("'\\u{:04x}'", u32::from(c)),
    }
}

/// A string literal; control characters are escaped, long ones cut.
pub fn string(text: &str) -> String {
    const LONGEST: usize = 24;
    let mut out = String::from("\"");
    for (index, c) in text.chars().enumerate() {
        if index == LONGEST {
            out.push('…');
            break;
        }
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() || is_invisible(c) => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Changes the direction of text, or cannot be seen.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

fn float(x: f32) -> String {
    real(f64::from(x), "Float", format!("{x:?}f"))
}

/// A number, or the name of what no literal can be.
fn real(x: f64, class: &str, number: String) -> String {
    match x {
        f64::INFINITY => format!("{class}.POSITIVE_INFINITY"),
        f64::NEG_INFINITY => format!("{class}.NEGATIVE_INFINITY"),
        x if x.is_nan() => format!("{class}.NaN"),
        _ => number,
    }
}
