//! Conditions in files and merged profiles.

use crate::common::conditions::any_conditions;
use crate::common::*;
use proptest::prelude::*;
use trodden_profile::{
    CodeCopy, CodeRange, CompilerMade, Condition, ConditionKind, MapsWriter, MethodConditions, Outcome,
    Profile, merge,
};

fn with_conditions() -> impl Strategy<Value = Profile> {
    let of_first = |profile: Profile| {
        let map = profile.classes[0].map.methods[0].clone();
        (Just(profile), any_conditions(&map), any::<bool>())
    };
    let one = any_class("a/A").prop_filter("has a method", |class| !class.map.methods.is_empty());
    one.prop_map(|class| profile(vec![class]))
        .prop_flat_map(of_first)
        .prop_map(|(mut profile, mut of, ranges)| {
            let end = profile.classes[0].map.methods[0].code_length;
            if ranges && end > 1 {
                of.left_out = vec![CodeRange { start: 0, end: 1 }];
                of.copies = vec![CodeCopy {
                    start: end - 1,
                    of: 0,
                    length: 1,
                }];
                of.restarts = vec![0];
            }
            profile.conditions.insert((0, 0), of);
            profile
        })
}

proptest! {
    #[test]
    fn files_hold_conditions(profile in with_conditions()) {
        let bytes = profile.to_bytes().unwrap();
        prop_assert_eq!(Profile::read(&bytes).unwrap(), profile);
    }

    #[test]
    fn maps_written_class_by_class_hold_them(mut profile in with_conditions()) {
        let mut writer = MapsWriter::default();
        for (number, class) in profile.classes.iter_mut().enumerate() {
            class.counts.iter_mut().for_each(|counts| *counts = Default::default());
            let of = |method: usize| profile.conditions.get(&(number as u32, method as u32)).cloned();
            let conditions: Vec<_> = (0..class.map.methods.len()).map_while(of).collect();
            writer.add(&class.map, &conditions).unwrap();
        }
        // Nothing is written about a method of which nothing is known.
        profile.conditions.retain(|_, of| *of != MethodConditions::default());
        prop_assert_eq!(writer.finish(&profile.run, &profile.skipped).unwrap(), profile.to_bytes().unwrap());
    }

    #[test]
    fn merging_keeps_what_one_knows(profile in with_conditions()) {
        let mut without = profile.clone();
        without.conditions.clear();
        let [one, other] = [[&profile, &without], [&without, &profile]].map(|both| merge(both).unwrap());
        prop_assert_eq!(&one.conditions, &profile.conditions);
        prop_assert_eq!(one.conditions, other.conditions);
    }

    #[test]
    fn cut_files_are_errors(profile in with_conditions(), cut in 0.0..1.0f64) {
        let bytes = profile.to_bytes().unwrap();
        let end = (bytes.len() as f64 * cut) as usize;
        prop_assert!(Profile::read(&bytes[..end]).is_err());
    }
}

#[test]
fn conditions_that_do_not_fit_are_refused() {
    let good = || {
        let mut profile = profile(vec![class(
            "a/A",
            1,
            vec![(two_ifs("m", None), paths(&[(0, 3)]))],
        )]);
        let conditions = vec![Condition {
            block: 0,
            kind: ConditionKind::If,
            text: Some("a < b".into()),
            outcomes: vec![Outcome::Yes, Outcome::No],
            made: None,
        }];
        let of = MethodConditions {
            conditions,
            ..MethodConditions::default()
        };
        profile.conditions.insert((0, 0), of);
        profile
    };
    assert!(good().to_bytes().is_ok());
    type Spoil = fn(&mut Profile);
    let spoil: [(&str, Spoil); 7] = [
        ("instructions that are left out are not of the method", |p| {
            p.conditions.get_mut(&(0, 0)).unwrap().left_out = vec![CodeRange { start: 1, end: 9999 }];
        }),
        ("instructions that are repeated are not of the method", |p| {
            p.conditions.get_mut(&(0, 0)).unwrap().copies = vec![CodeCopy {
                start: 1,
                of: 1,
                length: 1,
            }];
        }),
        ("blocks where patterns begin again are not of the method", |p| {
            p.conditions.get_mut(&(0, 0)).unwrap().restarts = vec![99];
        }),
        ("there is no method", |p| {
            let of = p.conditions[&(0, 0)].clone();
            p.conditions.insert((0, 9), of);
        }),
        (
            "there are 1 outcomes of a condition, but 2 edges of its block",
            |p| {
                p.conditions.get_mut(&(0, 0)).unwrap().conditions[0]
                    .outcomes
                    .pop();
            },
        ),
        ("conditions are not of the method", |p| {
            p.conditions.get_mut(&(0, 0)).unwrap().conditions[0].block = 99;
        }),
        ("blocks that the compiler made are not of the method", |p| {
            p.conditions.get_mut(&(0, 0)).unwrap().made = vec![(99, CompilerMade::Assert)];
        }),
    ];
    for (expected, spoil) in spoil {
        let mut profile = good();
        spoil(&mut profile);
        let error = profile.to_bytes().unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}
