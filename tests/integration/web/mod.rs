//! The web page of `skills serve`, over real HTTP.

mod access;
mod reading;
mod site;
