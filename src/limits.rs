//! Every limit: its value, the setting that changes it, and what happens beyond it.
//!
//! The values are the constants in the `limits.rs` of each crate. `docs/limits.md` is written from
//! this table; a test compares them.

use std::fmt::{self, Write};
use std::time::Duration;

use agent3md::limits as agents;
use skills_access::limits as access;
use skills_core::limits as core;
use skills_files::limits as files;
use skills_iii::limits as iii;
use skills_lint::limits as lint;
use skills_mcp::limits as mcp;
use skills_search::limits as search;
use skills_web::limits as web;

/// Bytes of `config.yaml`. A larger one is a warning, and the defaults apply.
pub const MAX_CONFIG_BYTES: usize = 1_048_576;

/// One limit.
#[derive(Debug)]
pub struct Limit {
    /// What is limited.
    pub what: &'static str,
    /// How much.
    pub value: Amount,
    /// The setting in `config.yaml` that changes it.
    pub setting: Option<&'static str>,
    /// What happens beyond it.
    pub beyond: &'static str,
}

/// The value of a limit.
#[derive(Clone, Copy, Debug)]
pub enum Amount {
    /// A number of things.
    Count(usize),
    /// A size.
    Bytes(usize),
    /// A duration.
    Time(Duration),
}

use Amount::{Bytes, Count, Time};

const fn limit(what: &'static str, value: Amount, beyond: &'static str) -> Limit {
    Limit {
        what,
        value,
        setting: None,
        beyond,
    }
}

impl Limit {
    const fn set_by(mut self, setting: &'static str) -> Self {
        self.setting = Some(setting);
        self
    }
}

/// Every limit, by the part of the program that enforces it. The tables below have one row per
/// line, so they are not formatted.
pub const LIMITS: &[(&str, &[Limit])] = &[
    ("Skills and prompts", CONTENT),
    ("Files", FILES),
    ("Workers", WORKERS),
    ("State", STATE),
    ("MCP", MCP),
    ("Web page", WEB),
    ("Process", PROCESS),
    ("Lint", LINT),
];

