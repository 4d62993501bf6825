//! The limits of this crate. `docs/limits.md` lists them.

/// Characters of one segment of an id, or of the name of a prompt. More is an error.
pub const SEGMENT_MAX: usize = 64;
/// Bytes of an id. More is an error.
pub const ID_MAX: usize = 1024;
/// Bytes of a heading in an address. More is an error.
pub const HEADING_MAX: usize = 1024;
/// Lines of a text, times the quotes and list items in each other that they may be in. A text with
/// more is shown as it is, without headings and links.
pub const NESTING_MAX: usize = 10_000_000;
/// Bytes of a body. More is an error.
pub const BODY_MAX: usize = 262_144;
/// Characters of a description in the index. The rest is cut.
pub const DESCRIPTION_MAX: usize = 140;
/// Characters of a title or a trigger in the index and in answers. The rest is cut.
pub const SHOWN_TITLE_MAX: usize = 140;
/// Triggers that a match is shown with.
pub const SHOWN_TRIGGERS_MAX: usize = 10;
/// Characters of the `description` of a skill in lists. The rest is cut, and a folder with a
/// longer one is no Agent Skill.
pub const MAX_SKILL_DESCRIPTION_CHARS: usize = 1_024;
/// Characters of the `compatibility` of an Agent Skill. A folder with a longer one is none.
pub const MAX_COMPATIBILITY_CHARS: usize = 500;
/// Bytes of the path of a file in a skill folder. A file with a longer one is not served, with
/// a report.
pub const MAX_FILE_PATH_BYTES: usize = 1_024;
/// Files of a skill folder. With more, its body is served and its files are not.
pub const MAX_SKILL_FILES: usize = 512;
/// Bytes of the files of a skill folder. With more, its body is served and its files are not.
pub const MAX_SKILL_FILES_BYTES: usize = 16_777_216;
/// Bytes of a text of the index. Beyond, subtrees are folded.
pub const INDEX_BYTES: usize = 32_768;
/// Skills on a page of a list. More is an error.
pub const LIST_MAX: usize = 1_000;
/// Skills on a page of the MCP tool `skill__list`, unless it asks for another number.
pub const LIST_PAGE: usize = 50;
/// Addresses of one fetch. More is an error.
pub const FETCH_MAX: usize = 256;
/// Bytes of a request that is routed. More is an error.
pub const REQUEST_MAX: usize = 262_144;
/// Matches of a search, unless a limit is given. Half of them for a routed request.
pub const DEFAULT_MATCHES: usize = 10;
/// Matches of one search or routed request. More is an error.
pub const MAX_MATCHES: usize = 100;
/// Links of one document that are followed. The chain is then reported as incomplete.
pub const LINKS_MAX: usize = 1_000;
/// Skills of a resolved chain. The chain is then reported as incomplete.
pub const CHAIN_MAX: usize = 256;
/// Bytes of a resolved chain. The requested skill is always included; then the chain is
/// reported as incomplete.
pub const CHAIN_BYTES_MAX: usize = 8_388_608;
/// Dead links that are listed with a resolved chain. The chain is then reported as incomplete.
pub const MISSING_MAX: usize = 1_000;
/// Bytes of front matter without its fences. With more it is not read: it stays a part of the
/// body of a skill, and a prompt is skipped, with a report.
pub const MAX_FRONT_MATTER_BYTES: usize = 65_536;
/// Values (keys, texts, lists, maps) of front matter. With more it is not read: it stays a part
/// of the body of a skill, and a prompt is skipped, with a report.
pub const MAX_FRONT_MATTER_VALUES: usize = 4_096;
/// Lists and maps inside each other in front matter. More is as too many values.
pub const MAX_FRONT_MATTER_DEPTH: usize = 16;
/// Bytes of the description of a prompt, or of one of its arguments. More is an error.
pub const MAX_PROMPT_DESCRIPTION_BYTES: usize = 4_096;
/// Arguments that a prompt declares. More is an error.
pub const MAX_PROMPT_ARGUMENTS: usize = 64;
/// Bytes of the name of an argument. More is an error.
pub const MAX_ARGUMENT_NAME_BYTES: usize = 256;
/// Bytes of the text of a prompt with its arguments in place. More is an error.
pub const MAX_RENDERED_PROMPT_BYTES: usize = 8_388_608;
/// Bytes of the id of a function. More is an error. Twice the longest address, whose slashes
/// become `::`.
pub const MAX_FUNCTION_ID_BYTES: usize = 2_048;
/// Bytes of the name of an owner. More is an error.
pub const MAX_OWNER_BYTES: usize = 256;
/// Milliseconds of a lease: 365 days. More is an error.
pub const MAX_LEASE_MS: u64 = 31_536_000_000;
/// Skills whose uses are counted between two writes of the counts. More are not counted.
pub const MAX_COUNTED_SKILLS: usize = 100_000;
/// Versions of a skill or prompt that are kept, unless `history.versions` says otherwise.
pub const DEFAULT_VERSIONS: usize = 20;
/// The largest `history.versions`.
pub const MAX_VERSIONS: usize = 100;
/// Changes of one log. More is an error.
pub const MAX_LOG_ENTRIES: usize = 10_000;
