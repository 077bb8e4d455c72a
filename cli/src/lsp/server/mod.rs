//! The protocol: what the editor asks, and what it is sent.

mod convert;
mod transport;

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::env;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::str::FromStr;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use lsp_server::{ErrorCode, Message, Notification, Request};
use lsp_types::notification::{
    DidChangeTextDocument, DidCloseTextDocument, DidOpenTextDocument, DidSaveTextDocument, Exit,
    Notification as Notified, PublishDiagnostics, ShowMessage,
};
use lsp_types::request::{
    CodeActionRequest, CodeLensRefresh, CodeLensRequest, ExecuteCommand, HoverRequest, Initialize,
    InlayHintRefreshRequest, InlayHintRequest, Request as Asked, ShowDocument, Shutdown,
};
use lsp_types::{
    ClientCapabilities, CodeActionProviderCapability, CodeLensOptions, ExecuteCommandOptions, Hover,
    HoverContents, HoverProviderCapability, InitializeParams, InitializeResult, MarkupContent, MarkupKind,
    MessageType, OneOf, PublishDiagnosticsParams, Range, ServerCapabilities, ServerInfo, ShowDocumentParams,
    ShowMessageParams, TextDocumentSyncCapability, TextDocumentSyncKind, TextDocumentSyncOptions,
    TextDocumentSyncSaveOptions, Uri,
};
use serde_json::Value;

use super::ide::{Analysis, Chosen, Mark, MethodName, Notices, Settings};
use super::{LspArgs, Show};
use crate::error::CliError;
use crate::folders::Folders;
use transport::{Client, Incoming, Refused};

/// How often the profile's file is looked at while nothing is asked.
const TICK: Duration = Duration::from_secs(1);

/// Why nothing is shown.
const NO_PROFILE: &str = "trodden: no profile yet (no .trodden file is in the editor's folders): trodden run -o app.trodden -- java … makes \
                          one";

/// The server's side of a connection.
struct Server {
    incoming: Receiver<Incoming>,
    /// Messages that came before the profile was read again.
    waiting: VecDeque<Incoming>,
    client: Client,
    can: ClientCapabilities,
    /// Texts of open files.
    documents: HashMap<PathBuf, String>,
    /// The last message about a missing profile, or a change that cannot be looked at.
    said: Option<String>,
    /// Files that have diagnostics.
    noticed: BTreeSet<PathBuf>,
    shut_down: bool,
}

/// The time between two readings of the profile.
struct Round<'r> {
    settings: &'r Settings,
    chosen: &'r Chosen,
    /// The profile, or why there is none.
    analysis: Result<Analysis<'r>, String>,
}

/// Serves one editor.
pub fn serve(args: &LspArgs) -> Result<ExitCode, CliError> {
    let incoming = transport::incoming();
    let client = Client::default();
    let Some(initial) = initialize(&incoming, &client, args.show) else {
        return Ok(ExitCode::FAILURE);
    };
    let settings = settings(args, &initial)?;
    let mut server = Server {
        incoming,
        waiting: VecDeque::new(),
        client,
        can: initial.capabilities,
        documents: HashMap::new(),
        said: None,
        noticed: BTreeSet::new(),
        shut_down: false,
    };
    loop {
        let chosen = Chosen::new(&settings);
        let profile = chosen.load();
        let analysis = match &profile {
            Ok(Some(profile)) => Ok(Analysis::new(profile, &chosen, &settings)),
            Ok(None) => Err(NO_PROFILE.to_owned()),
            Err(error) => Err(format!("trodden: {error}")),
        };
        let round = Round {
            settings: &settings,
            chosen: &chosen,
            analysis,
        };
        server.begin(&round);
        if let Some(code) = server.serve(&round) {
            return Ok(code);
        }
    }
}

/// Waits for the first request and answers it; none if the other side ends before.
fn initialize(
    incoming: &Receiver<Incoming>,
    client: &Client,
    show: Option<Show>,
) -> Option<InitializeParams> {
    loop {
        match incoming.recv().ok()? {
            Incoming::Message(Message::Request(request)) if request.method == Initialize::METHOD => {
                let id = request.id.clone();
                match params::<Initialize>(request) {
                    Ok(initial) => {
                        client.answer(&id, result(answer_to(&initial.capabilities, show)));
                        return Some(initial);
                    }
                    Err(refused) => client.answer(&id, Err(refused)),
                }
            }
            Incoming::Message(Message::Request(request)) => {
                let refused = Refused {
                    code: ErrorCode::ServerNotInitialized,
                    why: "the first request has to be `initialize`".to_owned(),
                };
                client.answer(&request.id, Err(refused));
            }
            Incoming::Message(Message::Notification(note)) if note.method == Exit::METHOD => return None,
            Incoming::Message(_) => {}
            Incoming::Wrong { id, code, why } => client.refuse(&id, code, &why),
            Incoming::End => return None,
        }
    }
}

