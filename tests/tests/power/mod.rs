//! Power cuts, kills and failing disks at every single call of many small workloads.
//!
//! In the usual form each call is tried with one seed; `BILINC_POWER_SEEDS=50` tries fifty. A failure
//! names its case, which `BILINC_POWER_WORKLOAD`, `BILINC_POWER_CALL` and `BILINC_POWER_SEED` repeat.

mod cuts;
mod errors;
mod kills;
mod plan;
mod recoveries;
mod told;
mod waits;
mod workloads;
mod world;
