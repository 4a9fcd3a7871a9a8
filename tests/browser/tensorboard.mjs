// The page that waits for TensorBoard, with a stand-in for TensorBoard itself.
import assert from "node:assert/strict";
import path from "node:path";
import { shots, test } from "./lib.mjs";
import { pathOf, withTensorboard } from "./world.mjs";

const RUN = "2026_11_21_06_33_16";

for (const script of [true, false]) {
  await test(`a page waits for TensorBoard and goes there by itself${script ? "" : ", from a click"}`, async () => {
    const complaints = await withTensorboard("slow", async (page, server, tensorboard) => {
      if (script) {
        await page.goto(server.url + pathOf("tensorboard", RUN));
      } else {
        await page.goto(server.url + pathOf("session", RUN));
        await page.getByRole("link", { name: "TensorBoard" }).click();
      }
      await page.getByRole("heading", { name: "Starting TensorBoard" }).waitFor();
      assert.match(await page.locator("[role=status]").first().innerText(), /started on port \d+ (just now|[1-9]\d* s ago)/);
      assert.ok(await page.getByRole("progressbar").isVisible());
      await page.screenshot({ path: path.join(shots, "tensorboard-light-1280.png") });
      await page.waitForURL(`${tensorboard}/?run=*`, { timeout: 90000 });
      const query = new URL(page.url()).searchParams;
      assert.match(query.get("run"), /^mnist_train[-/]2026_11_21_06_33_16$/);
      assert.equal(query.get("hosts"), "vm");
    });
    // The stand-in has no front page, only what we ask it.
    assert.deepEqual(complaints.filter((text) => !text.includes("404")), []);
  });
}

await test("a TensorBoard without its plugin is told in one sentence, with the command that mends it", async () => {
  const complaints = await withTensorboard("noplugin", async (page, server) => {
    await page.goto(server.url + pathOf("tensorboard", RUN));
    await page.getByRole("heading", { name: "TensorBoard cannot be opened" }).waitFor({ timeout: 90000 });
    assert.match(await page.locator("pre.copy").innerText(), /pip install/);
    assert.ok(await page.getByRole("link", { name: "Try again" }).isVisible());
    await page.screenshot({ path: path.join(shots, "tensorboard-failed-light-1280.png") });
  });
  assert.deepEqual(complaints.filter((text) => !text.includes("503")), []);
});
