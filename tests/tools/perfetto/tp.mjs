// Perfetto's own trace_processor.wasm, out of a build of its UI, under node and without a browser:
//   const tp = await TraceProcessor.start({ui}); await tp.load("x.json.gz"); tp.objects("select 1 as one");
// The UI's engine_bundle.js holds the emscripten glue and speaks TraceProcessorRpc (protobuf) over a MessagePort; here
// it gets a stand-in for the worker that it expects. The wire is coded by hand: nothing is depended on.
import fs from "node:fs";
import path from "node:path";

/* ---- Protobuf ---------------------------------------------------------------------------------- */

const METHOD = { append: 1, finalize: 2, query: 3, status: 10 };

function varint(n) {
  const out = [];
  let left = BigInt(n);
  for (; left > 127n; left >>= 7n) out.push(Number(left & 127n) | 128);
  out.push(Number(left));
  return Buffer.from(out);
}

const numberField = (field, n) => Buffer.concat([varint(field * 8), varint(n)]);
const bytesField = (field, bytes) => Buffer.concat([varint(field * 8 + 2), varint(bytes.length), bytes]);
const text = (bytes) => Buffer.from(bytes).toString("utf8");

class Reader {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }
  get more() {
    return this.at < this.bytes.length;
  }
  varint() {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.bytes[this.at++];
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  }
  take(n) {
    this.at += n;
    return this.bytes.subarray(this.at - n, this.at);
  }
}

function* fields(bytes) {
  const reader = new Reader(bytes);
  while (reader.more) {
    const key = Number(reader.varint());
    const wire = key & 7;
    if (wire === 0) yield [key >>> 3, reader.varint()];
    else if (wire === 1) yield [key >>> 3, reader.take(8)];
    else if (wire === 2) yield [key >>> 3, reader.take(Number(reader.varint()))];
    else if (wire === 5) yield [key >>> 3, reader.take(4)];
    else throw new Error(`wire type ${wire}`);
  }
}

function packed(bytes, signed) {
  const out = [], reader = new Reader(bytes);
  while (reader.more) out.push(signed ? BigInt.asIntN(64, reader.varint()) : reader.varint());
  return out;
}

function doubles(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return Array.from({ length: bytes.length / 8 }, (_, i) => view.getFloat64(8 * i, true));
}

const small = (n) => (BigInt.asIntN(53, n) === n ? Number(n) : n);

// One CellsBatch of a result, cell by cell: null, number, bigint beyond 2^53, string or bytes.
function* cellsOf(batch) {
  const kinds = [], blobs = [], ints = [], reals = [];
  let strings = [];
  for (const [field, value] of fields(batch)) {
    if (field === 1) kinds.push(...packed(value).map(Number));
    else if (field === 2) for (const n of packed(value, true)) ints.push(n);
    else if (field === 3) reals.push(...doubles(value));
    else if (field === 4) blobs.push(value);
    else if (field === 5) strings = text(value).split("\0");
  }
  const from = { 2: ints.values(), 3: reals.values(), 4: strings.values(), 5: blobs.values() };
  for (const kind of kinds) {
    const value = from[kind]?.next().value ?? null;
    yield typeof value === "bigint" ? small(value) : value;
  }
}

/* ---- The engine -------------------------------------------------------------------------------- */

// The newest vN.N-hash folder of a UI build, which may itself be one.
function versionDir(ui) {
  if (fs.existsSync(`${ui}/engine_bundle.js`)) return path.resolve(ui);
  const builds = fs.readdirSync(ui).filter((dir) => fs.existsSync(`${ui}/${dir}/engine_bundle.js`)).sort();
  if (!builds.length) throw new Error(`no Perfetto UI build in ${ui}: scripts/perfetto_ui makes one`);
  return path.resolve(ui, builds.at(-1));
}

// WebAssembly that keeps compiled modules, so that the second engine of a process starts at once.
const compiled = new Map();
const wasm = new Proxy(WebAssembly, {
  get(target, name) {
    if (name !== "Module") return target[name];
    return function (bytes) {
      if (bytes.byteLength < 1e6) return new target.Module(bytes);
      if (!compiled.has(bytes.byteLength)) compiled.set(bytes.byteLength, new target.Module(bytes));
      return compiled.get(bytes.byteLength);
    };
  },
});

