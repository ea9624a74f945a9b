//! `status`.

use super::Tool;
use crate::catalogue;
use crate::mcp::limits::{Omitted, Shortened};
use crate::mcp::outputs;
use crate::mcp::reply::Making;

pub(super) const STATUS: Tool = Tool {
    name: "status",
    title: catalogue::STATUS.summary,
    about: "Show what the store holds and how it is: numbers of memories, limits, open flags, and dreams that can still \
            be undone.",
    operations: &[catalogue::STATUS],
    idempotent: true,
    fields: &[],
    output: outputs::status,
    run: |call| {
        let handle = call.store.read()?;
        let status = handle.status(call.store.path())?;
        Making::of(&handle).cut(status.store.dreams.len(), |cut| {
            let mut omitted = Omitted::default();
            let mut view = status.clone();
            cut.list("dreams", &mut view.store.dreams, &mut omitted);
            Ok(Shortened { view, omitted })
        })
    },
};
