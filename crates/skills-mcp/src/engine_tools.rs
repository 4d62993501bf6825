//! The functions on the engine that are tools, and calling them.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::model::{Tool, ToolAnnotations};
use serde::Deserialize;
use serde_json::value::to_raw_value;
use serde_json::{Value, json};
use skills_core::{Engine, Error, Failure, FunctionId, Json};

use super::{McpSettings, builtin_tools, schema, tool_name};

/// How long the engine may take to answer a question about itself.
const PATIENCE: Duration = Duration::from_secs(10);
/// How many functions an engine describes in one answer.
const BATCH: usize = 32;

/// The functions behind the port to the engine.
pub struct EngineTools {
    engine: Arc<dyn Engine>,
    settings: McpSettings,
    /// What clients may have seen; none until somebody looked.
    shown: Mutex<Option<Vec<Tool>>>,
    /// Held while that is found out, so that nothing changes unnoticed meanwhile.
    looking: tokio::sync::Mutex<()>,
    /// Functions whose names are too long, each said once.
    told: Mutex<HashSet<String>>,
}

/// A function as the engine describes it.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Described {
    function_id: String,
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    metadata: Value,
    #[serde(default)]
    request_schema: Option<Value>,
    #[serde(default)]
    response_schema: Option<Value>,
    /// Set where the engine has no such function after all.
    #[serde(default)]
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Listed {
    functions: Vec<Described>,
}

impl EngineTools {
    /// The functions on `engine`.
    pub fn new(engine: Arc<dyn Engine>, settings: McpSettings) -> Self {
        Self {
            engine,
            settings,
            shown: Mutex::default(),
            looking: tokio::sync::Mutex::default(),
            told: Mutex::default(),
        }
    }

    /// Every function that is a tool, with its schemas.
    pub async fn tools(&self) -> Result<Vec<Tool>, Error> {
        if self.shown().is_some() {
            return self.look().await;
        }
        let _first = self.looking.lock().await;
        let tools = self.look().await?;
        self.shown().get_or_insert_with(|| tools.clone());
        Ok(tools)
    }

    /// Whether the tools are others than those that were seen.
    pub async fn changed(&self) -> bool {
        let _alone = self.looking.lock().await;
        let Ok(tools) = self.look().await else {
            // Whoever asks next is told that the engine is gone.
            return false;
        };
        match &mut *self.shown() {
            Some(before) if *before != tools => {
                *before = tools;
                true
            }
            Some(_) | None => false,
        }
    }

