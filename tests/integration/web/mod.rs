//! The web page of `skills serve`, over real HTTP.

mod access;
mod reading;
pub mod site;
