//! The rules about links.

use skills_core::Severity::{Note, Warning};

use super::format::rules;
use crate::rule::{Group::Links, Rule};

rules! {
DEAD_SKILL = Rule::new("L001", Links, Warning, [
    "a link to a skill that does not exist",
    "An agent that follows an `iii://` or `skill://` link to nothing gets an error in the middle of \
     its work. All sources are searched at once.",
], ["[mail](iii://resend/emial)", "[mail](iii://resend/email)"]);
DEAD_FILE = Rule::new("L002", Links, Warning, [
    "a link to a file that does not exist",
    "A relative link leads to a file of the skill. An agent that follows it to nothing gets an \
     error in the middle of its work.",
], ["[api](references/gone.md)", "[api](references/api.md)"]);
CASE = Rule::new("L003", Links, Warning, [
    "a link in the wrong case",
    "The link works on file systems that ignore case, and on no other and no server.",
], ["[api](References/API.md)", "[api](references/api.md)"]).fixable();
OUTSIDE = Rule::new("L004", Links, Warning, [
    "a link that leads out of the skills, or an address that cannot be read",
    "Only the folder of a skill travels with it. Copy the file into it, or write the address as \
     `iii://id` or `skill://id/file`.",
], ["[x](../../../notes.md)", "[x](references/notes.md)"]);
DEAD_SECTION = Rule::new("L005", Links, Warning, [
    "a section whose function no worker offers",
    "`iii://fn/a/b` calls the function `a::b`. No connected worker offers it, so a reader gets an \
     error.",
], ["[orders](iii://fn/shop/gone)", "[orders](iii://fn/shop/orders)"]);
CYCLE = Rule::new("L006", Links, Note, [
    "skills that link to each other in a cycle",
    "A client that resolves one of them loads all of them. Keep the links in one direction, or name the \
     other skill without a link.",
], ["a links to b, b links to a", "a links to b"]);
}