    fn shown(&self) -> MutexGuard<'_, Option<Vec<Tool>>> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn look(&self) -> Result<Vec<Tool>, Error> {
        let visible = self.listed().await?;
        let mut tools = Vec::with_capacity(visible.len());
        for batch in visible.chunks(BATCH) {
            let ids: Vec<_> = batch.iter().map(|function| &function.function_id).collect();
            let asked = json!({ "function_ids": ids });
            let described: Option<Listed> = self.ask("engine::functions::info", &asked).await?;
            match described {
                Some(Listed { functions }) => tools.extend(functions.iter().filter_map(tool)),
                // An engine that describes nothing: without schemas, then.
                None => tools.extend(batch.iter().filter_map(tool)),
            }
        }
        Ok(tools)
    }

    /// The ids of the functions that may be called from outside.
    pub async fn callable(&self) -> Result<Vec<FunctionId>, Error> {
        let listed: Option<Listed> = self.ask("engine::functions::list", &json!({})).await?;
        let functions = listed.map(|listed| listed.functions).unwrap_or_default();
        let id = |function: &Described| function.function_id.parse::<FunctionId>().ok();
        let ids = functions.iter().filter_map(id);
        Ok(ids.filter(|id| !id.is_internal()).collect())
    }

    async fn listed(&self) -> Result<Vec<Described>, Error> {
        let listed: Option<Listed> = self.ask("engine::functions::list", &json!({})).await?;
        let mut functions = listed.map(|listed| listed.functions).unwrap_or_default();
        functions.retain(|function| self.is_tool(function) && self.has_name(function));
        functions.sort_by(|a, b| a.function_id.cmp(&b.function_id));
        functions.dedup_by(|a, b| a.function_id == b.function_id);
        Ok(functions)
    }

    /// The function that a tool's name stands for, if it is a tool.
    pub async fn named(&self, name: &str) -> Result<Option<FunctionId>, Error> {
        let Some(Ok(function)) = tool_name::function_id(name).map(|id| id.parse::<FunctionId>())
        else {
            return Ok(None);
        };
        let asked = json!({ "function_ids": [function.as_str()] });
        let described: Option<Listed> = self.ask("engine::functions::info", &asked).await?;
        let described = match described {
            Some(Listed { mut functions }) => functions.pop(),
            // An engine that cannot say: calling it will show.
            None => Some(Described {
                function_id: function.to_string(),
                ..Described::default()
            }),
        };
        let known = described.is_some_and(|found| found.error.is_none() && self.is_tool(&found));
        Ok(known.then_some(function))
    }

    /// Calls a function; dropping the future gives the call up.
    pub async fn call(&self, function: &FunctionId, payload: Json) -> Result<Option<Json>, Error> {
        let timeout = self.settings.tool_timeout;
        let answer = self.engine.call(function.as_str(), payload, timeout).await;
        answer.map_err(|cause| Error::Function {
            function: function.clone(),
            cause,
        })
    }

    fn is_tool(&self, function: &Described) -> bool {
        let Ok(id) = function.function_id.parse::<FunctionId>() else {
            return false;
        };
        let exposed = function.metadata["mcp"]["expose"].as_bool();
        !id.is_internal()
            && exposed.unwrap_or(!self.settings.require_expose)
            && function.metadata["internal"] != json!(true)
            && !self
                .settings
                .hide
                .iter()
                .any(|prefix| id.as_str().starts_with(prefix))
    }

    fn has_name(&self, function: &Described) -> bool {
        if let Some(name) = tool_name::tool_name(&function.function_id) {
            // Ours answers under its own names.
            return builtin_tools::find(&name).is_none();
        }
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.insert(function.function_id.clone()) {
            let (id, most) = (&function.function_id, tool_name::NAME_MAX);
            tracing::warn!(
                id,
                "no tool: its name would have more than {most} characters"
            );
        }
        false
    }

    /// Asks the engine about itself; none where it does not know the question.
    async fn ask<T: for<'de> Deserialize<'de>>(
        &self,
        function: &str,
        input: &Value,
    ) -> Result<Option<T>, Error> {
        let doing = || "list the functions of the engine".to_owned();
        let payload = to_raw_value(input).expect("a value is JSON");
        let answer = match self.engine.call(function, payload, PATIENCE).await {
            Ok(answer) => answer,
            Err(Failure::Absent) => None,
            Err(cause) => {
                return Err(Error::State {
                    doing: doing(),
                    cause,
                });
            }
        };
        let Some(answer) = answer else {
            return Ok(None);
        };
        let decoded = serde_json::from_str(answer.get());
        decoded.map(Some).map_err(|e| Error::Source {
            doing: doing(),
            problem: format!("`{function}` answered something else: {e}"),
        })
    }
}

/// A function as a tool.
fn tool(function: &Described) -> Option<Tool> {
    if function.error.is_some() {
        // Gone since it was listed.
        return None;
    }
    let name = tool_name::tool_name(&function.function_id)?;
    let about = function.description.as_deref().map(str::trim);
    let about = about.filter(|about| !about.is_empty()).map_or_else(
        || format!("Calls `{}` on the engine.", function.function_id),
        str::to_owned,
    );
    let input = schema::input(function.request_schema.as_ref());
    let mut tool = Tool::new(name, about, input);
    let metadata = &function.metadata;
    let titles = [
        &metadata["mcp"]["title"],
        &metadata["title"],
        &metadata["label"],
    ];
    let title = titles.iter().find_map(|title| title.as_str());
    tool.title = title.map(str::to_owned);
    tool.output_schema = schema::output(function.response_schema.as_ref());
    let hints = [&metadata["mcp"]["annotations"], &metadata["annotations"]];
    let hints = hints.into_iter().find(|hints| hints.is_object());
    // What a worker says wrongly about itself it has not said.
    tool.annotations =
        hints.and_then(|hints| serde_json::from_value::<ToolAnnotations>(hints.clone()).ok());
    Some(tool)
}
