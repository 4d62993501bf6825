//! The extension `io.modelcontextprotocol/skills` (SEP-2640): its capability and its methods, which
//! the SDK does not know.

use rmcp::ErrorData;
use rmcp::model::{
    CustomRequest, CustomResult, ExtensionCapabilities, JsonObject, PaginatedRequestParams,
    ProtocolVersion,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use skills_core::Registry;

use super::invalid_request::{bad_params, explain};
use super::{directory, skills};

const ID: &str = "io.modelcontextprotocol/skills";

/// The methods of the extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    ListSkills,
    GetSkill,
    ReadDirectory,
}

impl Method {
    const ALL: [Self; 3] = [Self::ListSkills, Self::GetSkill, Self::ReadDirectory];

    /// Its name in a request.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ListSkills => "skills/list",
            Self::GetSkill => "skills/get",
            Self::ReadDirectory => "resources/directory/read",
        }
    }
}

/// Parameters of `skills/get`.
#[derive(Deserialize)]
pub struct GetParams {
    /// The address of a `SKILL.md`.
    pub uri: String,
}

/// Parameters of `resources/directory/read`.
#[derive(Deserialize)]
pub struct DirectoryParams {
    /// The address of a folder.
    pub uri: String,
    /// Where the page begins.
    #[serde(flatten)]
    pub page: PaginatedRequestParams,
}

/// The capability to announce.
pub fn capability() -> ExtensionCapabilities {
    let mut settings = JsonObject::new();
    settings.insert("directoryRead".into(), true.into());
    [(ID.to_owned(), settings)].into()
}

/// The method with this name; `None` if the extension has none.
pub fn method(name: &str) -> Option<Method> {
    Method::ALL.into_iter().find(|method| method.name() == name)
}

/// Runs a request of protocol `version`.
pub async fn run(
    registry: &Registry,
    method: Method,
    request: CustomRequest,
    version: Option<ProtocolVersion>,
) -> Result<CustomResult, ErrorData> {
    let params = Params { request, version };
    let mut result = match method {
        Method::ListSkills => skills::list(registry, params.optional()?).await?,
        Method::GetSkill => skills::get(registry, params.required()?).await?,
        Method::ReadDirectory => directory::read(registry, params.required()?).await?,
    };
    if params.is_modern() {
        // As the SDK has them for the other lists: nothing is promised for any time.
        result.insert("resultType".into(), "complete".into());
        result.insert("ttlMs".into(), json!(0));
        result.insert("cacheScope".into(), "private".into());
    }
    Ok(CustomResult(result.into()))
}

/// The parameters of a request.
struct Params {
    request: CustomRequest,
    version: Option<ProtocolVersion>,
}

impl Params {
    fn is_modern(&self) -> bool {
        let version = self.version.as_ref();
        version.is_some_and(|version| *version >= ProtocolVersion::V_2026_07_28)
    }

    fn required<P: DeserializeOwned>(&self) -> Result<P, ErrorData> {
        let params = self.optional()?;
        params.ok_or_else(|| self.refuse("missing"))
    }

    fn optional<P: DeserializeOwned>(&self) -> Result<Option<P>, ErrorData> {
        match &self.request.params {
            None | Some(Value::Null) => Ok(None),
            Some(params @ Value::Object(_)) => {
                let decoded = P::deserialize(params);
                decoded
                    .map(Some)
                    .map_err(|_| self.refuse(&explain::<P>(params.clone())))
            }
            Some(_) => Err(self.refuse("must be an object")),
        }
    }

    fn refuse(&self, problem: &str) -> ErrorData {
        bad_params(&self.request.method, problem, self.version.clone())
    }
}
