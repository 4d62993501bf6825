//! The program as a process, on real sockets: engines that start late, restart or end, instances that
//! are killed, and functions that fail.

mod access;
mod agents;
mod backup;
mod collisions;
mod connections;
mod damaged;
mod doctor;
mod doctor_engine;
mod files;
mod folders;
mod handlers;
mod log;
mod log_of_work;
mod serve;
mod worker;
