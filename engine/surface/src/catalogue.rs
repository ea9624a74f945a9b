//! Each operation that a user can ask for, defined once. Help texts, routes and tools derive from
//! here, and tests show that no surface forgot one.

/// What an operation is for; the order of the overview.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// Putting memories in and keeping them right.
    Remember,
    /// Reading them.
    Find,
    /// The dream pass.
    Dream,
    /// Going back.
    Back,
    /// The store as a whole.
    Store,
}

impl Group {
    /// All of them, in the order of the overview.
    pub const ALL: [Self; 5] = [Self::Remember, Self::Find, Self::Dream, Self::Back, Self::Store];

    /// Its heading.
    #[must_use]
    pub const fn heading(self) -> &'static str {
        match self {
            Self::Remember => "Remember",
            Self::Find => "Find",
            Self::Dream => "Tidy up (the dream pass)",
            Self::Back => "Go back",
            Self::Store => "Look after the store",
        }
    }
}

/// An operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operation {
    /// Its name on the command line; words are separated by one space.
    pub name: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    /// What it is for.
    pub group: Group,
    /// Whether it appends to the log.
    pub writes: bool,
    /// Whether it takes something out of use.
    pub destructive: bool,
    /// The HTTP method of its route; empty when it is for the machine alone that holds the store.
    pub method: &'static str,
    /// The path of its route; empty when it has none.
    pub path: &'static str,
}

impl Operation {
    /// Whether it can only be asked for on the machine that holds the store.
    #[must_use]
    pub const fn is_local(&self) -> bool {
        self.path.is_empty()
    }
}

/// Defines the operations and the list of all of them.
macro_rules! operations {
    ($($constant:ident: $group:ident, $effect:ident, $name:literal, $summary:literal, $method:literal, $path:literal;)*) => {
        $(
            #[doc = $summary]
            pub const $constant: Operation = Operation {
                name: $name,
                summary: $summary,
                group: Group::$group,
                writes: effect::$effect.0,
                destructive: effect::$effect.1,
                method: $method,
                path: $path,
            };
        )*

        /// Every operation, in the order of the overview.
        pub const ALL: &[Operation] = &[$($constant),*];
    };
}

/// Whether an operation writes, and whether it destroys.
mod effect {
    pub(super) const READS: (bool, bool) = (false, false);
    pub(super) const WRITES: (bool, bool) = (true, false);
    pub(super) const DESTROYS: (bool, bool) = (true, true);
}

operations! {
    COMMIT: Remember, WRITES, "commit", "Save a memory, or replace one",
        "POST", "/api/cloud/memory/commit";
    REVISE: Remember, WRITES, "revise", "Replace the value of a memory that exists",
        "POST", "/api/cloud/memory/revise";
    CONFIRM: Remember, WRITES, "confirm", "Say that a memory is still right",
        "POST", "/api/cloud/memory/confirm";
    FORGET: Remember, DESTROYS, "forget", "Take a memory out of use, so that an undo can bring it back, or erase it for good",
        "POST", "/api/cloud/memory/forget";
    FLAG: Remember, WRITES, "flag", "Mark a memory for a person to look at",
        "POST", "/api/cloud/memory/flag";
    UNFLAG: Remember, WRITES, "unflag", "Clear the open flags of a memory",
        "POST", "/api/cloud/memory/unflag";
    RECALL: Find, READS, "recall", "Search memories, best match first",
        "POST", "/api/cloud/memory/recall";
    GET: Find, READS, "get", "Show one memory, now or as it was",
        "GET", "/api/cloud/memory/entry";
    LIST: Find, READS, "list", "List memories, page by page",
        "POST", "/api/cloud/memory/list";
    FLAGS: Find, READS, "flags", "List the memories with open flags",
        "POST", "/api/cloud/memory/list";
    HISTORY: Find, READS, "history", "Show what happened to one memory, newest first",
        "POST", "/api/cloud/memory/history";
    DREAM_START: Dream, WRITES, "dream start", "Begin a dream pass and get its candidates",
        "POST", "/api/cloud/memory/dreams";
    DREAM_APPLY: Dream, DESTROYS, "dream apply", "Carry out actions on the candidates of a dream",
        "POST", "/api/cloud/memory/dreams/{id}/apply";
    DREAM_SHOW: Dream, READS, "dream show", "Show a dream: candidates, actions, report, undo",
        "GET", "/api/cloud/memory/dreams/{id}";
    DREAM_LIST: Dream, READS, "dream list", "List dreams, newest first",
        "GET", "/api/cloud/memory/dreams";
    DREAM_UNDO: Dream, DESTROYS, "dream undo", "Take back a whole dream pass, within seven days",
        "POST", "/api/cloud/memory/dreams/{id}/undo";
    UNDO: Back, DESTROYS, "undo", "Take back any set of changes: a session, a writer, an import, a time",
        "POST", "/api/cloud/memory/undo";
    SNAPSHOT_CREATE: Back, WRITES, "snapshot create", "Name the present position, at constant cost",
        "POST", "/api/cloud/memory/snapshots";
    SNAPSHOT_LIST: Back, READS, "snapshot list", "List snapshots, newest first",
        "GET", "/api/cloud/memory/snapshots";
    DIFF: Back, READS, "diff", "Compare two snapshots, positions or times, or one of them with now",
        "POST", "/api/cloud/memory/diff";
    ROLLBACK_PREVIEW: Back, READS, "rollback preview", "See what going back to a snapshot would change",
        "POST", "/api/cloud/memory/rollback/preview";
    ROLLBACK_EXECUTE: Back, DESTROYS, "rollback execute", "Bring back the state of a snapshot",
        "POST", "/api/cloud/memory/rollback";
    LOG: Store, READS, "log", "Show the events themselves, newest first",
        "GET", "/api/cloud/memory/log";
    STATUS: Store, READS, "status", "Show what a store holds and how it is",
        "GET", "/api/cloud/status";
    VERIFY: Store, READS, "verify", "Prove the whole log: checksums, order, hash chain, state",
        "GET", "/api/cloud/memory/verify";
    BACKUP: Store, READS, "backup", "Copy the store as of one position, while others write",
        "", "";
    SALVAGE: Store, WRITES, "salvage", "Put a damaged store in order and keep all that is whole",
        "", "";
    EXPORT: Store, READS, "export", "Write all memories as JSON Lines",
        "GET", "/api/cloud/memory/export";
    IMPORT: Store, WRITES, "import", "Read memories from JSON Lines, all or none",
        "POST", "/api/cloud/memory/import";
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_unique_and_what_destroys_also_writes() {
        let names: BTreeSet<_> = ALL.iter().map(|operation| operation.name).collect();
        assert_eq!(names.len(), ALL.len());
        assert!(ALL.iter().all(|operation| operation.writes || !operation.destructive));
        let routed = |operation: &Operation| operation.path.starts_with("/api/cloud/") && !operation.method.is_empty();
        assert!(ALL.iter().all(|operation| routed(operation) != operation.is_local()));
    }
}
