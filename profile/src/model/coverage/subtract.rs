//! What ran for the first time between two readings.

use super::{Covered, MethodCovered, ways};
use crate::model::errors::SubtractError;
use crate::model::map::MethodMap;
use crate::model::places::place;
use crate::model::profile::Profile;

/// Of methods of which something is new, that. A way that is new has both of its blocks, though they may have run before.
pub(super) fn subtract(now: &Profile, before: &Profile) -> Result<Option<Covered>, SubtractError> {
    let Some(all) = &now.coverage else {
        return match before.coverage {
            Some(_) => Err(fell("coverage")),
            None => Ok(None),
        };
    };
    let mut rest = all.clone();
    for (&(class, method), covered) in before.coverage.iter().flat_map(|covered| &covered.methods) {
        let place = place(before, class as usize, method as usize, &now.classes);
        let found = place.and_then(|(class, method)| {
            let map = &now.classes[class].map.methods[method];
            let place = (class as u32, method as u32);
            Some((place, map, rest.methods.get_mut(&place)?))
        });
        let Some((place, map, more)) = found else {
            return Err(fell("coverage"));
        };
        match more.without(covered, map) {
            None => return Err(fell(&format!("coverage of {}{}", map.name, map.descriptor))),
            Some(true) => {}
            Some(false) => {
                rest.methods.remove(&place);
            }
        }
    }
    Ok(Some(rest))
}

fn fell(what: &str) -> SubtractError {
    SubtractError::Fell {
        what: what.to_owned(),
    }
}

impl MethodCovered {
    /// Leaves what is new. Is there anything? `None` if something that ran before did not run now.
    fn without(&mut self, before: &MethodCovered, map: &MethodMap) -> Option<bool> {
        let parts = [(&mut self.blocks, &before.blocks), (&mut self.ways, &before.ways)];
        for (now, then) in parts {
            if now.len() != then.len() || now.iter().zip(then).any(|(now, then)| *then && !now) {
                return None;
            }
            now.iter_mut().zip(then).for_each(|(now, then)| *now &= !then);
        }
        for ((from, to), _) in ways(map).zip(&self.ways).filter(|(_, new)| **new) {
            for block in [from, to] {
                *self.blocks.get_mut(block.index())? = true;
            }
        }
        Some(self.blocks.contains(&true) || self.ways.contains(&true))
    }
}
