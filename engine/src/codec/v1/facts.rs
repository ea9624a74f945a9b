//! What is said of an entry.

use std::sync::Arc;

use bilinc_core::{Actor, Facts, MemoryType};
use bincode::{BorrowDecode, Encode};

/// What a writer says of an entry. The importance is left out where it is 1.
#[derive(Encode, BorrowDecode)]
pub(in crate::codec) struct FactsV1<'a> {
    memory_type: u8,
    importance: Option<f64>,
    source: NameV1<'a>,
    session_id: NameV1<'a>,
    canonical: Option<bool>,
    priority: Option<f64>,
    ttl: Option<f64>,
}

/// A source or session id.
#[derive(Encode, BorrowDecode)]
enum NameV1<'a> {
    /// The acting writer's own.
    Actor,
    None,
    Other(&'a str),
}

impl<'a> NameV1<'a> {
    fn new(name: Option<&'a Arc<str>>, own: Option<&Arc<str>>) -> Self {
        match name {
            name if name == own => Self::Actor,
            None => Self::None,
            Some(name) => Self::Other(name),
        }
    }

    fn into_name(self, own: Option<&Arc<str>>) -> Option<Arc<str>> {
        match self {
            Self::Actor => own.cloned(),
            Self::None => None,
            Self::Other(name) => Some(name.into()),
        }
    }
}

impl<'a> FactsV1<'a> {
    pub(in crate::codec) fn new(facts: &'a Facts, actor: Option<&Actor>) -> Self {
        // Exactly 1 is the default and the one number left out.
        #[allow(clippy::float_cmp)]
        let importance = (facts.importance != 1.0).then_some(facts.importance);
        Self {
            memory_type: facts.memory_type as u8,
            importance,
            source: NameV1::new(Some(&facts.source), actor.map(|actor| &actor.source)),
            session_id: NameV1::new(facts.session_id.as_ref(), actor.and_then(|actor| actor.session_id.as_ref())),
            canonical: facts.canonical,
            priority: facts.priority,
            ttl: facts.ttl,
        }
    }

    pub(in crate::codec) fn into_facts(self, actor: Option<&Actor>) -> Result<Facts, String> {
        let memory_type = MemoryType::ALL
            .get(usize::from(self.memory_type))
            .ok_or_else(|| format!("memory type number {}", self.memory_type))?;
        Ok(Facts {
            memory_type: *memory_type,
            importance: self.importance.unwrap_or(1.0),
            source: self.source.into_name(actor.map(|actor| &actor.source)).unwrap_or_default(),
            session_id: self.session_id.into_name(actor.and_then(|actor| actor.session_id.as_ref())),
            canonical: self.canonical,
            priority: self.priority,
            ttl: self.ttl,
        })
    }
}
