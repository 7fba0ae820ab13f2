// Two processes that sign in the threads that answer (`--workers 0`), as their operator meets them. What the pool sees
// of such a worker is in test/pool/both-ports.test.ts.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type RunningService, runCommand, startService } from '../../service/start-service.ts'
import { until } from '../../support/until.ts'

const isLinux = process.platform === 'linux'
let service: RunningService
const value = (name: string): string => service.quickstart[name] ?? ''

interface Attestation {
  readonly is_compliant: boolean
  readonly attestation: { readonly uuid: string; readonly attester: string; readonly signature: string }
}

/** On a connection of its own, so that any of the processes may get it. */
const attest = async (headers: Readonly<Record<string, string>> = {}): Promise<Attestation> => {
  const body = {
    from: '0x1111111111111111111111111111111111111111',
    chain: 'base',
    verification_hash: value('VERIFICATION_HASH'),
  }
  const response = await service.attest(body, { connection: 'close', ...headers })
  expect(response.status).toBe(200)
  return (await response.json()) as Attestation
}

const pool = (change?: object): Promise<Response> =>
  fetch(`${value('DASHBOARD_URL')}/admin/v1/pool`, {
    method: change === undefined ? 'GET' : 'PATCH',
    headers: { authorization: `Bearer ${value('ADMIN_API_KEY')}`, 'content-type': 'application/json' },
    ...(change === undefined ? {} : { body: JSON.stringify(change) }),
  })

/** Process ids of the processes that serve. */
const serving = async (): Promise<number[]> => {
  const { processes } = (await (await pool()).json()) as { processes: { each: { state: string; pid: number }[] } }
  return processes.each.filter(({ state }) => state === 'ready').map(({ pid }) => pid)
}

/** Slots of the decision log, which are the workers there ever were. */
const slots = (): string[] =>
  readdirSync(join(service.dataDirectory, 'decisions')).filter((name) => /^w\d+$/.test(name))

beforeAll(async () => {
  if (!isLinux) return
  service = await startService({ environment: { COUNTERSIGN_PROCESSES: '2', COUNTERSIGN_WORKERS: '0' } })
  await service.logLine(({ message }) => message === 'all processes are ready')
})
afterAll(async () => {
  if (isLinux) expect(await service.stop()).toBe(0)
})

describe.skipIf(!isLinux)('--processes 2 --workers 0', () => {
  test('each process is one worker, and both sign and record', async () => {
    const answers: Attestation[] = []
    const used = (): string[] =>
      slots().filter((slot) => {
        const folder = join(service.dataDirectory, 'decisions', slot)
        return readdirSync(folder).some((file) => readFileSync(join(folder, file), 'utf8').includes('"attestation"'))
      })
    await until(async () => {
      answers.push(await attest())
      return used().length === 2
    })
    expect(slots()).toHaveLength(2)
    expect(new Set(answers.map(({ attestation }) => attestation.uuid)).size).toBe(answers.length)
    expect(new Set(answers.map(({ attestation }) => attestation.attester))).toEqual(new Set([value('EVM_ATTESTER')]))
    expect(await (await pool()).json()).toMatchObject({ workers: { live: 2, wanted: 2, each: 0 } })
  })

  test('a repeated key has the same attestation, whichever process answers', async () => {
    const answers = []
    for (let tries = 0; tries < 8; tries++) answers.push(await attest({ 'idempotency-key': 'own-thread-1' }))
    expect(new Set(answers.map(({ attestation }) => attestation.uuid)).size).toBe(1)
  })

  test('changing the number of processes while they serve; the number of workers does not', async () => {
    expect((await pool({ workers: 1 })).status).toBe(400)
    expect((await pool({ processes: 3 })).status).toBe(200)
    await until(async () => (await serving()).length === 3)
    expect(await (await pool()).json()).toMatchObject({ workers: { live: 3, wanted: 3, each: 0 } })
    expect((await pool({ processes: 2, workers: 0 })).status).toBe(200)
    await until(async () => (await serving()).length === 2)
  })

  test('a process that hangs is replaced by the supervisor, and nothing is lost', async () => {
    const [, hung = 0] = await serving()
    process.kill(hung, 'SIGSTOP')
    await service.logLine(({ message }) => message === 'killing a process that does not respond')
    await until(async () => {
      const now = await serving()
      return now.length === 2 && !now.includes(hung)
    })
    for (let tries = 0; tries < 8; tries++) expect((await attest()).is_compliant).toBe(true)
    expect((await runCommand(service.dataDirectory, 'decisions', 'verify')).code).toBe(0)
  }, 60_000)
})

test.skipIf(!isLinux)('one process without workers has a supervisor as well', async () => {
  const one = await startService({ environment: { COUNTERSIGN_PROCESSES: '1', COUNTERSIGN_WORKERS: '0' } })
  try {
    const { process: of } = await one.logLine(({ message }) => message === 'ready')
    expect(of).toBe(0)
    // The banner, the log and `/readyz` agree.
    expect(await one.logLine(({ message }) => message === 'ready')).toMatchObject({ workers: 0 })
    expect(one.output().stdout).toMatch(/signing backend {2}\S+, on the main thread\n/)
    expect(await (await fetch(`${one.url}/readyz`)).json()).toMatchObject({ ready: true, workers: 0 })
    const body = { from: '0x1111111111111111111111111111111111111111', chain: 'base' }
    const hash = one.quickstart['VERIFICATION_HASH']
    expect((await one.attest({ ...body, verification_hash: hash })).status).toBe(200)
  } finally {
    expect(await one.stop()).toBe(0)
  }
})
