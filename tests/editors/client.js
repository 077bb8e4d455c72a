// An editor made of the protocol's own library: client.js PROGRAM FOLDER FILE [ARGUMENT…] opens FILE and prints, as JSON, what
// `trodden lsp` shows of it. Run in the folder of node_modules.
const { spawn } = require("child_process");
const { readFileSync } = require("fs");
const { createRequire } = require("module");
const { pathToFileURL } = require("url");
const load = createRequire(process.cwd() + "/");
const lsp = load("vscode-languageserver-protocol/node");

const [program, folder, file, ...more] = process.argv.slice(2);
const uri = pathToFileURL(file).href;
const rootUri = pathToFileURL(folder).href;

async function main() {
  const server = spawn(program, ["lsp", ...more], { cwd: folder, stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise((resolve) => server.on("exit", resolve));
  const connection = lsp.createProtocolConnection(
    new lsp.StreamMessageReader(server.stdout),
    new lsp.StreamMessageWriter(server.stdin),
  );
  const seen = { diagnostics: null, page: null };
  const published = new Promise((resolve) => {
    connection.onNotification(lsp.PublishDiagnosticsNotification.type, (given) => {
      if (given.uri === uri) {
        seen.diagnostics = given.diagnostics;
        resolve();
      }
    });
  });
  connection.onRequest(lsp.ShowDocumentRequest.type, (given) => {
    seen.page = given.uri;
    return { success: true };
  });
  connection.listen();
  await connection.sendRequest(lsp.InitializeRequest.type, {
    processId: process.pid,
    rootUri,
    workspaceFolders: [{ uri: rootUri, name: "test" }],
    capabilities: { textDocument: { codeLens: {} }, window: { showDocument: { support: true } } },
  });
  await connection.sendNotification(lsp.InitializedNotification.type, {});
  const text = readFileSync(file, "utf8");
  const textDocument = { uri, languageId: "java", version: 1, text };
  await connection.sendNotification(lsp.DidOpenTextDocumentNotification.type, { textDocument });
  const lenses = await connection.sendRequest(lsp.CodeLensRequest.type, { textDocument: { uri } });
  const hovers = {};
  for (const { range } of lenses) {
    const hover = await connection.sendRequest(lsp.HoverRequest.type, { textDocument: { uri }, position: range.start });
    hovers[range.start.line + 1] = hover?.contents.value;
  }
  if (lenses.length > 0) {
    await connection.sendRequest(lsp.ExecuteCommandRequest.type, lenses[0].command);
  }
  if (more.includes("--base")) {
    await published;
  }
  await connection.sendRequest(lsp.ShutdownRequest.type);
  await connection.sendNotification(lsp.ExitNotification.type);
  const code = await ended;
  const shown = lenses.map(({ range, command }) => [range.start.line + 1, command.title]);
  console.log(JSON.stringify({ lenses: shown, hovers, code, ...seen }));
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
