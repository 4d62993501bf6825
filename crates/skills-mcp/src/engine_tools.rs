//! The functions on the engine that are tools.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::model::{Tool, ToolAnnotations};
use serde::Deserialize;
use serde_json::value::to_raw_value;
use serde_json::{Value, json};
use skills_core::{Engine, Error, Failure, FunctionId, Json, Registry};

use super::limits::MAX_NAME_LENGTH;
use super::{McpSettings, builtin_tools, schema, tool_name};

/// How long the engine may take to list or describe its functions.
const LIST_TIMEOUT: Duration = Duration::from_secs(10);
/// How many functions the engine describes in one call.
const BATCH_SIZE: usize = 32;

/// The functions on the engine that are tools.
pub struct EngineTools {
    engine: Arc<dyn Engine>,
    registry: Arc<Registry>,
    settings: McpSettings,
    /// The tools as clients last knew them; `None` until the first list.
    listed: Mutex<Option<Loaded>>,
    /// Held while `listed` is set or compared, so that no change in between is missed.
    listing: tokio::sync::Mutex<()>,
    /// Functions with too long names that were logged.
    logged: Mutex<HashSet<String>>,
}

/// The tools at one moment.
#[derive(Clone)]
struct Loaded {
    tools: Vec<Tool>,
    /// The functions that skills and prompts call.
    called: Arc<HashSet<FunctionId>>,
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
    pub fn new(engine: Arc<dyn Engine>, registry: Arc<Registry>, settings: McpSettings) -> Self {
        Self {
            engine,
            registry,
            settings,
            listed: Mutex::default(),
            listing: tokio::sync::Mutex::default(),
            logged: Mutex::default(),
        }
    }

    /// Every tool, with its schemas.
    pub async fn tools(&self) -> Result<Vec<Tool>, Error> {
        if self.listed().is_some() {
            return Ok(self.load().await?.tools);
        }
        let _listing = self.listing.lock().await;
        let loaded = self.load().await?;
        self.listed().get_or_insert_with(|| loaded.clone());
        Ok(loaded.tools)
    }

    /// Whether the tools differ from those that clients last knew.
    pub async fn changed(&self) -> bool {
        let _listing = self.listing.lock().await;
        let Ok(loaded) = self.load().await else {
            // The next list returns the error.
            return false;
        };
        let mut listed = self.listed();
        let Some(before) = listed.as_mut() else {
            return false;
        };
        let changed = before.tools != loaded.tools;
        *before = loaded;
        changed
    }

    /// Whether skills and prompts call other functions than when clients last knew the tools.
    pub async fn called_functions_changed(&self) -> bool {
        let Some(before) = self
            .listed()
            .as_ref()
            .map(|listed| Arc::clone(&listed.called))
        else {
            return false;
        };
        let called = self.registry.called_functions().await;
        called.is_ok_and(|called| called != before)
    }

    fn listed(&self) -> MutexGuard<'_, Option<Loaded>> {
        self.listed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn load(&self) -> Result<Loaded, Error> {
        let mut functions = self.functions().await?;
        let called = self.registry.called_functions().await?;
        functions.retain(|function| self.is_tool(function, &called) && self.has_name(function));
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
        Ok(Loaded { tools, called })
    }

    /// The ids of the functions that are not internal.
    pub async fn callable(&self) -> Result<Vec<FunctionId>, Error> {
        let functions = self.functions().await?;
        let id = |function: &FunctionInfo| function.function_id.parse::<FunctionId>().ok();
        let ids = functions.iter().filter_map(id);
        Ok(ids.filter(|id| !id.is_internal()).collect())
    }

    /// The function behind the tool with this name, and the schema of the tool's arguments.
    pub async fn find(&self, name: &str) -> Result<Option<(FunctionId, Value)>, Error> {
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
        // During an outage of the registry the functions can still be called.
        let called = self.registry.called_functions().await.unwrap_or_default();
        let info = info.filter(|info| info.error.is_none() && self.is_tool(info, &called));
        Ok(info.map(|info| {
            let schema = schema::input(info.request_schema.as_ref());
            (id, Value::Object((*schema).clone()))
        }))
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

    /// A function that skills or prompts call is there for them, and a tool only if it is exposed.
    fn is_tool(&self, function: &FunctionInfo, called: &HashSet<FunctionId>) -> bool {
        let Ok(id) = function.function_id.parse::<FunctionId>() else {
            return false;
        };
        let exposed = function.metadata["mcp"]["expose"].as_bool();
        let mut hidden = self.settings.hide.iter();
        !self.settings.no_functions
            && !id.is_internal()
            && exposed.unwrap_or(!self.settings.require_expose && !called.contains(&id))
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
