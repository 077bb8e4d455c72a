// An assistant made of the protocol's own library: client.js PROGRAM FOLDER CALLS asks `trodden mcp`, started for FOLDER, for its tools and
// then for the answers to CALLS, a JSON list of [tool, arguments]. Prints all of it as JSON. Run in the folder of node_modules.
const { createRequire } = require("module");
const load = createRequire(process.cwd() + "/");
const { Client } = load("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = load("@modelcontextprotocol/sdk/client/stdio.js");

const [program, folder, calls] = process.argv.slice(2);

// The pieces of an answer, each asked for with the cursor that the one before ended with.
async function pieces(client, name, given) {
  const found = [];
  for (let cursor; ; ) {
    const more = cursor === undefined ? given : { ...given, cursor };
    const { content, isError } = await client.callTool({ name, arguments: more });
    const text = content.map((block) => block.text).join("");
    found.push(text);
    const next = /ask again with cursor (\d+)\n$/.exec(text);
    if (isError || !next || found.length === 100) {
      return { pieces: found, isError: isError === true };
    }
    cursor = Number(next[1]);
  }
}

async function main() {
  const client = new Client({ name: "test", version: "1" });
  const faults = [];
  client.onerror = (error) => faults.push(String(error));
  await client.connect(new StdioClientTransport({ command: program, args: ["mcp", folder] }));
  const { tools } = await client.listTools();
  const answers = [];
  for (const [name, given] of JSON.parse(calls)) {
    answers.push(await pieces(client, name, given).catch((error) => ({ refused: error.message, code: error.code })));
  }
  const about = { server: client.getServerVersion(), instructions: client.getInstructions() };
  await client.close();
  console.log(JSON.stringify({ ...about, tools, answers, faults }));
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
