//! The program among processes: engines that come late, restart and die, instances
//! that are killed, handlers that misbehave. Real processes, real sockets.

mod agents;
mod doctor;
mod files;
mod handlers;
mod serve;
mod worker;
