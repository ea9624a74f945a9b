//! Commands on a disk that fails, writes in part, or loses power at any call: what was answered or shown
//! is there afterwards, and of what was in flight all or nothing.
#![no_main]

use arbitrary::Arbitrary;
use bilinc_fuzz::steps::Step;
use bilinc_fuzz::world::{Then, Trouble, World};
use libfuzzer_sys::fuzz_target;

#[derive(Debug, Arbitrary)]
enum Move {
    Do { by: bool, step: Step },
    Troubled { by: bool, step: Step, trouble: Trouble, then: Then },
    Cut { seed: u8 },
    Wait { minutes: i16 },
}

fuzz_target!(|moves: Vec<Move>| {
    let mut world = World::default();
    for next in moves.iter().take(24) {
        match next {
            Move::Do { by, step } => world.step(*by, step),
            Move::Troubled { by, step, trouble, then } => world.troubled(*by, step, *trouble, *then),
            Move::Cut { seed } => world.cut(*seed),
            Move::Wait { minutes } => world.wait(i32::from(*minutes)),
        }
    }
    world.end();
});
