// Two nodes with one PostgreSQL, of which the first is killed between the signature and the storage of its response. The second
// signs a retry only after the first attestation has expired, or returns it after the first node is back.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { SQL } from 'bun'
import { recallDecision } from '../../../src/decision-log/recall.ts'
import { projectRequest } from '../../service/calls.ts'
import { type RunningService, startService } from '../../service/start-service.ts'
import { newFolder } from '../../support/folder.ts'
import { createTemporaryDatabase, POSTGRES_MISSING, type TemporaryDatabase } from '../../support/postgres.ts'
import { until } from '../../support/until.ts'

const overPostgres = test.skipIf(POSTGRES_MISSING !== null)
const because = POSTGRES_MISSING === null ? '' : ` (${POSTGRES_MISSING})`
const PATIENCE_MS = 120_000
const DEADLINE_MS = 5_000
/** The deadline plus five seconds. */
const CLAIM_SECONDS = 10
/** The longest lifetime of a project, plus a minute for different clocks. */
const USABLE_SECONDS = 3_660
/** Advisory lock that blocks the storage of responses. */
const GATE = 4_711

let database: TemporaryDatabase
let client: SQL
let folder: string
let second: RunningService
let running: RunningService[] = []

const start = async (name: string): Promise<RunningService> => {
  const node = await startService({
    dataDirectory: join(folder, name),
    arguments: ['--workers', '1'],
    environment: { COUNTERSIGN_STORE: database.address, COUNTERSIGN_DEADLINE_MS: String(DEADLINE_MS) },
  })
  running.push(node)
  return node
}

const attest = (node: RunningService, key: string): Promise<Response> =>
  node.attest(projectRequest(second), { 'idempotency-key': key })
const uuidOf = async (response: Response): Promise<string> => {
  expect(response.status).toBe(200)
  return ((await response.json()) as { attestation: { uuid: string } }).attestation.uuid
}
const claimed = async (key: string): Promise<{ uuid: string; node: string; dispatched: number }> => {
  const [row] = (await client`SELECT uuid, node, dispatched FROM idempotency WHERE idempotency_key = ${key}`) as [
    { uuid: string; node: string; dispatched: number },
  ]
  return { ...row, dispatched: Number(row.dispatched) }
}
/** Backdates the claim. */
const passTime = (key: string, seconds: number): Promise<unknown> =>
  client`UPDATE idempotency SET claim_expires_at_seconds = claim_expires_at_seconds - ${seconds}
         WHERE idempotency_key = ${key}`

/** Starts a node, kills it after it records a decision, and returns the uuid of the decision. */
const signAndKill = async (name: string, key: string): Promise<string> => {
  const node = await start(name)
  await using held = await client.reserve()
  await held`SELECT pg_advisory_lock(${GATE})`
  const lost = attest(node, key).catch(() => null)
  const decisions = join(folder, name, 'decisions')
  await until(async () => (await claimed(key).catch(() => ({ dispatched: 0 }))).dispatched === 1)
  const { uuid } = await claimed(key)
  await until(async () => (await recallDecision(decisions, uuid, 0)) !== null)
  node.process.kill('SIGKILL')
  await node.process.exited
  running = running.filter((one) => one !== node)
  await lost
  // Ends the transaction of the killed process, which the database may not have noticed yet.
  await client`SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`
  await until(async () => {
    const [row] = (await client`SELECT count(*)::int AS waiting FROM pg_locks
                                WHERE locktype = 'advisory' AND NOT granted`) as [{ waiting: number }]
    return row.waiting === 0
  })
  await held`SELECT pg_advisory_unlock(${GATE})`
  return uuid
}

beforeAll(async () => {
  if (POSTGRES_MISSING !== null) return
  folder = newFolder()
  database = await createTemporaryDatabase('nothing')
  second = await start('second')
  for (const name of ['back', 'gone']) {
    for (const part of ['secrets', 'keystores', 'quickstart.env']) {
      cpSync(join(folder, 'second', part), join(folder, name, part), { recursive: true })
    }
  }
  client = new SQL(database.address)
  await client.unsafe(`CREATE FUNCTION wait_at_gate() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN PERFORM pg_advisory_xact_lock(${GATE}); RETURN NEW; END $$;
    CREATE TRIGGER gate BEFORE UPDATE OF response_status ON idempotency
      FOR EACH ROW EXECUTE FUNCTION wait_at_gate()`)
}, PATIENCE_MS)
afterAll(async () => {
  if (POSTGRES_MISSING !== null) return
  for (const node of running) await node.stop()
  await client.close()
  await database.remove()
}, PATIENCE_MS)

overPostgres(
  `the second node returns the attestation of the first after its restart${because}`,
  PATIENCE_MS,
  async () => {
    const uuid = await signAndKill('back', 'returned')
    const early = await attest(second, 'returned')
    expect(early.status).toBe(409)
    expect(Number(early.headers.get('retry-after'))).toBeWithin(1, CLAIM_SECONDS + 1)
    // More than the 5 seconds that a node has to report. The clock of the service may be a second behind.
    await passTime('returned', CLAIM_SECONDS + 5 + 2)
    const refused = await attest(second, 'returned')
    expect(refused.status).toBe(409)
    expect(Number(refused.headers.get('retry-after'))).toBeWithin(USABLE_SECONDS - 60, USABLE_SECONDS + 1)
    expect((await claimed('returned')).uuid).toBe(uuid)
    await start('back')
    await until(async () => (await attest(second, 'returned')).status === 200)
    expect(await uuidOf(await attest(second, 'returned'))).toBe(uuid)
    expect(await recallDecision(join(folder, 'second', 'decisions'), uuid, 0)).toBeNull()
  },
)

overPostgres(
  `the second node signs under a new uuid after the attestation of a lost node has expired${because}`,
  PATIENCE_MS,
  async () => {
    const uuid = await signAndKill('gone', 'left')
    await passTime('left', CLAIM_SECONDS + USABLE_SECONDS - 30)
    expect((await attest(second, 'left')).status).toBe(409)
    // The clock of the service may be a second behind.
    await passTime('left', 32)
    const fresh = await uuidOf(await attest(second, 'left'))
    expect(fresh).not.toBe(uuid)
    expect((await claimed('left')).uuid).toBe(fresh)
    expect(await uuidOf(await attest(second, 'left'))).toBe(fresh)
  },
)