#[rustfmt::skip]
const CONTENT: &[Limit] = &[
    limit("characters of a segment of an id, or of the name of a prompt", Count(core::SEGMENT_MAX), "an error"),
    limit("bytes of an id", Bytes(core::ID_MAX), "an error"),
    limit("bytes of a heading in an address", Bytes(core::HEADING_MAX), "an error"),
    limit("skills whose uses are counted between two writes of the counts", Count(core::MAX_COUNTED_SKILLS), "more are not counted"),
    limit("bytes of a body", Bytes(core::BODY_MAX), "an error"),
    limit("lines of a body, times the quotes and list items in each other that they may be in", Count(core::NESTING_MAX), "the body is shown as it is, without headings and links"),
    limit("characters of a description in the index", Count(core::DESCRIPTION_MAX), "the rest is cut"),
    limit("characters of a title or a trigger in the index and in answers", Count(core::SHOWN_TITLE_MAX), "the rest is cut"),
    limit("triggers that a match is shown with", Count(core::SHOWN_TRIGGERS_MAX), "the others count and are not shown"),
    limit("characters of the `description` of a skill in lists", Count(core::MAX_SKILL_DESCRIPTION_CHARS), "the rest is cut, and a folder is no Agent Skill"),
    limit("characters of the `compatibility` of an Agent Skill", Count(core::MAX_COMPATIBILITY_CHARS), "the folder is no Agent Skill"),
    limit("bytes of a text of the index", Bytes(core::INDEX_BYTES), "subtrees are folded into one line each, or the text becomes a table of pages").set_by("index.max_bytes"),
    limit("skills on a page of a list", Count(core::LIST_MAX), "an error"),
    limit("skills on a page of the MCP tool `skill__list`, unless it asks for another number", Count(core::LIST_PAGE), "a cursor for the next page"),
    limit("addresses of one fetch", Count(core::FETCH_MAX), "an error"),
    limit("bytes of a request to route", Bytes(core::REQUEST_MAX), "an error"),
    limit("matches of a search without a limit", Count(core::DEFAULT_MATCHES), "the rest is on the next page"),
    limit("matches of one search or routed request", Count(core::MAX_MATCHES), "an error"),
    limit("bytes of a word that can be found", Bytes(search::MAX_WORD_BYTES), "it is left out"),
    limit("distinct words of a request that are looked up", Count(search::MAX_REQUEST_TERMS), "the most frequent ones are left out"),
    limit("letters that a request compares to find words near to its unknown ones", Count(search::MAX_COMPARED_LETTERS), "the other unknown words find nothing"),
    limit("bytes of a request that the ranking reads", Bytes(search::MAX_REQUEST_BYTES), "the rest is ignored"),
    limit("bytes of a body whose meaning counts", Bytes(search::MAX_VECTOR_BODY_BYTES), "only its words count"),
    limit("links of one document that are followed", Count(core::LINKS_MAX), INCOMPLETE),
    limit("skills of a resolved chain", Count(core::CHAIN_MAX), INCOMPLETE),
    limit("bytes of a resolved chain", Bytes(core::CHAIN_BYTES_MAX), INCOMPLETE),
    limit("dead links listed with a chain", Count(core::MISSING_MAX), INCOMPLETE),
    limit("bytes of the description of a prompt or of an argument", Bytes(core::MAX_PROMPT_DESCRIPTION_BYTES), "an error"),
    limit("arguments of a prompt", Count(core::MAX_PROMPT_ARGUMENTS), "an error"),
    limit("bytes of the name of an argument", Bytes(core::MAX_ARGUMENT_NAME_BYTES), "an error"),
    limit("bytes of the text of a prompt file with its arguments in place", Bytes(core::MAX_RENDERED_PROMPT_BYTES), "an error"),
    limit("bytes of the id of a function that renders a prompt", Bytes(core::MAX_FUNCTION_ID_BYTES), "an error"),
    limit("bytes of the name of an owner", Bytes(core::MAX_OWNER_BYTES), "an error"),
    limit("time to live of a registration, and grace period after it", Time(Duration::from_millis(core::MAX_LEASE_MS)), "an error; for the setting `leases.grace_ms` a warning, and its default applies"),
    limit("texts of a skill or prompt that are kept as versions, without `history.versions`", Count(core::DEFAULT_VERSIONS), "the oldest is dropped"),
    limit("changes of one log", Count(core::MAX_LOG_ENTRIES), "an error; without a limit the newest"),
    limit("the setting `history.versions`", Count(core::MAX_VERSIONS), "a warning, and its default applies"),
];

#[rustfmt::skip]
const WEB: &[Limit] = &[
    limit("bytes of a form", Bytes(web::MAX_FORM_BYTES), "413"),
    limit("bytes of all forms in progress", Bytes(web::MAX_FORMS_BYTES), "503"),
    limit("the arrival of a form", Time(web::FORM_TIMEOUT), "408"),
    limit("open pages that are told of changes, and at most a quarter of the connections", Count(web::MAX_PAGE_STREAMS), "503, and the page says that it is not told"),
    limit("names of skills and prompts in one event", Count(web::MAX_EVENT_NAMES), "the page is told that anything may have changed"),
    limit("comparing two texts", Time(web::DIFF_TIMEOUT), "the rest is compared in larger pieces"),
];

#[rustfmt::skip]
const LINT: &[Limit] = &[
    limit("findings of one rule in one file", Count(lint::MAX_FINDINGS_PER_RULE), "the rest is counted"),
    limit("characters that are compared for suggestions", Count(lint::MAX_COMPARED_CHARS), "dead links have no suggestion"),
    limit("lines of a body", Count(lint::MAX_BODY_LINES), "a warning"),
    limit("estimated tokens of a body", Count(lint::MAX_BODY_TOKENS), "a warning"),
    limit("blank lines before a text", Count(lint::MAX_BLANK_LINES), "an error"),
    limit("blanks within a line", Count(lint::MAX_BLANKS), "an error"),
    limit("skills that are compared by the search", Count(lint::MAX_RANKED_SKILLS), "R003 and R004 are not applied"),
    limit("characters of a base64 text", Count(lint::MAX_BASE64_CHARS), "a warning"),
];