// Runs the bundle in what it takes for a worker, and gives that worker the port to talk over.
function startBundle(dir, port) {
  const bytes = (url) => fs.readFileSync(`${dir}/${path.basename(String(url))}`);
  const fetched = async (url) => new Response(bytes(url), { headers: { "Content-Type": "application/wasm" } });
  class Xhr {
    open(method, url) {
      this.url = url;
    }
    send() {
      this.response = new Uint8Array(bytes(this.url)).buffer;
    }
  }
  const none = () => {}, quiet = { log: none, warn: none, error: none, info: none, debug: none };
  const self = { location: { href: "https://perfetto.invalid/engine_bundle.js" }, onmessage: null };
  const given = {
    self, WebAssembly: wasm, fetch: fetched, console: quiet, XMLHttpRequest: Xhr, importScripts: none,
    WorkerGlobalScope: class {}, process: undefined, require: undefined, window: undefined, document: undefined,
  };
  new Function(...Object.keys(given), fs.readFileSync(`${dir}/engine_bundle.js`, "utf8"))(...Object.values(given));
  self.onmessage({ data: port });
}

export class TraceProcessor {
  static async start({ ui }) {
    const tp = new TraceProcessor();
    tp.replies = [];
    tp.port = { onmessage: null, postMessage: (message) => tp.replies.push(Buffer.from(message)) };
    startBundle(versionDir(ui), tp.port);
    // It is ready when a request gets an answer. Never before a turn of the event loop: a request between the start of
    // the runtime and of its RPC, a microtask later, counts as a crash.
    for (let tries = 0; ; tries++) {
      await new Promise((resolve) => setTimeout(resolve, tries ? 10 : 0));
      tp.asked = 0;
      tp.replies.length = 0;
      try {
        tp.ask(METHOD.status);
        return tp;
      } catch (error) {
        if (/crashed/.test(error.message) || tries > 3000) throw error;
      }
    }
  }

  // The answers to one request.
  ask(method, ...more) {
    const request = Buffer.concat([numberField(1, ++this.asked), numberField(2, method), ...more]);
    this.port.onmessage({ data: new Uint8Array(bytesField(1, request)) }); // the bundle asserts that very type
    const answers = [];
    for (const reply of this.replies.splice(0))
      for (const [field, answer] of fields(reply)) if (field === 1) answers.push(answer);
    for (const answer of answers)
      for (const [field, value] of fields(answer)) if (field === 5) throw new Error(text(value));
    if (!answers.length) throw new Error("trace_processor did not answer");
    return answers;
  }

  static failOn(answers, field, inner) {
    for (const answer of answers)
      for (const [of, value] of fields(answer))
        for (const [at, said] of of === field ? fields(value) : [])
          if (at === inner && said.length) throw new Error(text(said));
  }

  // Read in pieces, so that the file is never in memory as a whole. Throws what the import died of.
  async load(file, piece = 16 << 20) {
    const open = fs.openSync(file, "r"), buffer = Buffer.alloc(piece);
    this.bytes = 0;
    for (let n; (n = fs.readSync(open, buffer, 0, piece, null)); this.bytes += n) {
      const answers = this.ask(METHOD.append, bytesField(101, buffer.subarray(0, n)));
      TraceProcessor.failOn(answers, 201, 2);
    }
    fs.closeSync(open);
    TraceProcessor.failOn(this.ask(METHOD.finalize), 212, 1);
    return this;
  }

  // The rows of the last of these statements, each an object.
  objects(sql) {
    const columns = [], rows = [];
    let row = [];
    for (const answer of this.ask(METHOD.query, bytesField(103, bytesField(1, Buffer.from(sql)))))
      for (const [, result] of [...fields(answer)].filter(([field]) => field === 203)) {
        for (const [field, value] of fields(result)) {
          if (field === 1) columns.push(text(value));
          if (field === 2 && value.length) throw new Error(text(value));
        }
        for (const [field, batch] of fields(result))
          for (const cell of field === 3 ? cellsOf(batch) : []) {
            row.push(cell);
            if (row.length < columns.length) continue;
            rows.push(Object.fromEntries(columns.map((column, i) => [column, row[i]])));
            row = [];
          }
      }
    return rows;
  }
}

// JSON of what objects() gives.
export const json = (value) =>
  JSON.stringify(value, (key, of) =>
    typeof of === "bigint" ? of.toString() : of instanceof Uint8Array ? Buffer.from(of).toString("hex") : of);
