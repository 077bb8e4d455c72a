//! Tests of estimates: those are off by more than a test allows once in a while, and the less often the more
//! data there is.

use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::Result;

/// Tries a test with one amount of data (samples, rounds, time) after the other, and is content with the
/// first that passes. A defect fails with each of them.
///
/// # Errors
/// The last one's, if none passes; those before it are on standard error.
pub fn with_more<T: Copy + Debug>(amounts: &[T], test: impl Fn(T) -> Result<()>) -> Result<()> {
    let mut last = Ok(());
    for &amount in amounts {
        last = catch_unwind(AssertUnwindSafe(|| test(amount)))
            .unwrap_or_else(|_| Err("an assertion does not hold (see above)".into()));
        match &last {
            Ok(()) => break,
            Err(error) => eprintln!("with {amount:?}: {error}"),
        }
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_that_passes_is_enough_and_a_defect_fails() {
        let tried = std::cell::RefCell::new(Vec::new());
        let test = |needed: u32| {
            tried.borrow_mut().clear();
            with_more(&[1, 10, 100], |amount| {
                tried.borrow_mut().push(amount);
                assert!(amount != 1, "too few");
                if amount >= needed {
                    Ok(())
                } else {
                    Err("too few".into())
                }
            })
        };
        assert!(test(10).is_ok());
        assert_eq!(*tried.borrow(), [1, 10]);
        assert!(test(1000).is_err());
        assert_eq!(*tried.borrow(), [1, 10, 100]);
    }
}