const INCOMPLETE: &str = "the chain ends and says `complete: false`";

#[rustfmt::skip]
const FILES: &[Limit] = &[
    limit("bytes of `config.yaml`", Bytes(MAX_CONFIG_BYTES), "a warning, and the defaults apply"),
    limit("bytes of a pattern", Bytes(files::MAX_PATTERN_BYTES), "the pattern is reported and matches nothing"),
    limit("opening braces of a pattern", Count(files::MAX_PATTERN_BRACES), "the pattern is reported and matches nothing"),
    limit("bytes of front matter", Bytes(core::MAX_FRONT_MATTER_BYTES), FRONT_MATTER),
    limit("values of front matter", Count(core::MAX_FRONT_MATTER_VALUES), FRONT_MATTER),
    limit("lists and maps inside each other in front matter", Count(core::MAX_FRONT_MATTER_DEPTH), FRONT_MATTER),
    limit("anchors and aliases in front matter", Count(0), FRONT_MATTER),
    limit("files of a skill folder", Count(core::MAX_SKILL_FILES), FOLDER),
    limit("bytes of the files of a skill folder", Bytes(core::MAX_SKILL_FILES_BYTES), FOLDER),
    limit("bytes of the path of a file in a skill folder", Bytes(core::MAX_FILE_PATH_BYTES), SKIPPED),
    limit("bytes of a `.3md` document", Bytes(files::DOCUMENT_MAX), SKIPPED),
    limit("characters of the id of a skill in a `.3md` document", Count(agents::SLUG_MAX), "an error of the document"),
    limit("bytes of a command of a `.3md` document with its values", Bytes(agents::MAX_COMMAND_BYTES), "an error"),
    limit("files and folders visited for one pattern", Count(files::SCAN_ENTRIES_MAX), "the walk ends with a report"),
    limit("folders inside folders", Count(files::SCAN_DEPTH_MAX), SKIPPED),
    limit("folders inside a hidden folder where skills are looked for, to report them", Count(files::HIDDEN_DEPTH_MAX), UNREPORTED),
    limit("files and folders of a hidden folder visited for that", Count(files::HIDDEN_ENTRIES_MAX), UNREPORTED),
    limit("skipped files reported for one pattern", Count(files::SCAN_REPORTS_MAX), "the rest is counted"),
    limit("names in the text of a prompt file that its `arguments` do not have, reported for one file", Count(files::MAX_UNDECLARED_NAMES), "the rest is counted"),
    limit("folders that are watched", Count(files::WATCHED_FOLDERS_MAX), "all are polled"),
];

const UNREPORTED: &str = "left out without a report";
const SKIPPED: &str = "skipped with a report";
const FOLDER: &str = "the body is served, its files are not, with a report";
const FRONT_MATTER: &str =
    "it stays a part of the body of a skill, and a prompt is skipped, with a report";

