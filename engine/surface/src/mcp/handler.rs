//! The handler: what a client may ask for, whatever the transport.

use std::sync::Arc;

use bilinc::Rejection;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ErrorData, GetPromptRequestParams, GetPromptResponse, Implementation,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer};
use tokio::sync::RwLock;

use super::arguments::Arguments;
use super::instructions;
use super::messages::RawArguments;
use super::store::Store;
use super::tools::{self, Call, Tool};
use super::{knowledge_graph, prompts, resources};

/// Most characters of a name that nobody knows.
const UNKNOWN_CHARS: usize = 80;

/// Which tools are served.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Toolset {
    /// Memories with history, dreams and undo.
    #[default]
    Memory,
    /// Those of the official memory server.
    KnowledgeGraph,
}

/// What a connection may do.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// Whether it may only read.
    pub read_only: bool,
    /// Which tools it has.
    pub tools: Toolset,
}

/// A connection to a store.
///
/// Its calls take effect in the order in which they came: one that writes waits for all before it,
/// one that reads for the writes before it. Calls of different connections run side by side.
#[derive(Clone)]
pub struct Server {
    store: Arc<Store>,
    tools: Arc<[&'static Tool]>,
    options: Options,
    turn: Arc<RwLock<()>>,
    arguments: Option<RawArguments>,
    watch: Option<Arc<Watch>>,
}

/// Is told of each call that was carried out.
type Watch = dyn Fn(Outcome) + Send + Sync;

/// What a call means for its store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// A tool that writes succeeded.
    Written,
    /// It failed because the store's writer has stopped.
    WriterStopped,
    /// Nothing that the store's keeper has to know.
    Other,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("store", &self.store).field("options", &self.options).finish_non_exhaustive()
    }
}

/// A call of something unknown.
fn unknown(what: &str, name: &str) -> ErrorData {
    let name: String = name.chars().take(UNKNOWN_CHARS).collect();
    ErrorData::invalid_params(format!("unknown {what}: {name}"), None)
}

fn stopped(_: tokio::task::JoinError) -> ErrorData {
    ErrorData::internal_error("the call ended without an answer", None)
}

impl Server {
    /// A connection to a store.
    #[must_use]
    pub fn new(store: Arc<Store>, options: Options) -> Self {
        let all = match options.tools {
            Toolset::Memory => tools::ALL,
            Toolset::KnowledgeGraph => knowledge_graph::ALL,
        };
        let tools = all.iter().filter(|tool| !options.read_only || !tool.writes()).collect();
        Self { store, tools, options, turn: Arc::default(), arguments: None, watch: None }
    }

    /// With the raw arguments of its only call, where a transport cannot give them to the call itself.
    #[must_use]
    pub fn with_arguments(self, arguments: Option<RawArguments>) -> Self {
        Self { arguments, ..self }
    }

    /// Tells what each call that was carried out means for the store.
    #[must_use]
    pub fn watched_by(self, watch: impl Fn(Outcome) + Send + Sync + 'static) -> Self {
        Self { watch: Some(Arc::new(watch)), ..self }
    }

    /// Whether there is a tool of that name, and it writes.
    #[must_use]
    pub fn writes(&self, tool: &str) -> bool {
        self.tools.iter().any(|known| known.name == tool && known.writes())
    }

    /// Whether the prompt for a dream pass can be followed with the tools that are there.
    fn has_prompt(&self) -> bool {
        !self.options.read_only && self.options.tools == Toolset::Memory
    }

    /// Waits until no call is being carried out.
    pub(super) async fn idle(&self) {
        drop(self.turn.write().await);
    }

    /// Does blocking work in its turn.
    async fn in_turn<T: Send + 'static>(
        &self,
        writes: bool,
        work: impl FnOnce(&Store) -> T + Send + 'static,
    ) -> Result<T, ErrorData> {
        let store = Arc::clone(&self.store);
        // The lock is fair, so turns come in the order in which they were asked for.
        let done = if writes {
            let turn = Arc::clone(&self.turn).write_owned().await;
            tokio::task::spawn_blocking(move || (work(&store), drop(turn)).0)
        } else {
            let turn = Arc::clone(&self.turn).read_owned().await;
            tokio::task::spawn_blocking(move || (work(&store), drop(turn)).0)
        };
        done.await.map_err(stopped)
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_prompts().enable_resources().build();
        let name = Implementation::new("bilinc", env!("CARGO_PKG_VERSION")).with_title("Bilinc memory");
        let text = match self.options {
            Options { tools: Toolset::KnowledgeGraph, .. } => knowledge_graph::INSTRUCTIONS,
            Options { read_only: true, .. } => instructions::READ_ONLY,
            Options { read_only: false, .. } => instructions::INSTRUCTIONS,
        };
        ServerConfig::new(capabilities).with_server_info(name).with_instructions(text)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.iter().map(|tool| tool.listed()).collect()))
    }

    fn get_tool(&self, name: &str) -> Option<rmcp::model::Tool> {
        self.tools.iter().find(|tool| tool.name == name).map(|tool| tool.listed())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let tool = self.tools.iter().find(|tool| tool.name == request.name);
        let tool: &'static Tool = tool.copied().ok_or_else(|| unknown("tool", &request.name))?;
        let raw = match context.extensions.get::<RawArguments>().or(self.arguments.as_ref()) {
            Some(raw) => Arc::clone(&raw.0),
            None => serde_json::Value::from(request.arguments.unwrap_or_default()).to_string().into(),
        };
        let (cancelled, watch) = (context.ct, self.watch.clone());
        let answered = self.in_turn(tool.writes(), move |store| {
            // Nobody waits for the answer any more, and nothing has been done yet.
            if cancelled.is_cancelled() {
                return Err(Rejection::invalid("request", "cancelled", "cancelled before it began").into());
            }
            let arguments = Arguments::read(tool.fields, &raw)?;
            let answered = (tool.run)(&Call { store, arguments });
            if let Some(watch) = watch {
                watch(match &answered {
                    Ok(_) if tool.writes() => Outcome::Written,
                    Err(failure) if failure.writer_stopped() => Outcome::WriterStopped,
                    _ => Outcome::Other,
                });
            }
            answered
        });
        let result = match answered.await? {
            Ok(reply) => reply.into_result(),
            Err(failure) => failure.into_result(self.store.damage().as_deref()),
        };
        Ok(result.into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let prompts = if self.has_prompt() { vec![prompts::dream_pass()] } else { Vec::new() };
        Ok(ListPromptsResult::with_all_items(prompts))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        if !self.has_prompt() || request.name != prompts::NAME {
            return Err(unknown("prompt", &request.name));
        }
        Ok(prompts::filled(request.arguments.unwrap_or_default())?.into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let graph = (self.options.tools == Toolset::KnowledgeGraph).then(resources::graph);
        Ok(ListResourcesResult::with_all_items(graph.into_iter().collect()))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(vec![resources::template()]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri;
        let read = match self.options.tools {
            Toolset::KnowledgeGraph if uri == knowledge_graph::RESOURCE => resources::read_graph,
            _ => resources::read,
        };
        self.in_turn(false, move |store| read(store, &uri)).await?.map(Into::into)
    }
}
