//! The web page of `skills serve`, over real HTTP.

mod access;
mod finding;
mod live;
mod outage;
mod prompts;
mod reading;
mod serving;
pub mod site;
mod versions;
mod writing;