#[rustfmt::skip]
const WORKERS: &[Limit] = &[
    limit("connections, if the process may open four times as many files", Count(iii::MAX_WORKER_CONNECTIONS), "a new one takes the place of one without a handshake; if there is none, it is refused").set_by("limits.worker_connections"),
    limit("a handshake", Time(iii::HANDSHAKE_TIMEOUT), DISCONNECTED),
    limit("the wait for a worker's introduction", Time(iii::INTRODUCTION_TIMEOUT), "its registrations take effect without one"),
    limit("bytes of a worker's introduction", Bytes(iii::MAX_INTRODUCTION_BYTES), "an error"),
    limit("bytes of registrations kept before an introduction", Bytes(iii::MAX_KEPT_BYTES), "the registrations take effect"),
    limit("a worker that sends nothing, not even a pong", Time(iii::SILENCE_TIMEOUT), DISCONNECTED),
    limit("a worker that reads nothing", Time(iii::WRITE_TIMEOUT), DISCONNECTED),
    limit("bytes of one frame", Bytes(iii::MAX_FRAME_BYTES), "the connection is closed; send a larger message in fragments"),
    limit("bytes of one message", Bytes(iii::MAX_MESSAGE_BYTES), DISCONNECTED).set_by("limits.message_bytes"),
    limit("bytes of one message of the engine, for `skills` as a worker", Bytes(iii::MAX_ENGINE_MESSAGE_BYTES), "it reconnects").set_by("limits.engine_message_bytes"),
    limit("messages that wait for one worker", Count(iii::MAX_QUEUED_MESSAGES), NOT_QUEUED),
    limit("bytes that wait for one worker", Bytes(iii::MAX_QUEUED_BYTES), NOT_QUEUED).set_by("limits.queue_bytes"),
    limit("bytes that wait for all workers", Bytes(iii::MAX_QUEUED_BYTES_OF_ALL), NOT_QUEUED).set_by("limits.all_queues_bytes"),
    limit("bytes that wait for one worker whatever waits for the others", Bytes(iii::MIN_QUEUED_BYTES), "they count among those of all workers"),
    limit("bytes of replies that a worker leaves unread", Bytes(iii::MAX_UNREAD_REPLY_BYTES), "the engine stops reading from it until it has read half"),
    limit("calls of one worker without a result", Count(iii::MAX_OPEN_CALLS), "the engine stops reading from it at half; further calls get `worker_overloaded`").set_by("limits.open_calls"),
    limit("calls to one worker without a result", Count(iii::MAX_PENDING_CALLS), OVERLOADED),
    limit("calls that the registry runs at the same time", Count(iii::MAX_RUNNING_HANDLERS), OVERLOADED),
    limit("calls that the registry starts at the same time", Count(iii::MAX_STARTING_HANDLERS), "further calls wait; callers are served in turn"),
    limit("bytes of replies that the registry keeps to send them later or again", Bytes(iii::MAX_LATE_REPLY_BYTES), "replies of calls wait in their calls; replies of events are sent at once"),
    limit("bytes of input of the calls that the registry runs", Bytes(iii::MAX_RUNNING_HANDLER_BYTES), OVERLOADED),
    limit("bytes of everything that one worker registers", Bytes(iii::MAX_REGISTERED_BYTES), "an error"),
    limit("functions of one worker", Count(iii::MAX_FUNCTIONS_PER_WORKER), "`TOO_MANY_FUNCTIONS`"),
    limit("triggers of one worker", Count(iii::MAX_TRIGGERS_PER_WORKER), "an error"),
    limit("trigger types of one worker", Count(iii::MAX_TRIGGER_TYPES_PER_WORKER), "ignored with a warning"),
    limit("bytes of an id of a function, a trigger or a trigger type, and of the name of a worker", Bytes(iii::MAX_ID_BYTES), "an error"),
    limit("the condition of a trigger", Time(iii::CONDITION_TIMEOUT), "the trigger does not fire"),
    limit("conditions that one worker decides at the same time", Count(iii::MAX_RUNNING_CONDITIONS), "the trigger does not fire"),
    limit("bytes of events that wait for a condition", Bytes(iii::MAX_CONDITION_BYTES), "the trigger does not fire"),
    limit("functions described by one `engine::functions::info`", Count(iii::MAX_INFO_IDS), "an error"),
];

const NOT_QUEUED: &str =
    "calls get `worker_overloaded`, results become `caller_overloaded`, events are dropped";
const OVERLOADED: &str = "further calls get `worker_overloaded`";
const DISCONNECTED: &str = "the connection is closed";

