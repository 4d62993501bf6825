//! The steps: one file for each feature, and `calls.rs` for those that several use.

mod calls;
mod collisions;
mod doctor;
mod eval;
mod files;
mod functions;
mod history;
mod ids;
mod index;
mod internal_namespaces;
mod leases;
mod markdown;
mod notifications;
mod outage;
mod prompts_get;
mod prompts_register;
mod published_skills;
mod search;
mod skill_folders;
mod skills_fetch;
mod skills_nested;
mod skills_register;
mod skills_resources;
mod uri;
