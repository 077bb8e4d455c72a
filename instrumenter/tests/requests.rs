//! Probes of requests: which methods get them, and what they change.

use trodden_classfile::class::Class;
use trodden_instrumenter::{ClassIds, InstrumentOptions, Instrumenter, Preparation, ProbeKind};
use trodden_instrumenter::{ROLE_SHIFT, RequestMethods, WithRequests, round_trip};

const SHAPES: &[u8] = include_bytes!("fixtures/Shapes.class");

fn put(patterns: &[&str], class: &[u8]) -> Option<WithRequests> {
    let methods = RequestMethods::new(patterns).unwrap();
    methods.put_into(class, |_, _| 5).unwrap()
}

/// Calls of the shim's methods by name, in the order of the code: (method, called).
fn calls(class: &[u8]) -> Vec<(String, String)> {
    let class = Class::read(class).unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut found = Vec::new();
    for method in &class.methods {
        let Some(code) = &method.code else { continue };
        let mut marks = trodden_classfile::code::Marks::default();
        let code = trodden_classfile::code::Code::read(code, &class.pool, &mut marks).unwrap();
        for (pc, opcode) in code.instructions(0, code.len()) {
            if opcode != trodden_classfile::opcodes::INVOKESTATIC {
                continue;
            }
            let index = u16::from_be_bytes([code.bytes[pc as usize + 1], code.bytes[pc as usize + 2]]);
            let called = class.pool.member(index).unwrap();
            if called.class == b"java/lang/Trodden" {
                found.push((text(method.name), text(called.name)));
            }
        }
    }
    found
}

#[test]
fn named_methods_get_probes_and_no_others() {
    let all = put(&["Shapes"], SHAPES).unwrap();
    let methods: Vec<String> = Class::read(SHAPES)
        .unwrap()
        .methods
        .iter()
        .filter(|method| method.code.is_some() && !method.name.starts_with(b"<"))
        .map(|method| {
            String::from_utf8_lossy(method.name).into_owned() + &String::from_utf8_lossy(method.descriptor)
        })
        .collect();
    let done: Vec<&String> = all.methods.iter().map(|(method, _)| method).collect();
    assert_eq!(done, methods.iter().collect::<Vec<_>>());
    assert!(all.refused.is_empty());
    assert!(put(&["Shapes#nothing", "Other"], SHAPES).is_none());
    assert!(put(&["http", "grpc", "kafka"], SHAPES).is_none());
    assert!(RequestMethods::new(&["a#b#c"]).is_err());
}

/// One beginning per method; an end in front of each return, and one for exceptions.
#[test]
fn each_way_out_reports_the_end() {
    let with = put(&["Shapes"], SHAPES).unwrap();
    let class = Class::read(SHAPES).unwrap();
    let calls = calls(&with.bytes);
    for method in class
        .methods
        .iter()
        .filter(|method| !method.name.starts_with(b"<"))
    {
        let Some(code) = &method.code else { continue };
        let mut marks = trodden_classfile::code::Marks::default();
        let code = trodden_classfile::code::Code::read(code, &class.pool, &mut marks).unwrap();
        // ireturn to return.
        let returns = code
            .instructions(0, code.len())
            .filter(|(_, opcode)| (172..=177).contains(opcode));
        let name = String::from_utf8_lossy(method.name);
        let of = |called: &str| calls.iter().filter(|(m, c)| *m == name && c == called).count();
        let same_name = class
            .methods
            .iter()
            .filter(|other| other.name == method.name)
            .count();
        if same_name == 1 {
            assert_eq!(of("requestBegins"), 1, "{name}");
            assert_eq!(of("requestEnds"), returns.count() + 1, "{name}");
        }
    }
}

/// They go around the probes that count: a path is counted before its request ends.
#[test]
fn counting_probes_are_inside() {
    let instrumenter = Instrumenter::new(InstrumentOptions::new(ProbeKind::Counters));
    let Preparation::Ready(prepared) = instrumenter.prepare(SHAPES).unwrap() else {
        panic!("nothing to instrument");
    };
    let counted = prepared.emit(ClassIds::new(1, 2));
    let before = calls(&counted);
    let with = put(&["Shapes"], &counted).unwrap();
    let after = calls(&with.bytes);
    let inner: Vec<_> = after
        .iter()
        .filter(|(_, called)| !called.starts_with("request"))
        .cloned()
        .collect();
    assert_eq!(inner, before);
    for (method, _) in before.iter().filter(|(method, _)| !method.starts_with('<')) {
        let own: Vec<&str> = (after.iter().filter(|(m, _)| m == method))
            .map(|(_, called)| called.as_str())
            .collect();
        assert_eq!(own.first(), Some(&"requestBegins"), "{method}");
        assert_eq!(own.last(), Some(&"requestEnds"), "{method}");
    }
    assert_eq!(round_trip(&with.bytes).unwrap(), with.bytes);
}

