//! `trodden mcp`: profiles for assistants, by the Model Context Protocol on standard input and output.
//!
//! A tool is a command of this program in other clothes: the same question, the same answer as text, in
//! pieces that fit into a conversation. Nothing is written, and no file outside of the named folders is
//! read.

mod answer;
mod methods;
mod stacks;
mod tools;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};

use crate::error::CliError;
use crate::folders::Folders;
use crate::output;
use tools::TOOLS;

/// Answers an assistant's questions about profiles, by the Model Context Protocol (MCP) on standard input and
/// output.
///
/// For example in the assistant's settings: {"command": "trodden", "args": ["mcp", "/FOLDER/project"]}.
/// All tools only read.
#[derive(Args)]
pub struct McpArgs {
    /// Folders with profiles, diffs and sources: other files are not read.
    #[arg(default_value = ".")]
    folders: Vec<PathBuf>,
}

/// Instructions for the assistant.
const INSTRUCTIONS: &str = "Trodden records which control-flow paths of a Java program ran, how often, and which take the CPU time. \
     Begin with `profiles` (files here) and `overview` (what stands out in one). Then ask about a method, a line, callers, \
     untested outcomes, or the difference of two profiles. Shares have 95 % intervals; what is not known is said to be not known. \
     Long answers end with a cursor for the next piece.";

/// The server.
#[derive(Clone)]
struct Server {
    folders: Arc<Folders>,
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let about = Implementation::new("trodden", env!("CARGO_PKG_VERSION"));
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(about)
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(
            TOOLS.iter().map(tools::described).collect(),
        ))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        TOOLS.iter().find(|tool| tool.name == name).map(tools::described)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = TOOLS.iter().find(|tool| tool.name == request.name) else {
            let names: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
            let text = format!(
                "there is no tool '{}' (there are: {})",
                request.name,
                names.join(", ")
            );
            return Err(ErrorData::invalid_params(text, None));
        };
        let folders = Arc::clone(&self.folders);
        let arguments = request.arguments.unwrap_or_default();
        let answered = tokio::task::spawn_blocking(move || tools::answer(tool, &folders, &arguments)).await;
        let result = match answered {
            Ok(Ok(text)) => CallToolResult::success(vec![ContentBlock::text(text)]),
            Ok(Err(error)) => CallToolResult::error(vec![ContentBlock::text(error.to_string())]),
            Err(error) => return Err(ErrorData::internal_error(error.to_string(), None)),
        };
        Ok(CallToolResponse::Complete(result))
    }
}

/// Runs `trodden mcp`, until the other side closes the connection.
pub fn mcp(args: &McpArgs) -> Result<ExitCode, CliError> {
    let server = Server {
        folders: Arc::new(Folders::new(&args.folders)?),
    };
    let failed =
        |what: &dyn std::fmt::Display| CliError::Failed(format!("error: the connection failed: {what}"));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| failed(&e))?;
    runtime.block_on(async {
        let running = server
            .serve(rmcp::transport::stdio())
            .await
            .map_err(|e| failed(&e))?;
        let why = running.waiting().await.map_err(|e| failed(&e))?;
        if !matches!(why, rmcp::service::QuitReason::Closed) {
            output::complain(&format!("the connection ended: {why:?}"));
        }
        Ok(ExitCode::SUCCESS)
    })
}
