// Two nodes, each with a data folder of its own, over one PostgreSQL: they keep one limit, answer for one retry once, and
// when one of them is lost the other leads.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../../src/lib/time.ts'
import { openStore, type Store } from '../../../src/store/store.ts'
import { REFUSED_PAUSE_MS } from '../../service/calls.ts'
import { type RunningService, startService } from '../../service/start-service.ts'
import {
  createTemporaryDatabase,
  PATIENT_LIMITS,
  POSTGRES_MISSING,
  type TemporaryDatabase,
} from '../../support/postgres.ts'
import { until } from '../../support/until.ts'

const overPostgres = test.skipIf(POSTGRES_MISSING !== null)
const because = POSTGRES_MISSING === null ? '' : ` (${POSTGRES_MISSING})`
const PATIENCE_MS = 90_000
const TAKEN_OVER_MS = 10_000

let database: TemporaryDatabase
let store: Store
let nodes: readonly [RunningService, RunningService]
let secondFolder: string

const attest = (node: RunningService, headers: Readonly<Record<string, string>>): Promise<Response> =>
  node.attest(
    {
      from: '0x1111111111111111111111111111111111111111',
      chain: 'base',
      verification_hash: nodes[0].quickstart['VERIFICATION_HASH'],
    },
    headers,
  )

/** As a part of a regular expression. */
const LEADER = 'countersign_leader\\{role="attestation"\\}'
const metric = async ({ url }: RunningService, name: string): Promise<number> => {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
}

beforeAll(async () => {
  if (POSTGRES_MISSING !== null) return
  database = await createTemporaryDatabase('nothing')
  const options = { environment: { COUNTERSIGN_STORE: database.address }, arguments: ['--workers', '1'] }
  const first = await startService(options)
  // A node is given the deployment's secrets and keys; its decision log is its own.
  secondFolder = mkdtempSync(join(tmpdir(), 'countersign-node-'))
  for (const name of ['secrets', 'keystores', 'quickstart.env']) {
    cpSync(join(first.dataDirectory, name), join(secondFolder, name), { recursive: true })
  }
  nodes = [first, await startService({ ...options, dataDirectory: secondFolder })]
  store = await openStore({ target: database.target, clock: systemClock, ...PATIENT_LIMITS })
  await until(async () => (await metric(first, 'countersign_live_processes')) === 2)
}, PATIENCE_MS)
afterAll(async () => {
  if (POSTGRES_MISSING !== null) return
  await store.close()
  for (const node of nodes) await node.stop()
  rmSync(secondFolder, { recursive: true, force: true })
  await database.remove()
}, PATIENCE_MS)

overPostgres(`a key’s rate limit holds over both${because}`, async () => {
  const organization = (await store.organizations.list())[0]
  const [rate, burst, seconds] = [60, 60, 4]
  const { text: key } = await store.apiKeys.issue({
    organizationId: organization?.id ?? '',
    kind: 'attestation',
    environment: 'live',
    name: 'limited',
    expiresAtSeconds: null,
    rateLimit: { requestsPerSecond: rate, burst },
  })
  const startedMs = performance.now()
  const granted = [0, 0]
  await Promise.all(
    nodes.map(async (node, index) => {
      while (performance.now() - startedMs < seconds * 1_000) {
        const response = await attest(node, { 'x-api-key': key })
        await response.arrayBuffer()
        if (response.status === 200) granted[index] = (granted[index] ?? 0) + 1
        // Each still asks for three times what both are let in.
        else await Bun.sleep(REFUSED_PAUSE_MS)
      }
    }),
  )
  const elapsedSeconds = (performance.now() - startedMs) / 1_000
  const [one = 0, two = 0] = granted
  // That it is no less than nine tenths either holds where the clock is turned by the test (shared-rate-limit.test.ts).
  expect(one + two).toBeLessThan((burst + rate * elapsedSeconds) * 1.1)
  expect(one + two).toBeGreaterThan(burst)
  expect(Math.min(one, two)).toBeGreaterThan(0)
})

overPostgres(`retries that reach both at once yield one attestation${because}`, async () => {
  for (let round = 0; round < 5; round++) {
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        attest(nodes[index % 2 === 0 ? 0 : 1], { 'idempotency-key': `retry-${round}` }),
      ),
    )
    const granted = answers.filter(({ status }) => status === 200)
    expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true)
    expect(new Set(await Promise.all(granted.map((answer) => answer.text()))).size).toBe(1)
  }
})

const leadsFrom = (node: RunningService, term: number): Promise<unknown> =>
  node.logLine(
    ({ message, role, term: reached }) =>
      message === 'this process leads the deployment' && role === 'attestation' && reached === term,
  )

overPostgres(
  `the lead goes over within ten seconds when the leading node freezes, and the frozen node learns it on waking${because}`,
  PATIENCE_MS,
  async () => {
    const [one, two] = nodes
    expect([await metric(one, LEADER), await metric(two, LEADER)]).toEqual([1, 0])
    one.process.kill('SIGSTOP')
    const frozenMs = performance.now()
    try {
      await leadsFrom(two, 2)
      expect(performance.now() - frozenMs).toBeLessThan(TAKEN_OVER_MS)
    } finally {
      one.process.kill('SIGCONT')
    }
    expect([await metric(one, LEADER), await metric(two, LEADER)]).toEqual([0, 1])
  },
)

overPostgres(`and when it is killed${because}`, PATIENCE_MS, async () => {
  const [one, two] = nodes
  two.process.kill('SIGKILL')
  const killedMs = performance.now()
  await leadsFrom(one, 3)
  expect(performance.now() - killedMs).toBeLessThan(TAKEN_OVER_MS)
  expect(await metric(one, LEADER)).toBe(1)
  // It counts as gone, and this node's limits are its own alone.
  await until(async () => (await metric(one, 'countersign_live_processes')) === 1)
})
