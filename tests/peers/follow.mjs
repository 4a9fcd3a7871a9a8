// node follow.mjs URL TEXT SECONDS: opens an address of ours in a real Chromium, touches nothing, and
// waits until some frame shows TEXT. Prints where that was and what all frames show, as JSON; exit
// code 1 when the time is up. Nothing outside of this machine is reached.
import { launch } from "../browser/lib.mjs";

const [url, wanted, seconds] = process.argv.slice(2);
const browser = await launch();
const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
await context.route(/^https?:\/\/(?!127\.0\.0\.1[:/]|localhost[:/])/, (route) => route.abort());
const page = await context.newPage();
const visited = [];
page.on("framenavigated", (frame) => {
  if (frame === page.mainFrame() && visited.at(-1) !== frame.url()) visited.push(frame.url());
});

const read = (frame) => frame.evaluate(() => document.body?.innerText ?? "").catch(() => "");
let frames = [];
let found = false;
const deadline = Date.now() + Number(seconds) * 1000;
await page.goto(url).catch((error) => visited.push(String(error)));
while (!found && Date.now() < deadline) {
  await page.waitForTimeout(250);
  frames = await Promise.all(page.frames().map(async (f) => ({ url: f.url(), text: await read(f) })));
  found = frames.some((frame) => frame.text.includes(wanted));
}
console.log(JSON.stringify({ found, visited, frames }));
await browser.close();
process.exit(found ? 0 : 1);