#[test]
fn places_say_where_instructions_went() {
    let with = put(&["Shapes"], SHAPES).unwrap();
    let [old, new] = [SHAPES, &with.bytes].map(|bytes| Class::read(bytes).unwrap());
    for (method, places) in &with.methods {
        let code = |class: &Class| {
            let of = |m: &&trodden_classfile::class::Method| {
                String::from_utf8_lossy(m.name).into_owned() + &String::from_utf8_lossy(m.descriptor)
                    == *method
            };
            let mut marks = trodden_classfile::code::Marks::default();
            let method = class.methods.iter().find(of).unwrap();
            let code =
                trodden_classfile::code::Code::read(method.code.as_ref().unwrap(), &class.pool, &mut marks);
            code.unwrap().bytes.to_vec()
        };
        let [old, new] = [&old, &new].map(code);
        assert!(places.is_sorted());
        for &(to, from) in places {
            assert_eq!(new[to as usize], old[from as usize], "{method}: {from}");
        }
    }
}

#[test]
fn entries_are_told_from_handlers() {
    // A servlet's entry, as javac writes it.
    let class = servlet();
    let numbers = std::cell::RefCell::new(Vec::new());
    let methods = RequestMethods::new(&["servlet"]).unwrap();
    let with = methods.put_into(&class, |class, method| {
        numbers.borrow_mut().push((class.to_owned(), method.to_owned()));
        5
    });
    let with = with.unwrap().unwrap();
    assert_eq!(*numbers.borrow(), [("a/S".to_owned(), "service".to_owned())]);
    let pool = Class::read(&with.bytes).unwrap().pool;
    let integers = (1..pool.len() as u16).filter_map(|index| pool.raw(index));
    let entry = (5u32 | 2 << ROLE_SHIFT).to_be_bytes();
    assert!(
        integers
            .into_iter()
            .any(|(tag, bytes)| tag == 3 && bytes.starts_with(&entry))
    );
}

/// A method without an operand stack gets room for an exception and an argument.
#[test]
fn there_is_room_on_the_stack() {
    let with = put(&["a.S#service"], &servlet()).unwrap();
    let class = Class::read(&with.bytes).unwrap();
    let code = class.methods[0].code.as_ref().unwrap();
    let mut marks = trodden_classfile::code::Marks::default();
    let code = trodden_classfile::code::Code::read(code, &class.pool, &mut marks).unwrap();
    assert_eq!(code.max_stack, 2);
}

/// With code in it the JVM would register each object of the class.
#[test]
fn an_empty_finalizer_stays_empty() {
    let class = class("finalize", "()V");
    let with = put(&["a.S"], &class).unwrap();
    assert!(with.methods.is_empty());
    assert_eq!(with.refused.len(), 1);
}

fn servlet() -> Vec<u8> {
    let entry = "(Ljakarta/servlet/ServletRequest;Ljakarta/servlet/ServletResponse;)V";
    class("service", entry)
}

/// A class with one method, which does nothing.
fn class(name: &str, descriptor: &str) -> Vec<u8> {
    let mut pool: Vec<u8> = Vec::new();
    let utf8 = |pool: &mut Vec<u8>, text: &str| {
        pool.push(1);
        pool.extend((text.len() as u16).to_be_bytes());
        pool.extend(text.as_bytes());
    };
    utf8(&mut pool, "a/S"); // 1
    pool.extend([7, 0, 1]); // 2
    utf8(&mut pool, "java/lang/Object"); // 3
    pool.extend([7, 0, 3]); // 4
    utf8(&mut pool, name); // 5
    utf8(&mut pool, descriptor); // 6
    utf8(&mut pool, "Code"); // 7
    let mut class = vec![0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 52, 0, 8];
    class.extend(pool);
    class.extend([0, 0x20, 0, 2, 0, 4, 0, 0, 0, 0, 0, 1]);
    class.extend([0, 0, 0, 5, 0, 6, 0, 1, 0, 7, 0, 0, 0, 13]);
    // max_stack, max_locals, code: return.
    class.extend([0, 0, 0, 3, 0, 0, 0, 1, 0xb1, 0, 0, 0, 0]);
    class.extend([0, 0]);
    class
}
