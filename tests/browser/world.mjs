// The world of the browser tests: real profiles, the server over them, a stand-in for the Perfetto
// UI, and a Chromium that knows evil.test as this machine.
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import path from "node:path";
import { finish, guarded, launch, root, serve, shots, standIn } from "./lib.mjs";
import { makeProfiles } from "./fixture.mjs";

mkdirSync(shots, { recursive: true });
export const profiles = makeProfiles();
export const ui = await standIn();
export const server = await serve(profiles.dir, "--perfetto-ui", ui.url);
export const browser = await launch(`--host-resolver-rules=MAP evil.test 127.0.0.1`);
export const ours = [server.url, ui.url];

// A page of ours under guard: the body's checks hold, and nothing was complained about.
export async function onPage(where, body, options = {}) {
  const { context, complaints } = await guarded(browser, ours, options);
  try {
    const page = await context.newPage();
    await page.goto(server.url + where);
    await body(page, context);
    assert.deepEqual(complaints, []);
  } finally {
    await context.close();
  }
}

export const withoutScript = { javaScriptEnabled: false };

async function listed() {
  for (;;) {
    const list = await (await fetch(`${server.url}/api/v1/sessions`)).json();
    if (!list.indexing) return list.sessions;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const sessions = await listed();

// The path of the session whose name holds this text, in one family of pages.
export function pathOf(family, text) {
  const id = encodeURIComponent(sessions.find((session) => session.name.includes(text)).id);
  return family === "session" ? `/session/${id}/` : `/${family}/${id}`;
}
export const ids = sessions.map((session) => session.id);
export const idOf = (text) => sessions.find((session) => session.name.includes(text)).id;

// A server of its own whose TensorBoard behaves as `mode` says (tests/http/fake_tensorboard.py).
export async function withTensorboard(mode, body, options = {}) {
  const port = 20000 + Math.floor(Math.random() * 10000);
  const env = { VIEW_PROFILE_TENSORBOARD: path.join(root, "tests/http/fake_tensorboard.py"), FAKE_TB: mode };
  Object.assign(process.env, env);
  const server = await serve(profiles.dir, "--tensorboard-port", String(port));
  for (const name of Object.keys(env)) delete process.env[name];
  const tensorboard = `http://127.0.0.1:${port}`;
  const { context, complaints } = await guarded(browser, [server.url, tensorboard], options);
  try {
    await body(await context.newPage(), server, tensorboard);
    return complaints;
  } finally {
    await context.close();
    await server.stop();
  }
}

export async function end() {
  await browser.close();
  profiles.remove();
  await finish();
}
