//! Hot subpaths in real JVMs.

use trodden_tests::Result;
use trodden_tests::jdk::Jdk;
use trodden_tests::subpaths::{Subpath, report};

/// Lines of the two ways through the loop of `OddEven.java`.
const EVEN: &str = ":7";
const ODD: &str = ":9";

/// The loop of OSP section 5: each way is hot, and so are both together. It is the example of docs/subpaths.md.
#[test]
fn a_loop_of_odd_and_even_iterations_shows_both_together() -> Result<()> {
    for jdk in Jdk::ends()? {
        // Whether probes skip path ends or the consumer does makes no difference.
        for options in ["", ",skipping=consumer"] {
            let (json, text) = report(&jdk, "OddEven", options)?;
            let all = json.subpaths;
            let of =
                |length| -> Vec<&Subpath> { all.subpaths.iter().filter(|s| s.length == length).collect() };
            // Four blocks per iteration. Wherever eight begin, they are the same ones.
            let eight = of(8);
            assert!(eight[0].share > 0.75, "{text}");
            assert!(
                eight[0].text.contains(EVEN) && eight[0].text.contains(ODD),
                "{text}"
            );
            // Four are one way, or the other.
            let four = of(4);
            assert!(
                four[..2].iter().all(|s| (0.35..0.65).contains(&s.share)),
                "{text}"
            );
            let ways: Vec<bool> = four[..2].iter().map(|s| s.text.contains(EVEN)).collect();
            assert!(ways[0] != ways[1], "{text}");
            assert!(
                four[..2]
                    .iter()
                    .all(|s| s.text.contains(EVEN) != s.text.contains(ODD)),
                "{text}"
            );
            // 200 calls of 20,000 iterations, four blocks each.
            assert!((all.blocks / 16e6 - 1.0).abs() < 0.1, "{} blocks", all.blocks);
            assert!(all.peak_bytes <= 64 << 10);
            assert!(text.contains("[OddEven.loop:"), "{text}");
        }
    }
    Ok(())
}
