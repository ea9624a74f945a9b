// Drives the server with the TypeScript packages: the SDK of the 1.x line, and the newer client.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [program, modules] = process.argv.slice(2);
const require = createRequire(join(modules, "x.js"));
const load = async (name) => import(pathToFileURL(require.resolve(name)).href);
const folder = mkdtempSync(join(tmpdir(), "bilinc-clients-"));
let passed = 0;

function check(name, holds, shown) {
  if (!holds) {
    console.error(`FAILED ${name}:`, JSON.stringify(shown));
    process.exit(1);
  }
  passed += 1;
}

async function drive(client, options) {
  const body = (result) => JSON.parse(result.content[0].text);
  const call = async (name, args = {}) => {
    // The client holds structured content to the schema that the tool lists.
    const result = await client.callTool({ name, arguments: args });
    check(`${name} succeeds`, result.isError !== true, result);
    check(`${name} gives structured content`, JSON.stringify(body(result).success) === JSON.stringify(result.structuredContent.success), result);
    return result.structuredContent;
  };
  const fails = async (code, name, args) => {
    const result = await client.callTool({ name, arguments: args });
    check(`${name} fails with ${code}`, result.isError === true && body(result).error === code, result);
  };
  const { tools } = await client.listTools();
  check("eighteen tools", tools.length === 18, tools.map((tool) => tool.name));
  for (const key of "abcdefgh") await call("commit_mem", { key, value: { said: `the value of ${key}`, n: 1.5 }, session_id: "run" });
  check("a value comes back", (await call("get", { key: "a" })).value.n === 1.5);
  check("recall finds", (await call("recall", { query: "value of c", limit: "1" })).results[0].key === "c");
  await call("status");
  await call("revise", { key: "a", value: "new" });
  await call("confirm", { key: "b" });
  await call("forget", { key: "c", reason: "gone" });
  await call("history", { key: "a" });
  await call("list_memories", { values: "full" });
  const { snapshot } = await call("snapshot", { label: "before" });
  await call("snapshot", { action: "list" });
  await call("commit_mem", { key: "later", value: null });
  await call("diff", { from_snapshot_id: snapshot.id, include_values: true });
  const preview = await call("rollback", { snapshot_id: snapshot.id, reason: "back" });
  await call("rollback", { snapshot_id: snapshot.id, reason: "back", mode: "execute", confirmation_token: preview.confirmationToken });
  const dream = await call("dream_start");
  const actions = dream.candidates.map((it) => ({ op: "confirm", key: it.key, expected_version: it.entryVersion, reason: "right" }));
  await call("dream_apply", { dream_id: dream.dreamId, actions, report: "looked" });
  await call("dream_show", { dream_id: dream.dreamId });
  await call("dream_list");
  check("a dream is undone", (await call("dream_undo", { dream_id: dream.dreamId })).restored.length === actions.length);
  await call("undo", { session_id: "run", dry_run: true });
  await fails("memory_not_found", "get", { key: "none" });
  await fails("invalid_request", "get", { key: "a", nonsense: 1 });
  try {
    check("an unknown tool is an error of the protocol", false, await client.callTool({ name: "nothing", arguments: {} }));
  } catch (error) {
    check("an unknown tool is an error of the protocol", String(error).includes("unknown tool"), String(error));
  }
  const many = Array.from({ length: 200 }, (_, n) => client.callTool({ name: "commit_mem", arguments: { key: `many.${n}`, value: n } }));
  check("many calls at once", (await Promise.all(many)).every((result) => result.isError !== true));
  const stop = new AbortController();
  const stopped = client.callTool({ name: "recall", arguments: { query: "value" } }, ...options(stop.signal)).catch(() => "stopped");
  stop.abort();
  check("a cancelled call ends", (await stopped) === "stopped");
  check("the session goes on", (await call("list_memories", { prefix: "many." })).total === 200);
  check("the prompt is there", (await client.listPrompts()).prompts[0].name === "dream_pass");
  check("the template is there", (await client.listResourceTemplates()).resourceTemplates[0].uriTemplate === "memory://{key}");
  check("a resource is read", JSON.parse((await client.readResource({ uri: "memory://a" })).contents[0].text).key === "a");
}

