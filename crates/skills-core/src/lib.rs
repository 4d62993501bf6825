//! The rules of the skills registry: ids, addresses, front matter, markdown, the index,
//! prompts, search, and the [`Registry`] that applies them to an engine's state and to
//! read-only sources.
//!
//! Start at [`Registry`]: its methods are the use cases, one file each in `registry/`. Every
//! rule has a file of its name. `image` decides which value of a row is current, `catalogue`
//! makes the calls for it.
//!
//! Deliberately absent: files, sockets, a clock, the environment and an async runtime. The
//! crate reaches the outside through two ports, [`Engine`] and [`Source`].

pub mod agent_skill;
mod call_arguments;
mod catalogue;
mod change;
mod content;
mod cut;
mod digest;
mod engine;
mod error;
mod escape;
mod file_path;
mod folder_uri;
pub mod front_matter;
mod function_id;
pub mod generated_skill_md;
mod headings;
mod health;
mod history;
mod image;
pub mod index;
mod key_locks;
mod lease;
pub mod limits;
pub mod links;
mod lint_settings;
mod markdown;
pub mod media_type;
mod nearest;
mod nesting;
mod on_conflict;
mod page;
mod precondition;
mod prompt;
mod prompt_name;
mod prompt_output;
mod prompt_template;
mod published;
mod read_counts;
mod registry;
mod row;
mod row_slot;
mod search_index;
mod segment;
mod skill;
mod skill_folder;
mod skill_id;
mod source;
mod state_scope;
mod text_part;
mod timestamp;
mod uri;
mod usage;
mod visibility;
mod written_address;

pub use call_arguments::check_call;
pub use change::{Change, Listener, Topic};
pub use content::{Content, ContentData, Mime, from_section};
pub use digest::Digest;
pub use engine::{Engine, Failure, Json, Pending, StoredRow};
pub use error::{Error, Kind};
pub use escape::{escape_control, escape_control_in_lines, is_hidden, quote};
pub use file_path::FilePath;
pub use folder_uri::FolderUri;
pub use front_matter::{Document, FrontMatter, Triggers};
pub use function_id::{FunctionId, INTERNAL_NAMESPACES};
pub use generated_skill_md::GeneratedSkillMd;
pub use headings::Slugs;
pub use health::{Check, FindingGroup, HealthFinding};
pub use history::{Actor, VersionHead, VersionOp, VersionRef};
pub use index::{IndexPart, IndexView};
pub use lease::{
    EntryName, ExpiryPlan, ExpirySchedule, LeaseHead, LeaseSettings, LeaseTerms, Owner, Ttl,
};
pub use limits::{
    BODY_MAX, CHAIN_BYTES_MAX, CHAIN_MAX, DESCRIPTION_MAX, HEADING_MAX, ID_MAX, NESTING_MAX,
    REQUEST_MAX, SEGMENT_MAX,
};
pub use lint_settings::{LintSettings, NoSeverity, Severity};
pub use markdown::{Head, shown_title};
pub use nearest::nearest;
pub use nesting::parsed_text;
pub use on_conflict::OnConflict;
pub use page::{Page, PageRequest, page};
pub use precondition::{Current, Precondition};
pub use prompt::{Prompt, PromptArgument, check_arguments, check_description, check_given};
pub use prompt_name::PromptName;
pub use prompt_output::{RenderedPrompt, messages, user_message};
pub use prompt_template::{TemplateArgument, is_argument_name, undeclared_names};
pub use published::{FolderEntry, PublishedFile, PublishedSkill, PublishedSkills, Unlisted};
pub use read_counts::ReadFrom;
pub use registry::{
    BackupRows, DocumentList, FetchOptions, FunctionCard, Garbage, GarbageEntry, HistoryGarbage,
    IndexText, LeaseListener, Log, LogEntry, LogRequest, Match, Missing, OwnerState, PromptCard,
    PromptHead, PromptMenuEntry, PromptRegistration, PromptVersion, Reason, RegisteredFindings,
    Registry, RegistrySettings, RegistrySizes, Renewed, Resolved, ResolvedSkill, Resource,
    ResourceTemplate, Rollback, RolledBack, Routing, RoutingTrial, ScopeNames, Search,
    SearchResult, SkillCard, SkillDetails, SkillHead, SkillRegistration, SkillVersion, Stats,
    TEMPLATES, WorkerCard,
};
pub use skill::{Skill, check_body};
pub use skill_folder::{FileContent, FolderFile, Manifest, SKILL_MD, SkillFolder};
pub use skill_id::SkillId;
pub use skills_search::marks;
pub use source::{
    DOCUMENT_ORIGINS, FoundDocument, Listing, Lookup, Origin, PromptText, Skipped, Source,
    SourcePrompt, SourceSkill, body_hash, file_of_body, manifests_of_bodies,
};
pub use uri::{FILE_SCHEME, ResourceUri, SCHEME, TextPart};
pub use usage::UsageCounts;
pub use visibility::{Visibility, VisibilityRules};
pub use written_address::{written_id, written_uri};