#[rustfmt::skip]
const STATE: &[Limit] = &[
    limit("bytes of a scope or a key", Bytes(iii::MAX_NAME_BYTES), "an error"),
    limit("bytes of a value", Bytes(iii::MAX_VALUE_BYTES), "an error").set_by("limits.value_bytes"),
    limit("keys in a path of `state::update`", Count(iii::MAX_PATH_KEYS), "an error"),
    limit("bytes that wait to be written", Bytes(iii::MAX_QUEUED_WRITE_BYTES), "further writes fail").set_by("limits.write_queue_bytes"),
    limit("lists that are read at the same time", Count(iii::MAX_RUNNING_LISTS), "further lists wait"),
    limit("a wait for the lock of another process", Time(iii::BUSY_TIMEOUT), "the write fails"),
    limit("past writes kept for other processes", Count(iii::MAX_LOG_WRITES as usize), RELOAD),
    limit("bytes of past writes kept for other processes", Bytes(iii::MAX_LOG_BYTES as usize), RELOAD),
    limit("events that wait for a subscriber", Count(iii::MAX_EVENTS), RELOAD),
    limit("bytes of events that wait for a subscriber", Bytes(iii::MAX_EVENT_BYTES), RELOAD),
];

const RELOAD: &str = "the rows are read again";

#[rustfmt::skip]
const MCP: &[Limit] = &[
    limit("bytes of a message: a line on stdin, or a body over HTTP", Bytes(mcp::LINE_MAX), "an error").set_by("limits.http_body_bytes (HTTP)"),
    limit("nesting of the JSON of a message", Count(mcp::DEPTH_MAX), "an error"),
    limit("messages of a batch", Count(mcp::BATCH_MAX), "an error"),
    limit("characters of the name of a tool", Count(mcp::MAX_NAME_LENGTH), "the function is not a tool"),
    limit("subscriptions of one client", Count(mcp::MAX_SUBSCRIPTIONS), "an error"),
    limit("bytes of an address in a subscription", Bytes(mcp::MAX_URI_BYTES), "an error"),
    limit("addresses of one `subscriptions/listen`", Count(mcp::MAX_LISTEN_URIS), "the rest is not accepted"),
    limit("a call of a tool", Time(mcp::TOOL_TIMEOUT), "an error"),
    limit("sessions over HTTP", Count(mcp::MAX_SESSIONS), "the oldest one that was never used is closed for a new one; 503 if there is none").set_by("limits.http_sessions"),
    limit("a session over HTTP without a request or a stream", Time(mcp::SESSION_IDLE_TIMEOUT), "the session is closed"),
    limit("characters of the name of a client in the log", Count(mcp::MAX_CLIENT_NAME_CHARS), "the rest is not shown"),
    limit("names of clients without a session that are known", Count(mcp::MAX_KNOWN_CLIENTS), "the log does not name further ones"),
    limit("bytes of `initialize`", Bytes(mcp::MAX_INITIALIZE_BYTES), "an error"),
    limit("connections over HTTP, if the process may open four times as many files", Count(mcp::MAX_HTTP_CONNECTIONS), "a new one takes the place of one that waits for its client; 503 if there is none").set_by("limits.http_connections"),
    limit("streams over HTTP, and at most half of the connections", Count(mcp::MAX_HTTP_STREAMS), "503"),
    limit("streams of one session over HTTP", Count(mcp::MAX_SESSION_STREAMS), "503"),
    limit("bytes of the head of an HTTP request", Bytes(mcp::MAX_HTTP_HEAD_BYTES), "431"),
    limit("the wait for the head of an HTTP request, also of the next one", Time(mcp::HTTP_HEAD_TIMEOUT), DISCONNECTED),
    limit("the arrival of the body of an HTTP request", Time(mcp::HTTP_BODY_TIMEOUT), "408"),
    limit("the time until the response to an HTTP request begins", Time(mcp::REQUEST_TIMEOUT), "504"),
    limit("an HTTP client that reads nothing of its response", Time(mcp::HTTP_WRITE_TIMEOUT), DISCONNECTED),
    limit("bytes of an HTTP request or response that the next two do not count", Bytes(mcp::MAX_HTTP_SMALL_BYTES), "they count it"),
    limit("bytes of all larger HTTP requests in progress", Bytes(mcp::MAX_HTTP_BODIES_BYTES), "503"),
    limit("bytes of all larger HTTP responses that are not sent", Bytes(mcp::MAX_HTTP_RESPONSES_BYTES), DISCONNECTED),
    limit("requests on stdin without a response", Count(mcp::MAX_STDIO_REQUESTS), PAUSED),
    limit("bytes of requests on stdin without a response", Bytes(mcp::MAX_STDIO_REQUEST_BYTES), PAUSED),
    limit("bytes to stdout that are not written", Bytes(mcp::MAX_STDIO_OUTPUT_BYTES), PAUSED),
    limit("open `subscriptions/listen` on stdin", Count(mcp::MAX_STDIO_LISTENS), "an error"),
];

