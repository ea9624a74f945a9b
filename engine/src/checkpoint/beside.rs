//! Packs decoded beside the thread that reads and proves them, so that both have work to do.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, Scope};

/// So many packs wait to be decoded or to be taken: more would only fill memory.
const MOST_WAITING: usize = 8;

/// What a pack held, and how many rows that were.
type Decoded<D> = Result<(D, u64), String>;

/// Decodes packs in their order. Called once more without one, at the end, it gives what it has held back.
pub(crate) type Decode<'a, D> = dyn FnMut(Option<&[u8]>) -> Decoded<D> + Send + 'a;

/// Where packs are given to a thread, and where it answers.
type Ends<D> = (Sender<Option<Vec<u8>>>, Receiver<Decoded<D>>);

/// A thread that decodes; without one, packs are decoded by whoever gives them.
pub(crate) struct Beside<'a, D> {
    decode: &'a Mutex<&'a mut Decode<'a, D>>,
    thread: Option<Ends<D>>,
    waiting: usize,
}

impl<'a, D: Send> Beside<'a, D> {
    /// Starts the thread, which ends with this.
    pub(crate) fn start<'scope>(scope: &'scope Scope<'scope, '_>, decode: &'a Mutex<&'a mut Decode<'a, D>>) -> Self
    where
        'a: 'scope,
        D: 'scope,
    {
        let (give, given) = channel::<Option<Vec<u8>>>();
        let (answer, answers) = channel();
        let work = move || {
            let mut decode = decode.lock().unwrap_or_else(PoisonError::into_inner);
            for pack in given {
                // A panic is a doubt about what was kept, as where it is read.
                let decoded = catch_unwind(AssertUnwindSafe(|| decode(pack.as_deref())));
                if answer.send(decoded.unwrap_or_else(|_| Err(GONE.to_owned()))).is_err() {
                    break;
                }
            }
        };
        let thread = Builder::new().name("bilinc-decode".to_owned()).spawn_scoped(scope, work);
        Self { decode, thread: thread.is_ok().then_some((give, answers)), waiting: 0 }
    }

    /// Without a thread: for what is little.
    pub(crate) fn without(decode: &'a Mutex<&'a mut Decode<'a, D>>) -> Self {
        Self { decode, thread: None, waiting: 0 }
    }

    /// Gives a pack, and takes what was decoded meanwhile, in the order in which it was given; says how many rows
    /// were taken. Without a pack it takes all that is left.
    pub(crate) fn pass(&mut self, pack: Option<&[u8]>, mut take: impl FnMut(D)) -> Result<u64, String> {
        let Some((give, answers)) = &self.thread else {
            let mut decode = self.decode.lock().unwrap_or_else(PoisonError::into_inner);
            let (decoded, rows) = decode(pack)?;
            take(decoded);
            return Ok(rows);
        };
        give.send(pack.map(<[u8]>::to_vec)).map_err(|_| GONE)?;
        self.waiting = self.waiting.saturating_add(1);
        let may_wait = if pack.is_some() { MOST_WAITING } else { 0 };
        let mut rows = 0_u64;
        loop {
            let answer = if self.waiting > may_wait {
                answers.recv().map_err(|_| GONE)?
            } else {
                match answers.try_recv() {
                    Ok(answer) => answer,
                    Err(_) => return Ok(rows),
                }
            };
            self.waiting = self.waiting.saturating_sub(1);
            let (decoded, of_pack) = answer?;
            take(decoded);
            rows = rows.saturating_add(of_pack);
        }
    }
}

const GONE: &str = "the thread that decodes broke off";

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// Gives each pack back at the next one, or at the end.
    fn late() -> impl FnMut(Option<&[u8]>) -> Decoded<Vec<u8>> + Send {
        let mut held = Vec::new();
        move |pack| {
            if pack.is_some_and(|pack| pack.contains(&99)) {
                return Err("no".to_owned());
            }
            let rows = pack.map_or(0, <[u8]>::len) as u64;
            Ok((std::mem::replace(&mut held, pack.unwrap_or_default().to_vec()), rows))
        }
    }

    #[test]
    fn packs_come_back_in_their_order_and_none_is_missing() {
        let (mut one, mut two) = (late(), late());
        let (one, two) = (Mutex::new(&mut one as &mut Decode<'_, _>), Mutex::new(&mut two as &mut Decode<'_, _>));
        std::thread::scope(|scope| {
            for mut beside in [Beside::start(scope, &one), Beside::without(&two)] {
                let (mut all, mut rows) = (Vec::new(), 0);
                for number in 0..90 {
                    rows += beside.pass(Some(&[number, 100 + number]), |pack| all.extend(pack)).unwrap();
                }
                rows += beside.pass(None, |pack| all.extend(pack)).unwrap();
                assert_eq!(rows, 180);
                assert!(all.into_iter().eq((0..90_u8).flat_map(|number| [number, 100 + number])));
            }
        });
    }

    #[test]
    fn a_pack_that_cannot_be_decoded_is_told_of_at_the_end_at_the_latest() {
        let (mut one, mut two) = (late(), late());
        let (one, two) = (Mutex::new(&mut one as &mut Decode<'_, _>), Mutex::new(&mut two as &mut Decode<'_, _>));
        std::thread::scope(|scope| {
            for mut beside in [Beside::start(scope, &one), Beside::without(&two)] {
                let first = beside.pass(Some(&[99]), drop);
                assert!(first.and_then(|_| beside.pass(None, drop)).is_err());
            }
        });
    }
}
