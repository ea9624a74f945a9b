//! The order of variants is the format.