const PAUSED: &str = "reading pauses";

/// Bytes of log lines that wait for stderr. Further lines are dropped and counted.
pub const MAX_LOG_BUFFER_BYTES: usize = 256 << 10;
/// Lines of one place in the code within [`LOG_REPEATS_PERIOD`]. The rest is counted.
pub const MAX_LOG_COMPLAINTS: usize = 50;
/// How long repeated warnings are counted before one line reports them.
pub const LOG_REPEATS_PERIOD: Duration = Duration::from_secs(10);
/// How long the program waits at its end until the log is written. The rest is dropped.
pub const LOG_FLUSH_TIMEOUT: Duration = Duration::from_secs(1);
/// Files and sockets that the process may open, if the system allows as many.
pub const MAX_FILE_HANDLES: usize = 65_536;

#[rustfmt::skip]
const PROCESS: &[Limit] = &[
    limit("bytes of a token", Bytes(access::MAX_TOKEN_BYTES), "an error"),
    limit("files and sockets, if the system allows as many", Count(MAX_FILE_HANDLES), "an error of whatever needs one"),
    limit("bytes of log lines that wait for stderr", Bytes(MAX_LOG_BUFFER_BYTES), "further lines are dropped and counted"),
    limit("log lines of one kind in a period; of equal warnings one", Count(MAX_LOG_COMPLAINTS), "one line reports how many follow"),
    limit("the period of the limit of log lines", Time(LOG_REPEATS_PERIOD), "the next ones are logged again"),
    limit("the wait for stderr at the end of the program", Time(LOG_FLUSH_TIMEOUT), "the rest of the log is dropped"),
];

const INTRODUCTION: &str = "# Limits

Nothing that a client sends is unbounded. This page lists every limit, and what happens beyond it. A limit
with a setting can be changed in `config.yaml`, as in `limits: {http_sessions: 64}`; a value that is not
valid is reported, and the default applies.
";

/// The text of `docs/limits.md`.
pub fn to_markdown() -> String {
    let mut text = INTRODUCTION.to_owned();
    for (part, limits) in LIMITS {
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "\n## {part}\n\n| limit | value | beyond it | setting |\n|---|---|---|---|\n"
        );
        for limit in *limits {
            let (what, value, beyond) = (limit.what, limit.value, limit.beyond);
            let setting = limit.setting.map(|name| format!("`{name}`"));
            let setting = setting.unwrap_or_default();
            let _ = writeln!(text, "| {what} | {value} | {beyond} | {setting} |");
        }
    }
    text
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Count(count) => write!(f, "{count}"),
            Bytes(bytes) if bytes >= 1 << 20 && bytes % (1 << 20) == 0 => {
                write!(f, "{} MiB", bytes >> 20)
            }
            Bytes(bytes) if bytes >= 1 << 10 && bytes % (1 << 10) == 0 => {
                write!(f, "{} KiB", bytes >> 10)
            }
            Bytes(bytes) => write!(f, "{bytes} B"),
            Time(time) if time.as_secs() >= 172_800 && time.as_secs() % 86_400 == 0 => {
                write!(f, "{} days", time.as_secs() / 86_400)
            }
            Time(time) if time.as_secs() >= 120 && time.as_secs() % 60 == 0 => {
                write!(f, "{} min", time.as_secs() / 60)
            }
            Time(time) if time.subsec_millis() == 0 => write!(f, "{} s", time.as_secs()),
            Time(time) => write!(f, "{} ms", time.as_millis()),
        }
    }
}
