// Tests the processes of the load generator against an echo server.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type LoadClient, startLoadClient } from '../../bench/load/load-client.ts'
import type { LoadPlan, LoadShape } from '../../bench/load/plan.ts'
import { createProcesses } from '../../bench/processes.ts'

const processes = createProcesses()
let client: LoadClient
const wallets = new Set<string>()
let requests = 0

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  async fetch(request) {
    requests++
    const { from } = (await request.json()) as { readonly from: string }
    wallets.add(from)
    return new URL(request.url).pathname === '/busy'
      ? Response.json({ from }, { status: 503 })
      : Response.json({ from, key: request.headers.get('x-api-key') })
  },
})

beforeAll(async () => {
  client = await startLoadClient(processes)
})

afterAll(async () => {
  await processes.stopAll()
  await server.stop(true)
})

const plan = (shape: LoadShape, changes: Partial<LoadPlan> = {}): LoadPlan => ({
  name: 'test',
  url: `http://127.0.0.1:${server.port}/`,
  headers: { 'x-api-key': 'k' },
  bodies: { seed: 'test', wallets: 20, chain: 'base', target: { verificationHash: 'x-1' } },
  answers: { kind: 'status' },
  shape,
  warmupMs: 0,
  durationMs: 100,
  drainMs: 5_000,
  observePid: process.pid,
  ...changes,
})

test('an open loop sends 200 requests in 100 ms', async () => {
  requests = 0
  const report = await client.run(plan({ mode: 'open', connections: 4, ratePerSecond: 2_000, queueLimit: 1_000 }))
  expect(requests).toBe(200)
  expect(report).toMatchObject({ statuses: { '200': 200 }, latencyMs: { count: 200 } })
  expect(report.failures).toEqual({})
  expect(wallets.size).toBe(20)
  expect(report.serverCpu).not.toBeNull()
})

test('several generators share the connections and the rate, and produce one report', async () => {
  const both = await startLoadClient(processes, 1, [`${process.execPath} bench/load/generator.ts`])
  requests = 0
  wallets.clear()
  const shape: LoadShape = { mode: 'open', connections: 5, ratePerSecond: 2_000, queueLimit: 1_000 }
  const report = await both.run(plan(shape))
  expect(requests).toBe(200)
  // Each generator sends its own 20 wallets.
  expect(wallets.size).toBe(40)
  expect(report).toMatchObject({ shape, statuses: { '200': 200 }, outcomes: { answered: 200 } })
  expect(report.latencyMs.count).toBe(200)
  expect(report.generatorDelayMs?.count).toBe(200)
  expect(report.throughputPerSecond).toBeWithin(1_800, 2_200)
  await expect(both.run(plan({ mode: 'closed', connections: 1 }))).rejects.toThrow('1 connections for 2 generators')
})

test('a generator that does not start causes an error with its output', async () => {
  await expect(startLoadClient(processes, 0, ['echo no route >&2; exit 255'])).rejects.toThrow(
    '(exit code 255) no route',
  )
})

test('a run that starts late sends the overdue requests and counts their wait', async () => {
  const shape: LoadShape = { mode: 'open', connections: 4, ratePerSecond: 1_000, queueLimit: 1_000 }
  const report = await client.run(plan(shape, { durationMs: 600, overdueMs: 500 }))
  expect(report.statuses).toEqual({ '200': 600 })
  expect(report.latencyMs.max).toBeGreaterThan(390)
  expect(report.windowMs).toBeLessThan(590)
})

test('a closed loop counts responses by status', async () => {
  const url = `http://127.0.0.1:${server.port}/busy`
  const report = await client.run(plan({ mode: 'closed', connections: 3 }, { url }))
  expect(Object.keys(report.statuses)).toEqual(['503'])
  expect(report.throughputPerSecond).toBe(0)
  expect(report.outcomes).toEqual({ answered: 0, refused: report.statuses['503'] ?? 0, late: 0, errors: 0 })
  expect(report.refusalLatencyMs.count).toBe(report.statuses['503'] ?? 0)
  expect(report.latencyMs.count).toBe(0)
})

test('responses without attestations are problems', async () => {
  const answers = { kind: 'attestation', attester: null, sampleEvery: 1_000 } as const
  const report = await client.run(plan({ mode: 'closed', connections: 1 }, { answers }))
  expect(report.answers.verified).toBe(0)
  expect(report.answers.problems.length).toBeGreaterThan(0)
  expect(report.throughputPerSecond).toBe(0)
  expect(report.outcomes.errors).toBe(report.statuses['200'] ?? 0)
})

test('a stopped server causes an error with its host', async () => {
  const free = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } })
  const url = `http://127.0.0.1:${free.port}/`
  free.stop(true)
  await expect(client.run(plan({ mode: 'closed', connections: 2 }, { url }))).rejects.toThrow(new URL(url).host)
})