fn answer_to(can: &ClientCapabilities, show: Option<Show>) -> InitializeResult {
    let has_lenses = can
        .text_document
        .as_ref()
        .is_some_and(|can| can.code_lens.is_some());
    let show = show.unwrap_or(if has_lenses { Show::Lenses } else { Show::Hints });
    let lenses = CodeLensOptions {
        resolve_provider: Some(false),
    };
    let sync = TextDocumentSyncOptions {
        open_close: Some(true),
        change: Some(TextDocumentSyncKind::FULL),
        save: Some(TextDocumentSyncSaveOptions::Supported(true)),
        ..TextDocumentSyncOptions::default()
    };
    InitializeResult {
        capabilities: ServerCapabilities {
            text_document_sync: Some(TextDocumentSyncCapability::Options(sync)),
            code_lens_provider: (show == Show::Lenses).then_some(lenses),
            inlay_hint_provider: (show == Show::Hints).then_some(OneOf::Left(true)),
            hover_provider: Some(HoverProviderCapability::Simple(true)),
            code_action_provider: Some(CodeActionProviderCapability::Simple(true)),
            execute_command_provider: Some(ExecuteCommandOptions {
                commands: vec![convert::OPEN_PAGE.to_owned()],
                ..ExecuteCommandOptions::default()
            }),
            ..ServerCapabilities::default()
        },
        server_info: Some(ServerInfo {
            name: "trodden".to_owned(),
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        }),
    }
}

/// The settings of the command line, in the editor's folders; in the current one, if it has none.
fn settings(args: &LspArgs, initial: &InitializeParams) -> Result<Settings, CliError> {
    let of_workspace = initial.workspace_folders.iter().flatten();
    #[expect(deprecated, reason = "older editors have one folder, and say so here")]
    let root = initial.root_uri.iter();
    let uris = of_workspace.map(|folder| &folder.uri).chain(root);
    let mut folders: Vec<PathBuf> = uris
        .filter_map(convert::path)
        .filter(|path| path.is_dir())
        .collect();
    folders.dedup();
    if folders.is_empty() {
        folders.push(env::current_dir().map_err(CliError::failed)?);
    }
    Ok(Settings {
        folders: Folders::new(&folders)?,
        files: args.files.clone(),
        coverage: args.coverage.clone(),
        change: args.change(),
        recorded_at: args.recorded_at.clone(),
    })
}

/// The parameters of a request.
fn params<R: Asked>(request: Request) -> Result<R::Params, Refused> {
    serde_json::from_value(request.params).map_err(|e| Refused {
        code: ErrorCode::InvalidParams,
        why: format!("{}: {e}", R::METHOD),
    })
}

/// The parameters of a notification. A wrong one has no answer: it is as if it had not come.
fn noted<N: Notified>(note: Notification) -> Option<N::Params> {
    serde_json::from_value(note.params).ok()
}

/// A result as JSON.
fn result(value: impl serde::Serialize) -> Result<String, Refused> {
    serde_json::to_string(&value).map_err(Refused::failed)
}

fn is_within(mark: &Mark, range: Range) -> bool {
    (range.start.line..=range.end.line).contains(&(mark.line - 1))
}

impl Server {
    /// Tells the editor that facts are there, or why there are none.
    fn begin(&mut self, round: &Round) {
        let can = self.can.workspace.as_ref();
        let lenses = can.and_then(|can| can.code_lens.as_ref()?.refresh_support);
        let hints = can.and_then(|can| can.inlay_hint.as_ref()?.refresh_support);
        if lenses == Some(true) {
            self.client.ask::<CodeLensRefresh>(());
        }
        if hints == Some(true) {
            self.client.ask::<InlayHintRefreshRequest>(());
        }
        match &round.analysis {
            Ok(analysis) => self.notice(analysis),
            Err(why) => {
                self.publish(&Notices::new());
                self.say(Some(why.clone()));
            }
        }
    }

    /// Says what is missing, once.
    fn say(&mut self, why: Option<String>) {
        if self.said != why
            && let Some(message) = why.clone()
        {
            self.show(MessageType::INFO, message);
        }
        self.said = why;
    }

