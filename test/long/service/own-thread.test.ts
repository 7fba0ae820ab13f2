// Two processes that sign on their main threads (`--workers 0`). The pool with such workers: test/pool/both-ports.test.ts.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectRequest } from '../../service/calls.ts'
import { type RunningService, runCommand, startService } from '../../service/start-service.ts'
import { until } from '../../support/until.ts'
import { attestAnywhere, isLinux, loadPool, requestPool, startProcesses } from '../support/processes.ts'

let service: RunningService

interface Attestation {
  readonly is_compliant: boolean
  readonly attestation: { readonly uuid: string; readonly attester: string; readonly signature: string }
}

const attest = async (headers: Readonly<Record<string, string>> = {}): Promise<Attestation> => {
  const response = await attestAnywhere(service, headers)
  expect(response.status).toBe(200)
  return (await response.json()) as Attestation
}

/** Returns the process ids of the ready processes. */
const serving = async (): Promise<number[]> =>
  (await loadPool(service)).processes.each.filter(({ state }) => state === 'ready').map(({ pid }) => pid)

/** Returns the slots of the decision log, one per worker. */
const slots = (): string[] =>
  readdirSync(join(service.dataDirectory, 'decisions')).filter((name) => /^w\d+$/.test(name))

beforeAll(async () => {
  if (isLinux) service = await startProcesses(2, 0)
})
afterAll(async () => {
  if (isLinux) expect(await service.stop()).toBe(0)
})

describe.skipIf(!isLinux)('--processes 2 --workers 0', () => {
  test('each process is one worker, and both sign and record decisions', async () => {
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
    expect(new Set(answers.map(({ attestation }) => attestation.attester))).toEqual(
      new Set([service.quickstart['EVM_ATTESTER'] ?? '']),
    )
    expect(await loadPool(service)).toMatchObject({ workers: { live: 2, wanted: 2, each: 0 } })
  })

  test('a repeated idempotency key gets the same attestation from either process', async () => {
    const answers = []
    for (let round = 0; round < 8; round++) answers.push(await attest({ 'idempotency-key': 'own-thread-1' }))
    expect(new Set(answers.map(({ attestation }) => attestation.uuid)).size).toBe(1)
  })

  test('the number of processes can change, but not the number of workers', async () => {
    expect((await requestPool(service, { workers: 1 })).status).toBe(400)
    await loadPool(service, { processes: 3 })
    await until(async () => (await serving()).length === 3)
    expect(await loadPool(service)).toMatchObject({ workers: { live: 3, wanted: 3, each: 0 } })
    await loadPool(service, { processes: 2, workers: 0 })
    await until(async () => (await serving()).length === 2)
  })

  test('the supervisor replaces a process that hangs, without losing decisions', async () => {
    const [, hung = 0] = await serving()
    process.kill(hung, 'SIGSTOP')
    await service.logLine(({ message }) => message === 'killing a process that does not respond')
    await until(async () => {
      const now = await serving()
      return now.length === 2 && !now.includes(hung)
    })
    for (let round = 0; round < 8; round++) expect((await attest()).is_compliant).toBe(true)
    expect((await runCommand(service.dataDirectory, 'decisions', 'verify')).code).toBe(0)
  }, 60_000)
})

test.skipIf(!isLinux)('one process without workers has a supervisor, too', async () => {
  const one = await startService({ environment: { COUNTERSIGN_PROCESSES: '1', COUNTERSIGN_WORKERS: '0' } })
  try {
    const { process: of } = await one.logLine(({ message }) => message === 'ready')
    expect(of).toBe(0)
    expect(await one.logLine(({ message }) => message === 'ready')).toMatchObject({ workers: 0 })
    expect(one.output().stdout).toMatch(/signing backend {2}\S+, on the main thread\n/)
    expect(await (await fetch(`${one.url}/readyz`)).json()).toMatchObject({ ready: true, workers: 0 })
    expect((await one.attest(projectRequest(one))).status).toBe(200)
  } finally {
    expect(await one.stop()).toBe(0)
  }
})
