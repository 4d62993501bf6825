//! The program as a process, on real sockets: engines that start late, restart or end, instances that
//! are killed, and functions that fail.

mod agents;
mod damaged;
mod doctor;
mod files;
mod handlers;
mod serve;
mod worker;
