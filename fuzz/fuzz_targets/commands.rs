//! Any sequence of commands through two handles, with the store opened anew in between and a clock that
//! jumps: what is shown follows a map of values, a refused command writes nothing, and what was recorded
//! replays to the live state.
#![no_main]

use arbitrary::Arbitrary;
use bilinc_fuzz::steps::Step;
use bilinc_fuzz::world::World;
use libfuzzer_sys::fuzz_target;

#[derive(Debug, Arbitrary)]
enum Move {
    Do { by: bool, step: Step },
    Wait { minutes: i16 },
    Leap { minutes: i32 },
    Reopen,
}

fuzz_target!(|moves: Vec<Move>| {
    let mut world = World::default();
    for next in moves.iter().take(40) {
        match next {
            Move::Do { by, step } => world.step(*by, step),
            Move::Wait { minutes } => world.wait(i32::from(*minutes)),
            Move::Leap { minutes } => world.wait(*minutes),
            Move::Reopen => world.reopen(),
        }
    }
    world.end();
});
