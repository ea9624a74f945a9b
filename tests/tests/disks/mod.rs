//! x
use crate::other::Role;
pub(crate) const ROLES: &[(&str, Role)] = &[];
