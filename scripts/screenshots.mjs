// The screenshots of docs/img: pages of `serve` over examples/first_profile, each in a window of its own size.
import path from "node:path";
import { launch, root, serve } from "../tests/browser/lib.mjs";

const server = await serve(path.join(root, "examples/first_profile"), "--ui", "perfetto");
const browser = await launch();
const sessions = async () => (await (await fetch(`${server.url}/api/v1/sessions`)).json()).sessions;
while ((await sessions()).length < 4) await new Promise((resolve) => setTimeout(resolve, 50));
const all = await sessions();
const idOf = (text) => encodeURIComponent(all.find((session) => session.name.includes(text)).id);
const [slow, fast] = [idOf("jax/before"), idOf("jax/after")];

// NAME: the path of the page, its height, and what must be on it before the picture is taken.
const SHOTS = {
  run: [`/session/${slow}/`, 640, "text=F10"],
  timeline: [`/session/${slow}/timeline`, 480, "canvas"],
  compare: [`/compare/${slow}/${fast}`, 600, "main"],
};
for (const [name, [place, height, ready]] of Object.entries(SHOTS)) {
  const context = await browser.newContext({ viewport: { width: 1000, height }, colorScheme: "light", timezoneId: "UTC" });
  const page = await context.newPage();
  await page.goto(server.url + place);
  await page.locator(ready).first().waitFor();
  await page.waitForLoadState("networkidle");
  await page.waitForTimeout(500); // the timeline draws when its first slices are there
  await page.screenshot({ path: path.join(root, `docs/img/${name}.png`) });
  await context.close();
}
await browser.close();
await server.stop();
