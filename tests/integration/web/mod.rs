//! The web page of `skills serve`, over real HTTP.

mod access;
mod live;
mod outage;
mod reading;
pub mod site;
mod writing;