// A server over HTTP on a data folder of its own.
class Http {
  constructor() {
    this.data = mkdtempSync(join(tmpdir(), "bilinc-clients-"));
    this.key = this.newKey();
  }
  newKey(...options) {
    const words = ["keys", "create", "--project", "p", "--data", this.data, "--json", ...options];
    return JSON.parse(execFileSync(program, words, { encoding: "utf8" })).key;
  }
  async start(address = "127.0.0.1:0") {
    const words = ["serve", "--data", this.data, "--listen", address, "--log", "off", "--json"];
    this.process = spawn(program, words, { stdio: ["ignore", "pipe", "ignore"] });
    const line = await new Promise((resolve) => this.process.stdout.once("data", resolve));
    this.url = JSON.parse(line).listening;
    return this;
  }
  async kill() {
    const ended = new Promise((resolve) => this.process.once("exit", resolve));
    this.process.kill("SIGKILL");
    await ended;
  }
  transport(Transport, path = "/mcp", key = this.key) {
    return new Transport(new URL(this.url + path), { requestInit: { headers: { Authorization: `Bearer ${key}` } } });
  }
}

async function connected(Client, transport, settings) {
  const client = new Client({ name: "test", version: "0" }, settings);
  await client.connect(transport);
  return client;
}

async function overBoth({ Client, Stdio, Streamable }, name, settings, options) {
  const counts = {};
  const http = await new Http().start();
  try {
    const transports = {
      stdio: new Stdio({ command: program, args: ["mcp", "--store", join(folder, name)] }),
      HTTP: http.transport(Streamable),
    };
    for (const [kind, transport] of Object.entries(transports)) {
      const before = passed;
      const client = await connected(Client, transport, settings);
      check("instructions are told", client.getInstructions()?.includes("dream"), client.getInstructions());
      await drive(client, options);
      await client.close();
      counts[kind] = passed - before;
    }
    const before = passed;
    const reader = await connected(Client, http.transport(Streamable, "/mcp", http.newKey("--read-only")), settings);
    check("a key that reads lists the reads", (await reader.listTools()).tools.length === 8);
    await reader.close();
    const graph = await connected(Client, http.transport(Streamable, "/mcp/knowledge-graph"), settings);
    check("the other tools are there", (await graph.listTools()).tools.length === 9);
    await graph.close();
    const nobody = await connected(Client, http.transport(Streamable, "/mcp", "wrong"), settings).catch(String);
    check("a wrong key is refused", String(nobody).includes("invalid_api_key") || String(nobody).includes("401"), String(nobody));

    // Killed in the middle: what was answered is there, and the same session goes on, since it has no state.
    const client = await connected(Client, http.transport(Streamable), settings);
    const answered = [];
    let enough;
    const fifty = new Promise((resolve) => (enough = resolve));
    const calls = Array.from({ length: 400 }, async (_, n) => {
      const result = await client.callTool({ name: "commit_mem", arguments: { key: `killed.${n}`, value: n } }).catch(() => undefined);
      if (result && result.isError !== true && answered.push(n) === 50) enough();
    });
    await fifty;
    await http.kill();
    await Promise.all(calls);
    await http.start(http.url.slice("http://".length));
    for (const n of answered) {
      const result = await client.callTool({ name: "get", arguments: { key: `killed.${n}` } });
      check("what was answered survives", result.structuredContent?.value === n, [n, result]);
    }
    await client.close();
    counts["HTTP, read-only, killed"] = passed - before;
  } finally {
    await http.kill();
  }
  return counts;
}

const versionOf = (name) => {
  const path = require.resolve(name).split(`node_modules/${name.split("/").slice(0, 2).join("/")}`)[0];
  return require(join(path, "node_modules", ...name.split("/").slice(0, 2), "package.json")).version;
};

const say = (name, version, counts) => {
  for (const [kind, checks] of Object.entries(counts)) console.log(`${name} ${version}, ${kind}: ${checks} checks passed`);
};

{
  const { Client } = await load("@modelcontextprotocol/sdk/client/index.js");
  const { StdioClientTransport: Stdio } = await load("@modelcontextprotocol/sdk/client/stdio.js");
  const { StreamableHTTPClientTransport: Streamable } = await load("@modelcontextprotocol/sdk/client/streamableHttp.js");
  const counts = await overBoth({ Client, Stdio, Streamable }, "sdk", {}, (signal) => [undefined, { signal }]);
  say("@modelcontextprotocol/sdk", versionOf("@modelcontextprotocol/sdk/client/index.js"), counts);
}
for (const mode of ["legacy", "auto", { pin: "2026-07-28" }]) {
  const { Client, StreamableHTTPClientTransport: Streamable } = await load("@modelcontextprotocol/client");
  const { StdioClientTransport: Stdio } = await load("@modelcontextprotocol/client/stdio");
  const name = typeof mode === "string" ? mode : mode.pin;
  const counts = await overBoth({ Client, Stdio, Streamable }, `client-${name}`, { versionNegotiation: { mode } }, (signal) => [{ signal }]);
  say(`@modelcontextprotocol/client ${versionOf("@modelcontextprotocol/client")}`, name, counts);
}
