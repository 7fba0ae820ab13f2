// The worker's conversation, in this thread, with real keys, a real policy and a real log.
import { afterAll, describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { verifyDecisions } from '../../src/decision-log/verify.ts'
import {
  type AttesterReference,
  createSharedState,
  type Outcome,
  type WorkerReport,
  type WorkerSettings,
} from '../../src/pool/protocol.ts'
import type { Keyring } from '../../src/signing/types.ts'
import { type ControllerDependencies as Controlled, Controller } from '../../workers/signing/controller.ts'
import { openWorkerParts } from '../../workers/signing/setup.ts'
import { recordsOf } from '../decision-log/fixtures.ts'
import { jobOf } from '../pool/support/jobs.ts'
import { testKey } from '../signing/test-keys.ts'
import { requestOf } from '../support/request.ts'
import { removeTemporaryDirectories, settingsFor, storeAttester, temporaryDirectory } from './support/attesters.ts'
import { DENIED_WALLET, FAILING_VALUE, revisionWith, TEST_POLICY, testTarget } from './support/policies.ts'

afterAll(removeTemporaryDirectories)

const keystores = temporaryDirectory()
const first = await storeAttester(keystores, 'secp256k1', testKey(1).toHex())
const second = await storeAttester(keystores, 'secp256k1', testKey(2).toHex())
const solana = await storeAttester(keystores, 'ed25519', testKey(3).toHex())

/** A worker without a thread. */
const createWorker = (
  wrap: (open: Controlled['open']) => Controlled['open'] = (open) => open,
  changes: Partial<Controlled> = {},
) => {
  const reports: WorkerReport[] = []
  const outcomes: Outcome[] = []
  let wake: () => void = () => undefined
  const controller = new Controller({
    outcomes: (batch) => outcomes.push(...batch.outcomes),
    report: (report) => {
      reports.push(report)
      wake()
    },
    open: wrap((settings, isClosing) => openWorkerParts(settings, Date.now, isClosing)),
    clock: { monotonicMs: () => 1000, unixMs: Date.now },
    later: (work) => setImmediate(work),
    ...changes,
  })
  const next = async (type: WorkerReport['type']): Promise<WorkerReport> => {
    for (;;) {
      const index = reports.findIndex((report) => report.type === type)
      if (index >= 0) return reports.splice(index, 1)[0] as WorkerReport
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }
  const send = (...jobs: Parameters<typeof jobOf>[]): Outcome[] => {
    outcomes.length = 0
    controller.work(jobs.map((job, sequence) => ({ ...jobOf(...job), sequence, deadlineMs: 2000 })))
    return [...outcomes]
  }
  return {
    work: controller.work.bind(controller),
    control: controller.control.bind(controller),
    end: controller.end.bind(controller),
    next,
    send,
    reports,
  }
}

const settingsOf = (
  directory: string,
  attesters: readonly AttesterReference[],
  overrides: Partial<WorkerSettings> = {},
): WorkerSettings => ({
  ...settingsFor(directory, attesters, overrides),
  slot: 0,
  generation: 0,
  shared: createSharedState(),
})

const startWorker = async (attesters = [first, solana], overrides: Partial<WorkerSettings> = {}) => {
  const directory = temporaryDirectory()
  const worker = createWorker()
  worker.control({ type: 'start', settings: settingsOf(directory, attesters, overrides) })
  const ready = await worker.next('ready')
  worker.control({
    type: 'define',
    targets: [testTarget({ id: 'target_1' })],
    revisions: [revisionWith('revision_test', TEST_POLICY)],
  })
  return { ...worker, ready, directory, decisions: join(directory, 'decisions') }
}

const attesterOf = (outcome: Outcome | undefined): string =>
  outcome?.status === 'answered' ? JSON.parse(outcome.body).attestation.attester : ''

describe('starting', () => {
  test('says which backend, keys and segment it has', async () => {
    const { ready, decisions } = await startWorker([first, { ...second, status: 'retiring' }, solana])
    expect(ready).toMatchObject({ evmAttesters: [first.address], solanaAttesters: [solana.address] })
    if (ready.type !== 'ready') throw new Error('not ready')
    expect(['libsecp256k1', 'secp256k1-node', 'noble']).toContain(ready.signer)
    expect(ready.segmentPath).toBe(join(decisions, 'w00', readdirSync(join(decisions, 'w00'))[0] ?? ''))
  })

  const reasonFor = async (settings: WorkerSettings): Promise<string> => {
    const worker = createWorker()
    worker.control({ type: 'start', settings })
    const report = await worker.next('unusable')
    return report.type === 'unusable' ? report.reason : ''
  }

  test('with a wrong passphrase it is unusable, and says no word of it', async () => {
    const directory = temporaryDirectory()
    const path = join(directory, 'wrong-passphrase')
    writeFileSync(path, 'wrong-passphrase-canary\n')
    const reason = await reasonFor(settingsOf(directory, [first], { passphrase: { source: 'file', path } }))
    expect(reason).toContain(`of attester ${first.id}`)
    expect(reason).toContain('passphrase')
    expect(reason).not.toContain('canary')
  })

  test('with no passphrase, an address that is not the key’s, an unknown backend or no log it is unusable', async () => {
    const directory = temporaryDirectory()
    const passphrase = { source: 'environment', name: 'COUNTERSIGN_TEST_UNSET' } as const
    expect(await reasonFor(settingsOf(directory, [first], { passphrase }))).toBe('COUNTERSIGN_TEST_UNSET is empty')
    const missing = { source: 'file', path: join(directory, 'nowhere') } as const
    expect(await reasonFor(settingsOf(directory, [first], { passphrase: missing }))).toBe(
      `the passphrase file cannot be read (ENOENT): ${missing.path}`,
    )
    expect(await reasonFor(settingsOf(directory, [{ ...first, address: second.address }]))).toContain(
      `it contains the key of ${first.address}, not of ${second.address}`,
    )
    expect(await reasonFor(settingsOf(directory, [first], { signer: 'other' }))).toBe('unknown signing backend other')
    writeFileSync(join(directory, 'decisions'), 'a file where the folder should be')
    expect(await reasonFor(settingsOf(directory, [first]))).toBe(
      `the decision log in ${join(directory, 'decisions')} cannot be written: ENOTDIR`,
    )
  })

  test('tells its clock', async () => {
    const { control, next } = await startWorker()
    control({ type: 'clock' })
    expect(await next('clock')).toEqual({ type: 'clock', workerMs: 1000 })
  })
})

describe('jobs', () => {
  test('are answered, denied, failed or sent back, each as its policy has it', async () => {
    const { send, decisions } = await startWorker()
    const outcomes = send(
      [1],
      [2, { request: requestOf({ from: DENIED_WALLET }) }],
      [3, { request: requestOf({ value: FAILING_VALUE }) }],
      [4, { targetId: 'unknown' }],
      [5, { kind: 'task' }],
    )
    expect(outcomes.map((outcome) => (outcome.status === 'failed' ? outcome.detail : outcome.status))).toEqual([
      'answered',
      'answered',
      'a policy rule fails for this request; retries will fail until the policy is corrected',
      'target-not-cached',
      'answered',
    ])
    const bodies = outcomes.map((outcome) => (outcome.status === 'answered' ? JSON.parse(outcome.body) : null))
    expect(bodies[0]).toMatchObject({ is_compliant: true, attestation: { attester: first.address } })
    expect(bodies[1]).toEqual({
      policy_id: 'policy_test',
      policy_name: 'Test policy',
      verification_hash: 'x-00112233445566778899aabbccddeeff',
      is_compliant: false,
      attestation: { uuid: jobOf(2).uuid, expiration: 0, attester: '', signature: '' },
      reason: { code: 'TEST_DENIED', message: 'This wallet is denied.' },
    })
    expect(bodies[4]).toMatchObject({ is_compliant: true, signers: [first.address], task_id: jobOf(5).uuid })
    expect(recordsOf(decisions).map(({ uuid }) => uuid)).toEqual([1, 2, 5].map((number) => jobOf(number).uuid))
    expect((await verifyDecisions(decisions)).ok).toBe(true)
  })

  test('whose policy is being compiled are resumed by one later call at a time', async () => {
    let nowMs = 0
    const calls: (() => void)[] = []
    const worker = createWorker(undefined, {
      // Each step of the compilation ends its turn.
      clock: { monotonicMs: () => (nowMs += 2), unixMs: Date.now },
      later: (work) => void calls.push(work),
    })
    worker.control({ type: 'start', settings: settingsOf(temporaryDirectory(), [first]) })
    await worker.next('ready')
    const rules = Array.from({ length: 20 }, (_, at) => `  - { id: r${at}, deny: tx.value == ${at} }\n`)
    const revisions = [revisionWith('revision_test', `name: P\ndefault: allow\nrules:\n${rules.join('')}`)]
    worker.control({ type: 'define', targets: [testTarget({ id: 'target_1' })], revisions })
    expect([...worker.send([1]), ...worker.send([2])]).toEqual([])
    expect(calls).toHaveLength(1)
    calls.shift()?.()
    expect(calls).toHaveLength(1)
  })

  test('a withheld answer is recorded and confirmed', async () => {
    const { send, control, next, decisions } = await startWorker()
    send([1])
    control({ type: 'withheld', uuids: [jobOf(1).uuid] })
    expect(await next('withheld-recorded')).toEqual({ type: 'withheld-recorded', uuids: [jobOf(1).uuid] })
    expect(recordsOf(decisions).map(({ kind }) => kind)).toEqual(['attestation', 'withheld'])
  })

  test('a log that is gone fails them, and takes them again when it is back', async () => {
    const { send, decisions } = await startWorker([first], { segmentMaxBytes: 1 })
    // Rotation after every batch: the next segment can't be made in a folder that is a file.
    expect(send([1]).map(({ status }) => status)).toEqual(['answered'])
    const slot = join(decisions, 'w00')
    renameSync(slot, `${slot}-aside`)
    writeFileSync(slot, '')
    const [failed] = send([2])
    expect(failed).toMatchObject({
      status: 'failed',
      code: 'DEPENDENCY_UNAVAILABLE',
      errorClass: expect.stringMatching(/^DecisionLogError: E[A-Z]+ .*w00/),
    })
    rmSync(slot)
    renameSync(`${slot}-aside`, slot)
    expect(send([3]).map(({ status }) => status)).toEqual(['answered'])
    expect((await verifyDecisions(decisions)).ok).toBe(true)
  })
})

describe('new keys', () => {
  test('sign only once they are committed; the old ones sign until then', async () => {
    const { send, control, next } = await startWorker([first])
    control({ type: 'attesters', version: 1, attesters: [second] })
    expect(attesterOf(send([1])[0])).toBe(first.address)
    expect(await next('attesters-loaded')).toEqual({ type: 'attesters-loaded', version: 1, ok: true, reason: '' })
    expect(attesterOf(send([2])[0])).toBe(first.address)
    control({ type: 'attesters-commit', version: 1 })
    expect(attesterOf(send([3])[0])).toBe(second.address)
  })

  test('that are discarded never sign, also when they were still loading', async () => {
    const { send, control, next } = await startWorker([first])
    for (const version of [1, 2]) {
      control({ type: 'attesters', version, attesters: [second] })
      if (version === 1) await next('attesters-loaded')
      control({ type: 'attesters-discard', version })
      if (version === 2) await next('attesters-loaded')
      control({ type: 'attesters-commit', version })
      expect(attesterOf(send([version])[0])).toBe(first.address)
    }
  })

  test('that can’t be opened change nothing, and the reason is told', async () => {
    const { send, control, next } = await startWorker([first])
    const gone = { ...second, keystorePath: join(keystores, 'gone.json') }
    control({ type: 'attesters', version: 1, attesters: [gone] })
    expect(await next('attesters-loaded')).toEqual({
      type: 'attesters-loaded',
      version: 1,
      ok: false,
      reason: `keystore ${gone.keystorePath} of attester ${gone.id}: the file cannot be read (ENOENT)`,
    })
    expect(attesterOf(send([1])[0])).toBe(first.address)
  })
})

describe('closing', () => {
  test('says so, and takes no job any more', async () => {
    const { send, control, next, decisions } = await startWorker()
    send([1])
    control({ type: 'close' })
    await next('closed')
    expect(send([2])).toEqual([])
    expect(recordsOf(decisions)).toHaveLength(1)
  })

  test('while it starts: it closes once it has started', async () => {
    const worker = createWorker()
    worker.control({ type: 'start', settings: settingsOf(temporaryDirectory(), [first]) })
    worker.control({ type: 'close' })
    await worker.next('closed')
    expect(worker.reports).toEqual([])
  })
})

describe('an end', () => {
  const erasing =
    (open: Controlled['open'], erased: string[]): Controlled['open'] =>
    async (settings, isClosing) => {
      const parts = await open(settings, isClosing)
      const watch = (keyring: Keyring, name: string): Keyring => ({
        ...keyring,
        erase: () => {
          erased.push(name)
          keyring.erase()
        },
      })
      return {
        ...parts,
        keyring: watch(parts.keyring, 'in use'),
        openKeyring: async (attesters, inUse) => watch(await parts.openKeyring(attesters, inUse), 'next'),
      }
    }

  test('erases every key, also one that is still being opened, and nothing is answered or recorded any more', async () => {
    const erased: string[] = []
    const directory = temporaryDirectory()
    const worker = createWorker((open) => erasing(open, erased))
    worker.control({ type: 'start', settings: settingsOf(directory, [first]) })
    await worker.next('ready')
    worker.control({ type: 'attesters', version: 1, attesters: [second] })
    worker.end()
    expect(erased).toEqual(['in use'])
    await worker.next('attesters-loaded')
    expect(erased).toEqual(['in use', 'next'])
    expect(worker.send([1])).toEqual([])
    worker.control({ type: 'withheld', uuids: ['u'] })
    expect(recordsOf(join(directory, 'decisions'))).toEqual([])
  })

  test('of keys comes with the commit of new ones: the old are erased, and only they', async () => {
    const erased: string[] = []
    const worker = createWorker((open) => erasing(open, erased))
    worker.control({ type: 'start', settings: settingsOf(temporaryDirectory(), [first]) })
    await worker.next('ready')
    worker.control({ type: 'attesters', version: 1, attesters: [second] })
    await worker.next('attesters-loaded')
    expect(erased).toEqual([])
    worker.control({ type: 'attesters-commit', version: 1 })
    expect(erased).toEqual(['in use'])
  })

  test('while it starts leaves the log alone: another worker may have the slot by then', async () => {
    const directory = temporaryDirectory()
    const worker = createWorker()
    worker.control({ type: 'start', settings: settingsOf(directory, [first]) })
    worker.end()
    await worker.next('closed')
    expect(existsSync(join(directory, 'decisions'))).toBe(false)
    expect(worker.reports).toEqual([])
  })
})

test('messages before the start are survived', () => {
  const worker = createWorker()
  worker.work([])
  worker.control({ type: 'withheld', uuids: ['u'] })
  worker.control({ type: 'attesters-commit', version: 1 })
  expect(worker.reports).toEqual([])
})
