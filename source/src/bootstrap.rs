//! Bootstrap methods of `invokedynamic` (JVMS 4.7.23).

use trodden_classfile::class::Class;
use trodden_classfile::pool::{Member, Pool};

/// An entry of the BootstrapMethods attribute.
#[derive(Clone, Debug)]
pub struct Bootstrap<'a> {
    /// The method that links the call site.
    pub method: Member<'a>,
    /// Pool indices of its static arguments.
    pub arguments: Vec<u16>,
}

impl<'a> Bootstrap<'a> {
    /// Entry number `wanted`, if the class has it.
    pub fn read(class: &Class<'a>, wanted: u16) -> Option<Self> {
        let table = class.attributes().find(|a| a.name == b"BootstrapMethods")?;
        let mut reader = table.reader();
        let count = reader.u2().ok()?;
        for index in 0..count {
            let method = reader.u2().ok()?;
            let length = reader.u2().ok()?;
            if index != wanted {
                reader.bytes(usize::from(length) * 2).ok()?;
                continue;
            }
            let arguments = (0..length).map(|_| reader.u2().ok()).collect::<Option<_>>()?;
            let method = class.pool.method_handle(method)?;
            return Some(Bootstrap { method, arguments });
        }
        None
    }

    /// Returns true if it makes functions of lambdas and method references.
    pub fn is_lambda(&self) -> bool {
        self.method.class == b"java/lang/invoke/LambdaMetafactory"
    }

    /// Returns true for the bootstrap method of that class and name.
    pub fn is(&self, class: &[u8], name: &[u8]) -> bool {
        self.method.class == class && self.method.name == name
    }

    /// The method that a function calls.
    pub fn implementation(&self, pool: &Pool<'a>) -> Option<Member<'a>> {
        pool.method_handle(*self.arguments.get(1)?)
    }
}
