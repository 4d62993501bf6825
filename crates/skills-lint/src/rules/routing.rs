//! The rules about how requests find a skill.

use skills_core::Severity::{Note, Warning};

use super::format::rules;
use crate::rule::{Group::Routing, Rule};

rules! {
STOP_WORDS = Rule::new("R001", Routing, Warning, [
    "a trigger of stop words",
    "A trigger matches a request that has all its words. One of stop words alone matches almost \
     every request, or none if it has no word at all.",
], ["triggers: [the, how to]", "triggers: [fill a form, pdf form]"]);
SAME_DESCRIPTION = Rule::new("R002", Routing, Warning, [
    "two skills with the same description",
    "No agent can choose between them. Say in each what the other does not do, or remove one.",
], ["two skills with `description: Reads files.`", "`Reads PDF files.` and `Reads CSV files.`"]);
SIMILAR = Rule::new("R003", Routing, Note, [
    "two skills that a request can hardly tell apart",
    "A request with the words of one finds the other just as well. Use different words in title, \
     description and triggers, or join the skills.",
], ["`Make a chart` and `Make charts`", "`Make a chart` and `Read a table`"]);
UNREACHED = Rule::new("R004", Routing, Warning, [
    "a skill that its own title and description do not find",
    "A search for its own words returns other skills first, so no request reaches it. Use words \
     that the others do not have.",
], ["a skill `Notes` among ten with longer texts about notes", "a skill `Meeting minutes`"]);
}
