// Starts `trodden lsp` and connects VS Code to it: everything that is shown comes from there.
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

/** The words of the command line, by the settings. */
function words(settings) {
  const given = (name, option) => (settings.get(name) ? [option, settings.get(name)] : []);
  return [
    "lsp",
    ...settings.get("profiles"),
    ...given("base", "--base"),
    ...given("recordedAt", "--recorded-at"),
    ...settings.get("classes").flatMap((place) => ["--classes", place]),
    ...given("show", "--show"),
  ];
}

async function start() {
  const settings = vscode.workspace.getConfiguration("trodden");
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  const server = {
    command: settings.get("program"),
    args: words(settings),
    options: { cwd: folder },
  };
  const languages = ["java", "kotlin", "scala", "groovy"];
  const documentSelector = languages.map((language) => ({ scheme: "file", language }));
  client = new LanguageClient("trodden", "Trodden", server, { documentSelector });
  try {
    await client.start();
  } catch (error) {
    vscode.window.showErrorMessage(
      `${server.command} lsp did not start: the setting trodden.program names the program (${error?.message ?? error})`,
    );
  }
}

async function stop() {
  const running = client;
  client = undefined;
  await running?.stop().catch(() => {});
}

async function restart() {
  await stop();
  await start();
}

exports.activate = async (context) => {
  context.subscriptions.push(
    vscode.commands.registerCommand("trodden.restart", restart),
    vscode.workspace.onDidChangeConfiguration((event) => event.affectsConfiguration("trodden") && restart()),
  );
  await start();
};

exports.deactivate = stop;
