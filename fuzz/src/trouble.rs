//! What goes wrong with a disk, and what is done about it.

use std::io::ErrorKind;

use arbitrary::Arbitrary;
use bilinc::storage::{Fault, FaultKind, FaultStorage};

/// A call that will fail, counted from now on.
#[derive(Debug, Clone, Copy, Arbitrary)]
pub struct Trouble {
    after: u8,
    kind: Kind,
    sticky: bool,
    /// A call that only looks fails rather than one that changes something.
    looks: bool,
}

#[derive(Debug, Clone, Copy, Arbitrary)]
enum Kind {
    Error,
    Full,
    Short(u8),
    /// The machine stops.
    Freeze,
}

/// What is done about a request that failed.
#[derive(Debug, Clone, Copy, Arbitrary)]
pub enum Then {
    Again,
    AgainElsewhere,
    Reopen,
    PowerCut {
        seed: u8,
    },
    /// Another trouble while opening, and then another power cut.
    Twice {
        seed: u8,
        trouble: Trouble,
        cut: Option<u8>,
    },
}

impl Trouble {
    /// The machine stops now.
    pub const STOP: Self = Self { after: 0, kind: Kind::Freeze, sticky: false, looks: false };

    /// Whether every later call fails, too.
    #[must_use]
    pub fn is_sticky(self) -> bool {
        self.sticky
    }

    /// Lets it come.
    pub fn set(self, disk: &FaultStorage) {
        let kind = match self.kind {
            Kind::Error => FaultKind::Error(ErrorKind::Other),
            Kind::Full => FaultKind::Error(ErrorKind::StorageFull),
            Kind::Short(bytes) => FaultKind::ShortWrite(usize::from(bytes) * 4, ErrorKind::StorageFull),
            Kind::Freeze => FaultKind::Freeze,
        };
        let after = u64::from(self.after % 32) + 1;
        let fault = |at| Some(Fault { at, kind, sticky: self.sticky, only: None });
        if self.looks {
            disk.set_look_fault(fault(disk.looks() + after));
        } else {
            disk.set_fault(fault(disk.calls() + after));
        }
    }
}
