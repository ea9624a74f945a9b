// The tools of the official memory server, side by side with that server: the same calls, the same answers, and a graph
// that it wrote read from its file.
import { spawnSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [program, modules] = process.argv.slice(2);
const require = createRequire(join(modules, "x.js"));
const load = async (name) => import(pathToFileURL(require.resolve(name)).href);
const folder = mkdtempSync(join(tmpdir(), "bilinc-graph-"));
const { Client } = await load("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = await load("@modelcontextprotocol/sdk/client/stdio.js");
let passed = 0;

function check(name, holds, shown) {
  if (!holds) {
    console.error(`FAILED ${name}:`, JSON.stringify(shown, null, 1));
    process.exit(1);
  }
  passed += 1;
}

async function connect(command, args, env = {}) {
  const client = new Client({ name: "test", version: "0" });
  await client.connect(new StdioClientTransport({ command, args, env: { ...process.env, ...env }, stderr: "ignore" }));
  return client;
}

const file = join(folder, "memory.jsonl");
const official = await connect(join(modules, ".bin", "mcp-server-memory"), [], { MEMORY_FILE_PATH: file });
const ours = await connect(program, ["mcp", "--tools", "knowledge-graph", "--store", join(folder, "store")]);

const entity = (name, entityType, ...observations) => ({ name, entityType, observations });
const relation = (from, to, relationType) => ({ from, to, relationType });
const calls = [
  ["read_graph", {}],
  ["create_entities", { entities: [entity("Zoe", "person", "likes tea", "lives in İzmir"), entity("Ada Lovelace", "Person"), entity(" Ada Lovelace ", "person", "is another")] }],
  ["create_entities", { entities: [entity("Zoe", "robot", "is not Zoe"), entity("Initech", "company", "makes reports", "makes reports")] }],
  ["create_entities", { entities: [] }],
  ["create_relations", { relations: [relation("Zoe", "Initech", "works at"), relation("Ada Lovelace", "Zoe", "knows"), relation("Zoe", "nobody", "knows")] }],
  ["create_relations", { relations: [relation("Zoe", "Initech", "works at"), relation("Zoe", "Initech", "owns"), relation("Initech", "Zoe", "works at")] }],
  ["add_observations", { observations: [{ entityName: "Zoe", contents: ["likes tea", "plays chess", "plays chess"] }, { entityName: "Initech", contents: [] }] }],
  ["add_observations", { observations: [{ entityName: "Zoe", contents: ["never added"] }, { entityName: "nobody", contents: ["x"] }] }],
  ["read_graph", {}],
  ["search_nodes", { query: "zoe" }],
  ["search_nodes", { query: "PERSON" }],
  ["search_nodes", { query: "tea" }],
  ["search_nodes", { query: "" }],
  ["search_nodes", { query: "nothing has this" }],
  ["open_nodes", { names: ["Zoe", "nobody"] }],
  ["open_nodes", { names: ["Initech", "Initech"] }],
  ["open_nodes", { names: [] }],
  ["delete_observations", { deletions: [{ entityName: "Zoe", observations: ["likes tea", "was never there"] }, { entityName: "nobody", observations: ["x"] }] }],
  ["delete_observations", { deletions: [{ entityName: "Initech", observations: ["makes reports"] }] }],
  ["read_graph", {}],
  ["delete_relations", { relations: [relation("Zoe", "Initech", "owns"), relation("Zoe", "Initech", "never was")] }],
  ["delete_entities", { entityNames: ["Ada Lovelace", "nobody"] }],
  ["read_graph", {}],
  ["create_entities", { entities: [entity("Ada Lovelace", "person", "came back")] }],
  ["read_graph", {}],
];

const tools = async (client) => (await client.listTools()).tools;
const [theirs, mine] = [await tools(official), await tools(ours)];
check("the same tools in the same order", JSON.stringify(theirs.map((it) => it.name)) === JSON.stringify(mine.map((it) => it.name)), mine);
for (const [index, tool] of theirs.entries()) {
  const names = (schema) => Object.keys(schema.properties ?? {}).sort().join();
  check(`${tool.name} takes the same`, names(tool.inputSchema) === names(mine[index].inputSchema), [tool.inputSchema, mine[index].inputSchema]);
  check(`${tool.name} has the same title`, tool.title === mine[index].title, mine[index].title);
  for (const hint of ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"]) {
    check(`${tool.name} has the same ${hint}`, tool.annotations[hint] === mine[index].annotations[hint], mine[index].annotations);
  }
}

const canonical = (value) =>
  JSON.stringify(value, (_, member) =>
    member && typeof member === "object" && !Array.isArray(member) ? Object.fromEntries(Object.entries(member).sort()) : member,
  );
for (const [name, args] of calls) {
  const [one, other] = await Promise.all([official, ours].map((client) => client.callTool({ name, arguments: args })));
  check(`${name} fails or succeeds alike`, Boolean(one.isError) === Boolean(other.isError), { args, one, other });
  if (one.isError) continue;
  check(`${name} gives the same text`, one.content[0].text === other.content[0].text, { args, one: one.content[0].text, other: other.content[0].text });
  check(`${name} gives the same content`, canonical(one.structuredContent) === canonical(other.structuredContent), { args, one, other });
}

const imported = join(folder, "imported");
const run = spawnSync(program, ["import", file, "--format", "mcp-memory", "--store", imported], { encoding: "utf8" });
check("its file is imported", run.status === 0, run.stderr);
const again = await connect(program, ["mcp", "--tools", "knowledge-graph", "--store", imported]);
const read = async (client) => (await client.callTool({ name: "read_graph", arguments: {} })).content[0].text;
check("and gives the same graph", (await read(official)) === (await read(again)), await read(again));
const resource = async (client) => (await client.readResource({ uri: "memory://knowledge-graph" })).contents[0].text;
check("the resource is the same", (await resource(official)) === (await resource(ours)), await resource(ours));
await Promise.all([official, ours, again].map((client) => client.close()));
const { version } = require(join(modules, "@modelcontextprotocol/server-memory/package.json"));
console.log(`@modelcontextprotocol/server-memory ${version}, side by side: ${passed} checks passed`);
