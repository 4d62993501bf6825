//! The functions on the engine that are tools.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::model::{Tool, ToolAnnotations};
use serde::Deserialize;
use serde_json::value::to_raw_value;
use serde_json::{Value, json};
use skills_core::{Engine, Error, Failure, FunctionId, Json};

use super::limits::MAX_NAME_LENGTH;
use super::{McpSettings, builtin_tools, schema, tool_name};

/// How long the engine may take to list or describe its functions.
const LIST_TIMEOUT: Duration = Duration::from_secs(10);
/// How many functions the engine describes in one call.
const BATCH_SIZE: usize = 32;

/// The functions on the engine that are tools.
pub struct EngineTools {
    engine: Arc<dyn Engine>,
    settings: McpSettings,
    /// The tools as clients last knew them; `None` until the first list.
    listed: Mutex<Option<Vec<Tool>>>,
    /// Held while `listed` is set or compared, so that no change in between is missed.
    listing: tokio::sync::Mutex<()>,
    /// Functions with too long names that were logged.
    logged: Mutex<HashSet<String>>,
}

/// A function as the engine describes it.
#[derive(Clone, Debug, Default, Deserialize)]
struct FunctionInfo {
    function_id: String,
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    metadata: Value,
    #[serde(default)]
    request_schema: Option<Value>,
    #[serde(default)]
    response_schema: Option<Value>,
    /// Set if the engine has no such function.
    #[serde(default)]
    error: Option<Value>,
}

#[derive(Deserialize)]
struct FunctionList {
    functions: Vec<FunctionInfo>,
}

impl EngineTools {
    /// The tools on `engine`.
    pub fn new(engine: Arc<dyn Engine>, settings: McpSettings) -> Self {
        Self {
            engine,
            settings,
            listed: Mutex::default(),
            listing: tokio::sync::Mutex::default(),
            logged: Mutex::default(),
        }
    }

    /// Every tool, with its schemas.
    pub async fn tools(&self) -> Result<Vec<Tool>, Error> {
        if self.listed().is_some() {
            return self.load().await;
        }
        let _listing = self.listing.lock().await;
        let tools = self.load().await?;
        self.listed().get_or_insert_with(|| tools.clone());
        Ok(tools)
    }

    /// Whether the tools differ from those that clients last knew.
    pub async fn changed(&self) -> bool {
        let _listing = self.listing.lock().await;
        let Ok(tools) = self.load().await else {
            // The next list returns the error.
            return false;
        };
        match &mut *self.listed() {
            Some(before) if *before != tools => {
                *before = tools;
                true
            }
            Some(_) | None => false,
        }
    }

    fn listed(&self) -> MutexGuard<'_, Option<Vec<Tool>>> {
        self.listed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn load(&self) -> Result<Vec<Tool>, Error> {
        let mut functions = self.functions().await?;
        functions.retain(|function| self.is_tool(function) && self.has_name(function));
        functions.sort_by(|a, b| a.function_id.cmp(&b.function_id));
        functions.dedup_by(|a, b| a.function_id == b.function_id);
        let mut tools = Vec::with_capacity(functions.len());
        for batch in functions.chunks(BATCH_SIZE) {
            let ids = batch.iter().map(|function| function.function_id.as_str());
            match self.describe(ids.collect()).await? {
                Some(described) => tools.extend(described.iter().filter_map(tool)),
                // Without schemas.
                None => tools.extend(batch.iter().filter_map(tool)),
            }
        }
        Ok(tools)
    }

    /// The ids of the functions that are not internal.
    pub async fn callable(&self) -> Result<Vec<FunctionId>, Error> {
        let functions = self.functions().await?;
        let id = |function: &FunctionInfo| function.function_id.parse::<FunctionId>().ok();
        let ids = functions.iter().filter_map(id);
        Ok(ids.filter(|id| !id.is_internal()).collect())
    }

    /// The function behind the tool with this name.
    pub async fn find(&self, name: &str) -> Result<Option<FunctionId>, Error> {
        let Some(Ok(id)) = tool_name::function_id(name).map(|id| id.parse::<FunctionId>()) else {
            return Ok(None);
        };
        let info = match self.describe(vec![id.as_str()]).await? {
            Some(mut described) => described.pop(),
            // The call will show whether it exists.
            None => Some(FunctionInfo {
                function_id: id.to_string(),
                ..FunctionInfo::default()
            }),
        };
        let is_tool = info.is_some_and(|info| info.error.is_none() && self.is_tool(&info));
        Ok(is_tool.then_some(id))
    }

