#!/usr/bin/env node
// usage: tpq.mjs --ui DIR [--json] FILE SQL...     each row of each query as a line of JSON, by Perfetto's own engine
// Exit: 0; 1 the trace or a query failed; 2 usage.
import { json, TraceProcessor } from "./tp.mjs";

const words = process.argv.slice(2).filter((word) => word !== "--json");
const at = words.indexOf("--ui");
const [, ui] = at < 0 ? [] : words.splice(at, 2);
const [file, ...queries] = words;
if (!ui || !queries.length) {
  console.error("usage: tpq.mjs --ui DIR [--json] FILE SQL...");
  process.exit(2);
}
try {
  const tp = await (await TraceProcessor.start({ ui })).load(file);
  for (const sql of queries) for (const row of tp.objects(sql)) console.log(json(row));
} catch (error) {
  console.error(`tpq: ${error.message}`);
  process.exitCode = 1;
}
