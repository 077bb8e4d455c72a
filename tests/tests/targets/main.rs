//! Every target on the oldest and the newest JDK: counts, single steps, structure graphs, coverage. One trial
//! per target and JDK.

mod counts;
mod covered;
mod steps;
mod structural;

use libtest_mimic::Arguments;
use trodden_tests::Result;

fn main() -> Result<()> {
    let arguments = Arguments::from_args();
    let trials = [
        counts::trials()?,
        steps::trials()?,
        structural::trials()?,
        covered::trials()?,
    ];
    libtest_mimic::run(&arguments, trials.into_iter().flatten().collect()).exit()
}