    fn show(&self, typ: MessageType, message: String) {
        self.client
            .notify::<ShowMessage>(ShowMessageParams { typ, message });
    }

    /// Looks at the change again.
    fn notice(&mut self, analysis: &Analysis) {
        let text = |path: &Path| self.documents.get(path).cloned();
        match analysis.notices(&text) {
            Ok(notices) => {
                self.publish(&notices);
                self.say(None);
            }
            Err(error) => self.say(Some(format!("trodden: {error}"))),
        }
    }

    /// Sends the diagnostics of all files, and takes those back that are no more.
    fn publish(&mut self, notices: &Notices) {
        let before = std::mem::replace(&mut self.noticed, notices.keys().cloned().collect());
        for path in before.iter().chain(notices.keys()).collect::<BTreeSet<_>>() {
            let Some(uri) = convert::uri(path) else { continue };
            let text = self.text(path).unwrap_or_default();
            let lines: Vec<&str> = text.lines().collect();
            let of_file = notices.get(path).into_iter().flatten();
            let diagnostics = of_file.map(|notice| convert::diagnostic(notice, &uri, &lines));
            self.client
                .notify::<PublishDiagnostics>(PublishDiagnosticsParams {
                    diagnostics: diagnostics.collect(),
                    uri,
                    version: None,
                });
        }
    }

    /// Serves until the profile is to be read again; or the exit code, if that is the end.
    fn serve(&mut self, round: &Round) -> Option<ExitCode> {
        loop {
            let next = match self.waiting.pop_front() {
                Some(next) => Ok(next),
                None => self.incoming.recv_timeout(TICK),
            };
            let is_current = round.chosen.is_current(round.settings);
            let next = match next {
                Ok(next) => next,
                Err(RecvTimeoutError::Timeout) if is_current => continue,
                Err(RecvTimeoutError::Timeout) => return None,
                Err(RecvTimeoutError::Disconnected) => Incoming::End,
            };
            if !is_current {
                self.waiting.push_front(next);
                return None;
            }
            match next {
                Incoming::Message(Message::Request(request)) => self.answer(round, request),
                Incoming::Message(Message::Notification(note)) if note.method == Exit::METHOD => {
                    return Some(self.code());
                }
                Incoming::Message(Message::Notification(note)) => self.note(round, note),
                // Answers to what the editor was asked change nothing.
                Incoming::Message(Message::Response(_)) => {}
                Incoming::Wrong { id, code, why } => self.client.refuse(&id, code, &why),
                Incoming::End => return Some(self.code()),
            }
        }
    }

    /// The exit code: a connection has to be shut down before it ends.
    fn code(&self) -> ExitCode {
        if self.shut_down {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        }
    }

    fn answer(&mut self, round: &Round, request: Request) {
        let id = request.id.clone();
        let answer = if self.shut_down {
            Err(Refused {
                code: ErrorCode::InvalidRequest,
                why: "the server is shut down".to_owned(),
            })
        } else {
            self.result(round, request)
        };
        self.client.answer(&id, answer);
    }

    fn result(&mut self, round: &Round, request: Request) -> Result<String, Refused> {
        match request.method.as_str() {
            CodeLensRequest::METHOD => {
                let asked = params::<CodeLensRequest>(request)?;
                self.lenses(round, &asked.text_document.uri)
            }
            HoverRequest::METHOD => {
                let asked = params::<HoverRequest>(request)?.text_document_position_params;
                self.hover(round, &asked.text_document.uri, asked.position.line)
            }
            InlayHintRequest::METHOD => {
                let asked = params::<InlayHintRequest>(request)?;
                self.hints(round, &asked.text_document.uri, asked.range)
            }
            CodeActionRequest::METHOD => {
                let asked = params::<CodeActionRequest>(request)?;
                self.actions(round, &asked.text_document.uri, asked.range)
            }
            ExecuteCommand::METHOD => {
                let asked = params::<ExecuteCommand>(request)?;
                if asked.command != convert::OPEN_PAGE {
                    return Err(Refused::failed(format!(
                        "there is no command '{}'",
                        asked.command
                    )));
                }
                self.open_page(round, &asked.arguments)
            }
            Shutdown::METHOD => {
                self.shut_down = true;
                result(Value::Null)
            }
            other => Err(Refused {
                code: ErrorCode::MethodNotFound,
                why: format!("there is no method '{other}' here"),
            }),
        }
    }

