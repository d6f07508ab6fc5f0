//! The built program, from the outside: arguments in; status, streams, files and rows out.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod backup;
mod backup_crash;
mod backup_kills;
mod cold;
mod crash;
mod damage;
mod deletion;
mod dry_run;
mod env;
mod fields;
mod filters;
mod folders;
mod formats;
mod from;
#[cfg(feature = "hub")]
mod hub;
mod ids;
mod import;
mod import_crash;
mod import_law;
mod indexes;
mod jsonl;
mod lineage;
mod listing;
#[cfg(any(feature = "hub", feature = "object-store"))]
mod loopback;
mod names;
#[cfg(feature = "object-store")]
mod objects;
mod pages;
#[cfg(feature = "parquet")]
mod parquet;
mod programs;
mod prompts;
mod pruning;
mod publishing;
mod reading;
mod report;
mod sanitize;
mod scanning;
mod schemas;
mod sealing;
mod searching;
mod share;
mod showing;
mod store;
mod streams;
mod times;
mod titles;
mod traces;
mod tree;
mod upkeep;
#[cfg(feature = "hub")]
mod upload;
mod usage;
mod verify;
