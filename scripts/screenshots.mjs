// The screenshots of docs/img: pages of `serve` over sample profiles, each in a window of its own size.
import path from "node:path";
import { launch, root, serve } from "../tests/browser/lib.mjs";

const browser = await launch();

// The runs of a directory, once all of them are listed.
async function runs(server, count) {
  for (;;) {
    const { sessions } = await (await fetch(`${server.url}/api/v1/sessions`)).json();
    if (sessions.length >= count) return (text) => encodeURIComponent(sessions.find((run) => run.name.includes(text)).id);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

// NAME: the path of the page, its height, and what must be on it before the picture is taken.
async function shoot(server, shots) {
  for (const [name, [place, height, ready]] of Object.entries(shots)) {
    const context = await browser.newContext({ viewport: { width: 1000, height }, colorScheme: "light", timezoneId: "UTC" });
    const page = await context.newPage();
    await page.goto(server.url + place);
    await page.locator(ready).first().waitFor();
    await page.waitForLoadState("networkidle");
    await page.waitForTimeout(500); // the timeline draws when its first slices are there
    await page.screenshot({ path: path.join(root, `docs/img/${name}.png`) });
    await context.close();
  }
  await server.stop();
}

const first = await serve(path.join(root, "examples/first_profile"), "--ui", "perfetto");
const idOf = await runs(first, 4);
const [slow, fast] = [idOf("jax/before"), idOf("jax/after")];
await shoot(first, {
  run: [`/session/${slow}/`, 640, "text=F10"],
  timeline: [`/session/${slow}/timeline`, 480, "canvas"],
  compare: [`/compare/${slow}/${fast}`, 600, "main"],
  keras: [`/session/${idOf("keras/before")}/?tab=ops`, 520, "text=PyFunc"],
});

const kineto = await serve(path.join(root, "tests/data/pytorch_cuda/pytorch__kineto/samples"), "--ui", "perfetto");
const resnet = (await runs(kineto, 1))("resnet50");
await shoot(kineto, { pytorch: [`/session/${resnet}/`, 480, "text=F14"] });
await browser.close();