    fn note(&mut self, round: &Round, note: Notification) {
        match note.method.as_str() {
            DidOpenTextDocument::METHOD => {
                if let Some(opened) = noted::<DidOpenTextDocument>(note) {
                    self.put(&opened.text_document.uri, Some(opened.text_document.text));
                }
            }
            DidChangeTextDocument::METHOD => {
                if let Some(mut changed) = noted::<DidChangeTextDocument>(note)
                    && let Some(change) = changed.content_changes.pop()
                {
                    self.put(&changed.text_document.uri, Some(change.text));
                }
            }
            DidCloseTextDocument::METHOD => {
                if let Some(closed) = noted::<DidCloseTextDocument>(note) {
                    self.put(&closed.text_document.uri, None);
                }
            }
            DidSaveTextDocument::METHOD => {
                if let Ok(analysis) = &round.analysis {
                    self.notice(analysis);
                }
            }
            _ => {}
        }
    }

    fn put(&mut self, uri: &Uri, text: Option<String>) {
        let Some(path) = convert::path(uri) else { return };
        match text {
            Some(text) => self.documents.insert(path, text),
            None => self.documents.remove(&path),
        };
    }

    /// A file of a URI, and its text as the editor has it; else as the disk has it.
    fn document(&self, uri: &Uri) -> Option<(PathBuf, String)> {
        let path = convert::path(uri)?;
        let text = self.text(&path)?;
        Some((path, text))
    }

    fn text(&self, path: &Path) -> Option<String> {
        let on_disk = || Some(String::from_utf8_lossy(&std::fs::read(path).ok()?).into_owned());
        self.documents.get(path).cloned().or_else(on_disk)
    }

    /// The facts of a file, with its text.
    fn marks(&self, round: &Round, uri: &Uri) -> (Vec<Mark>, String) {
        let (Some((path, text)), Ok(analysis)) = (self.document(uri), &round.analysis) else {
            return (Vec::new(), String::new());
        };
        (analysis.marks(&path, &text), text)
    }

    fn lenses(&self, round: &Round, uri: &Uri) -> Result<String, Refused> {
        let (marks, text) = self.marks(round, uri);
        let lines: Vec<&str> = text.lines().collect();
        let marks = marks.into_iter();
        result(marks.map(|mark| convert::lens(mark, &lines)).collect::<Vec<_>>())
    }

    fn hints(&self, round: &Round, uri: &Uri, within: Range) -> Result<String, Refused> {
        let (marks, text) = self.marks(round, uri);
        let lines: Vec<&str> = text.lines().collect();
        let marks = marks.into_iter().filter(|mark| is_within(mark, within));
        result(marks.map(|mark| convert::hint(mark, &lines)).collect::<Vec<_>>())
    }

    /// The command that opens the page, at the methods of these lines.
    fn actions(&self, round: &Round, uri: &Uri, within: Range) -> Result<String, Refused> {
        let (marks, _) = self.marks(round, uri);
        let mut methods: Vec<_> = marks
            .into_iter()
            .filter(|mark| is_within(mark, within))
            .filter_map(|mark| mark.method)
            .collect();
        methods.dedup();
        let action = |method: &MethodName| {
            let title = format!("Trodden: open the page at {}", method.name);
            convert::open_page(title, Some(method))
        };
        result(methods.iter().map(action).collect::<Vec<_>>())
    }

    fn open_page(&mut self, round: &Round, arguments: &[Value]) -> Result<String, Refused> {
        let analysis = round.analysis.as_ref().map_err(Refused::failed)?;
        let method = convert::method(arguments);
        let page = analysis.page(method.as_ref()).map_err(Refused::failed)?;
        let can = self.can.window.as_ref();
        let can_show = can.is_some_and(|can| can.show_document.as_ref().is_some_and(|can| can.support));
        if can_show && let Ok(uri) = Uri::from_str(&page) {
            self.client.ask::<ShowDocument>(ShowDocumentParams {
                uri,
                external: Some(true),
                take_focus: None,
                selection: None,
            });
        } else {
            self.show(MessageType::INFO, format!("the page is {page}"));
        }
        result(page)
    }

    fn hover(&self, round: &Round, uri: &Uri, line: u32) -> Result<String, Refused> {
        let (Some((path, text)), Ok(analysis)) = (self.document(uri), &round.analysis) else {
            return result(Value::Null);
        };
        let markdown = analysis.hover(&path, &text, line.saturating_add(1));
        result(markdown.map(|value| Hover {
            contents: HoverContents::Markup(MarkupContent {
                kind: MarkupKind::Markdown,
                value,
            }),
            range: None,
        }))
    }
}
