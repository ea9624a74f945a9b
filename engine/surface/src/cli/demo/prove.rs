//! The proof: the whole log is read and hashed anew.

use bilinc::Memory;

use super::error::{Step, check, check_count};
use super::page::Page;

/// Verifies the log.
pub(super) fn prove(page: &mut Page<'_>, memory: &Memory) -> Step {
    page.heading("6. Nothing of this was lost: the log holds it all, and proves it")?;
    page.command("verify", "")?;
    let verified = memory.verify(&mut |_, _| ())?;
    let head = memory.head()?;
    check(verified.head == head, || format!("verify ends at {:?}, the log at {head:?}", verified.head))?;
    check(verified.state_equal, || "the state is not the fold of the log".into())?;
    check(verified.erased_bodies == 0, || "a body was erased".into())?;
    check_count("events", verified.events, head.seq.get())?;
    page.say(&format!(
        "{} events in {} operations, {} bytes: every checksum holds, and the state folded anew",
        verified.events, verified.operations, verified.bytes
    ))?;
    page.say(&format!("from the log is the state that answers. Head of the chain at position {}:", head.seq))?;
    page.say(&head.chain.to_string())?;
    page.gap()
}
