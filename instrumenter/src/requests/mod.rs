//! Methods that handle requests get probes around them, whether they have others or not: a second pass over
//! a class, of which most have nothing for it.

mod select;

pub use select::RequestMethods;

use trodden_numbering::Plan;

use crate::cfg::{Cfg, CfgError};
use crate::classfile::class::{Class, Head, Method};
use crate::classfile::code::Code;
use crate::classfile::decode;
use crate::classfile::opcodes::kind;
use crate::classfile::pool::PoolBuilder;
use crate::classfile::reader::Read;
use crate::error::{ClassError, SkipReason};
use crate::ids::{CounterSlot, MethodId};
use crate::options::Shim;
use crate::prepare::{
    HUGE_METHOD_LIMIT, is_empty_finalizer, lacks_frames, read_frames, signature, write_class,
};
use crate::probes::request::Request;
use crate::probes::{CutPaths, ProbedMethod};
use crate::rewrite::{MethodInput, ProbeInput, RewriteError, rewrite};
use crate::scratch::Scratch;
use select::Role;

/// Bits of a request's number from here on say how far outside of the handler it is: what is further inside
/// gives the request its name.
pub const ROLE_SHIFT: u32 = 29;

/// A class with probes around its methods that handle requests.
#[derive(Debug)]
pub struct WithRequests {
    /// Its internal name.
    pub class: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Each such method: name and descriptor, and (new, old) bytecode index of its instructions, ascending.
    pub methods: Vec<(String, Vec<(u32, u32)>)>,
    /// Methods that take no such probes: name and descriptor, and why.
    pub refused: Vec<(String, &'static str)>,
}

impl RequestMethods {
    /// Puts probes around the methods of a class that handle requests. `number`: of a method's requests, by
    /// its class and name. `None` if the class has no such method.
    ///
    /// # Errors
    /// If the bytes are not a well-formed class file.
    pub fn put_into(
        &self,
        bytes: &[u8],
        number: impl Fn(&str, &str) -> u32,
    ) -> Result<Option<WithRequests>, ClassError> {
        let outside = |fault| ClassError::new(None, None, fault);
        let head = Head::read(bytes).map_err(outside)?;
        let name = decode(head.name).into_owned();
        if !self.may_be_in(&name) {
            return Ok(None);
        }
        let class = head
            .rest()
            .map_err(|fault| ClassError::new(Some(&name), None, fault))?;
        let roles: Vec<Option<Role>> = (class.methods.iter())
            .map(|method| self.role(&class, method))
            .collect();
        if roles.iter().all(Option::is_none) {
            return Ok(None);
        }
        let mut scratch = Scratch::default();
        let mut pool = PoolBuilder::new(&class.pool);
        let mut out = Vec::new();
        let (mut methods, mut refused) = (Vec::new(), Vec::new());
        for (method, role) in class.methods.iter().zip(roles) {
            let Some(role) = role else {
                out.extend_from_slice(method.raw);
                continue;
            };
            let number = number(&name, &decode(method.name)) | (role as u32) << ROLE_SHIFT;
            let written = wrap(&class, method, number, &mut pool, &mut scratch, &mut out)
                .map_err(|fault| ClassError::new(Some(&name), Some(signature(method)), fault))?;
            match written {
                Ok(places) => methods.push((signature(method), places)),
                Err(reason) => {
                    out.extend_from_slice(method.raw);
                    refused.push((signature(method), reason.text()));
                }
            }
        }
        Ok(Some(WithRequests {
            bytes: write_class(&class, &pool, &out),
            class: name,
            methods,
            refused,
        }))
    }
}

/// Appends a method with probes around it; where its instructions went, or why it stays unchanged.
fn wrap<'a>(
    class: &Class<'a>,
    method: &Method<'a>,
    number: u32,
    pool: &mut PoolBuilder<'_, 'a>,
    scratch: &mut Scratch,
    out: &mut Vec<u8>,
) -> Read<Result<Vec<(u32, u32)>, SkipReason>> {
    let attribute = method.code.as_ref().expect("methods without code handle nothing");
    let code = Code::read(attribute, &class.pool, &mut scratch.marks)?;
    if code.kinds & kind::SUBROUTINE != 0 {
        return Ok(Err(SkipReason::Subroutines));
    }
    if is_empty_finalizer(method, &code) {
        return Ok(Err(SkipReason::EmptyFinalizer));
    }
    let Cfg { blocks, graph } = match Cfg::build(&code, &mut scratch.marks, &mut scratch.cfg) {
        Ok(cfg) => cfg,
        Err(CfgError::Fault(fault)) => return Err(fault),
        Err(CfgError::RunsOffTheEnd) => return Ok(Err(SkipReason::RunsOffTheEnd)),
    };
    let frames = read_frames(class, &code, &mut scratch.marks)?;
    if lacks_frames(class, frames.as_ref(), &blocks, &scratch.marks) {
        return Ok(Err(SkipReason::MissingFrame));
    }
    let input = MethodInput {
        class,
        method,
        code: &code,
        frames: frames.as_ref(),
        blocks: &blocks,
        graph: &graph,
    };
    let plan = Plan::idle(&graph);
    let probes = ProbeInput {
        plan: &plan,
        strategy: &Request,
        structural: None,
        method: ProbedMethod {
            first_counter: CounterSlot(0),
            method_id: MethodId(number),
            counter_base: None,
            begun: None,
            register: code.max_locals,
            one_end: true,
            is_initialiser: false,
            cut_paths: CutPaths::None,
            graphs: &[],
        },
        shim: Shim::AT_LOAD,
    };
    let before = out.len();
    let written = rewrite(&input, Some(&probes), pool, &mut scratch.rewrite, out);
    Ok(match written {
        Ok(length) if length > HUGE_METHOD_LIMIT && code.len() <= HUGE_METHOD_LIMIT => {
            out.truncate(before);
            Err(SkipReason::HugeMethodLimit)
        }
        Ok(_) => Ok(scratch.rewrite.pc_map(&code)),
        Err(RewriteError::Fault(fault)) => return Err(fault),
        Err(RewriteError::PoolFull) => Err(SkipReason::ConstantPoolFull),
        Err(RewriteError::Layout(_)) => Err(SkipReason::CodeTooLarge),
        Err(RewriteError::TooManyLocals) => Err(SkipReason::TooManyLocals),
    })
}