    /// Calls a function. Dropping the future abandons the call.
    pub async fn call(&self, function: &FunctionId, payload: Json) -> Result<Option<Json>, Error> {
        let timeout = self.settings.tool_timeout;
        let output = self.engine.call(function.as_str(), payload, timeout).await;
        output.map_err(|cause| Error::Function {
            function: function.clone(),
            cause,
        })
    }

    fn is_tool(&self, function: &FunctionInfo) -> bool {
        let Ok(id) = function.function_id.parse::<FunctionId>() else {
            return false;
        };
        let exposed = function.metadata["mcp"]["expose"].as_bool();
        let mut hidden = self.settings.hide.iter();
        !self.settings.no_functions
            && !id.is_internal()
            && exposed.unwrap_or(!self.settings.require_expose)
            && function.metadata["internal"] != json!(true)
            && !hidden.any(|prefix| id.as_str().starts_with(prefix))
    }

    fn has_name(&self, function: &FunctionInfo) -> bool {
        let id = &function.function_id;
        if let Some(name) = tool_name::tool_name(id) {
            // A built-in tool takes precedence over a function with its name.
            return builtin_tools::find(&name).is_none();
        }
        let mut logged = self.logged.lock().unwrap_or_else(PoisonError::into_inner);
        if logged.insert(id.clone()) {
            tracing::warn!(
                id,
                "not a tool: its name would exceed {MAX_NAME_LENGTH} characters"
            );
        }
        false
    }

    async fn functions(&self) -> Result<Vec<FunctionInfo>, Error> {
        let functions = self
            .call_engine("engine::functions::list", &json!({}))
            .await?;
        Ok(functions.unwrap_or_default())
    }

    /// Functions with their schemas; `None` if the engine cannot describe functions.
    async fn describe(&self, ids: Vec<&str>) -> Result<Option<Vec<FunctionInfo>>, Error> {
        let input = json!({ "function_ids": ids });
        self.call_engine("engine::functions::info", &input).await
    }

    /// Calls a function of the engine that returns functions; `None` if it does not exist.
    async fn call_engine(
        &self,
        function: &str,
        input: &Value,
    ) -> Result<Option<Vec<FunctionInfo>>, Error> {
        let doing = || "list the functions of the engine".to_owned();
        let payload = to_raw_value(input).expect("a value is JSON");
        let output = match self.engine.call(function, payload, LIST_TIMEOUT).await {
            Ok(Some(output)) => output,
            Ok(None) | Err(Failure::Absent) => return Ok(None),
            Err(cause) => {
                return Err(Error::State {
                    doing: doing(),
                    cause,
                });
            }
        };
        let decoded = serde_json::from_str::<FunctionList>(output.get());
        let decoded = decoded.map_err(|e| Error::Source {
            doing: doing(),
            problem: format!("unexpected output of `{function}`: {e}"),
        })?;
        Ok(Some(decoded.functions))
    }
}

/// A function as a tool.
fn tool(function: &FunctionInfo) -> Option<Tool> {
    if function.error.is_some() {
        // Unregistered after it was listed.
        return None;
    }
    let name = tool_name::tool_name(&function.function_id)?;
    let description = function.description.as_deref().map(str::trim);
    let description = description.filter(|text| !text.is_empty()).map_or_else(
        || format!("Calls `{}` on the engine.", function.function_id),
        str::to_owned,
    );
    let input = schema::input(function.request_schema.as_ref());
    let mut tool = Tool::new(name, description, input);
    let metadata = &function.metadata;
    let titles = [
        &metadata["mcp"]["title"],
        &metadata["title"],
        &metadata["label"],
    ];
    let title = titles.iter().find_map(|title| title.as_str());
    tool.title = title.map(str::to_owned);
    tool.output_schema = schema::output(function.response_schema.as_ref());
    let annotations = [&metadata["mcp"]["annotations"], &metadata["annotations"]];
    let annotations = annotations.into_iter().find(|value| value.is_object());
    // Ignore malformed annotations.
    tool.annotations =
        annotations.and_then(|value| serde_json::from_value::<ToolAnnotations>(value.clone()).ok());
    Some(tool)
}
