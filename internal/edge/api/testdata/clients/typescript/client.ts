// Asks a server with a client that is made from openapi.yaml: node client.js ADDRESS KEY.
import assert from "node:assert/strict";
import createClient from "openapi-fetch";
import type { components, paths } from "./contract.js";

const [baseUrl, key] = process.argv.slice(2);
assert(baseUrl && key);
const client = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${key}` } });
const cluster = "made-in-typescript";

const created = await client.POST("/v1/clusters", { body: { name: cluster, currency: "EUR" } });
assert.equal(created.response.status, 201);
assert.equal(created.data?.currency, "EUR");

const shape: components["schemas"]["Class"] = { name: "etl/nightly ä", vms_per_job: "4.5", jobs: { min: 1, max: 2 }, penalty: "1.00" };
const made = await client.POST("/v1/clusters/{cluster}/classes", { params: { path: { cluster } }, body: shape });
assert.equal(made.response.status, 201);
const put = await client.PUT("/v1/clusters/{cluster}/classes/{name}", {
  params: { path: { cluster, name: "etl/nightly ä" }, header: { "If-Match": made.response.headers.get("ETag") ?? "" } },
  body: { ...shape, penalty: "2.50" },
});
assert.equal(put.data?.penalty, "2.50");
assert.equal(put.data?.version, 2);

const list = await client.GET("/v1/clusters/{cluster}/classes", { params: { path: { cluster }, query: { limit: 10 } } });
assert(typeof list.data === "object"); // not the text of a table, which ?format=csv asks for
assert.deepEqual(list.data.items.map((c) => [c.name, c.jobs.max]), [["etl/nightly ä", 2]]);
assert.equal(list.data.next_cursor, null);

const solved = await client.POST("/v1/solve", {
  body: { currency: "USD", supply: { on_demand: { price: "0.20" } }, classes: [{ name: "a", vms_per_job: "4.5", jobs: { min: 2, max: 2 }, penalty: "1" }] },
});
assert.equal(solved.data?.cost.on_demand, "1.80");

const refused = await client.POST("/v1/clusters/{cluster}/classes", { params: { path: { cluster } }, body: { ...shape, name: "late", deadline_s: -1 } });
assert.equal(refused.data, undefined);
const problem: components["schemas"]["ProblemDetails"] | undefined = refused.error;
assert.equal(problem?.status, refused.response.status);
assert.equal(problem?.errors?.[0]?.pointer, "/deadline_s");
console.log(`TypeScript: ${problem?.status} ${problem?.type} ${problem?.errors?.[0]?.pointer}: ${problem?.errors?.[0]?.detail}`);
