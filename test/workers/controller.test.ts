// The messages of a signing worker, in this thread, with real keys, a real policy and a real log.
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
import { Controller, type ControllerDependencies } from '../../workers/signing/controller.ts'
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
const createWorker = (changes: Partial<ControllerDependencies> = {}) => {
  const reports: WorkerReport[] = []
  const outcomes: Outcome[] = []
  let wake: () => void = () => undefined
  const controller = new Controller({
    outcomes: (batch) => outcomes.push(...batch.outcomes),
    report: (report) => {
      reports.push(report)
      wake()
    },
    open: (settings, isClosing) => openWorkerParts(settings, Date.now, isClosing),
    clock: { monotonicMs: () => 1000, unixMs: Date.now },
    later: (work) => setImmediate(work),
    ...changes,
  })
  /** Returns the next report of this type; waits for it if there is none yet. */
  const next = async <Type extends WorkerReport['type']>(
    type: Type,
  ): Promise<Extract<WorkerReport, { type: Type }>> => {
    for (;;) {
      const index = reports.findIndex((report) => report.type === type)
      if (index >= 0) return reports.splice(index, 1)[0] as never
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
  const start = (
    directory: string,
    attesters: readonly AttesterReference[],
    overrides: Partial<WorkerSettings> = {},
  ) => {
    const thread = { slot: 0, generation: 0, shared: createSharedState() }
    controller.control({ type: 'start', settings: { ...settingsFor(directory, attesters, overrides), ...thread } })
  }
  return { control: controller.control.bind(controller), controller, start, next, send, reports }
}

const startWorker = async (attesters = [first, solana], overrides: Partial<WorkerSettings> = {}) => {
  const directory = temporaryDirectory()
  const worker = createWorker()
  worker.start(directory, attesters, overrides)
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
  test('reports the backend, the keys and the segment', async () => {
    const { ready, decisions } = await startWorker([first, { ...second, status: 'retiring' }, solana])
    expect(ready).toMatchObject({ evmAttesters: [first.address], solanaAttesters: [solana.address] })
    expect(['libsecp256k1', 'secp256k1-node', 'noble']).toContain(ready.signer)
    expect(ready.segmentPath).toBe(join(decisions, 'w00', readdirSync(join(decisions, 'w00'))[0] ?? ''))
  })

  const directory = temporaryDirectory()
  const wrongPath = join(directory, 'wrong-passphrase')
  const missing = { source: 'file', path: join(directory, 'nowhere') } as const
  writeFileSync(wrongPath, 'wrong-passphrase-canary\n')
  writeFileSync(join(directory, 'file'), 'a file where the folder should be')
  test.each<[string, Partial<WorkerSettings>, string | RegExp, AttesterReference?]>([
    [
      'a wrong passphrase, which is not in the reason',
      { passphrase: { source: 'file', path: wrongPath } },
      new RegExp(`^(?!.*canary).*of attester ${first.id}.*passphrase`),
    ],
    [
      'no passphrase',
      { passphrase: { source: 'environment', name: 'COUNTERSIGN_TEST_UNSET' } },
      'COUNTERSIGN_TEST_UNSET is empty',
    ],
    ['no file', { passphrase: missing }, `the passphrase file cannot be read (ENOENT): ${missing.path}`],
    [
      'a key for a different address',
      {},
      new RegExp(`it contains the key of ${first.address}, not of ${second.address}`),
      { ...first, address: second.address },
    ],
    ['an unknown backend', { signer: 'other' }, 'unknown signing backend other'],
    [
      'no log',
      { decisionsDirectory: join(directory, 'file') },
      `the decision log in ${join(directory, 'file')} cannot be written: ENOTDIR`,
    ],
  ])('with %s reports that it is unusable', async (_name, overrides, reason, attester = first) => {
    const worker = createWorker()
    worker.start(directory, [attester], overrides)
    const report = await worker.next('unusable')
    if (reason instanceof RegExp) expect(report.reason).toMatch(reason)
    else expect(report.reason).toBe(reason)
  })

  test('reports its clock', async () => {
    const { control, next } = await startWorker()
    control({ type: 'clock' })
    expect(await next('clock')).toEqual({ type: 'clock', workerMs: 1000 })
  })
})

describe('jobs', () => {
  test('are compliant, denied, failed or sent back, as their policies decide', async () => {
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

  test('that wait for the compilation of a policy are resumed by one scheduled call at a time', async () => {
    let nowMs = 0
    const calls: (() => void)[] = []
    const worker = createWorker({
      // Each step of the compilation ends its turn.
      clock: { monotonicMs: () => (nowMs += 2), unixMs: Date.now },
      later: (work) => void calls.push(work),
    })
    worker.start(temporaryDirectory(), [first])
    await worker.next('ready')
    const rules = Array.from({ length: 20 }, (_, at) => `  - { id: r${at}, deny: tx.value == ${at} }\n`)
    const revisions = [revisionWith('revision_test', `name: P\ndefault: allow\nrules:\n${rules.join('')}`)]
    worker.control({ type: 'define', targets: [testTarget({ id: 'target_1' })], revisions })
    expect([...worker.send([1]), ...worker.send([2])]).toEqual([])
    expect(calls).toHaveLength(1)
    calls.shift()?.()
    expect(calls).toHaveLength(1)
  })

  test('whose answers are withheld are recorded as withheld, with a confirmation', async () => {
    const { send, control, next, decisions } = await startWorker()
    send([1])
    control({ type: 'withheld', uuids: [jobOf(1).uuid] })
    expect(await next('withheld-recorded')).toEqual({ type: 'withheld-recorded', uuids: [jobOf(1).uuid] })
    expect(recordsOf(decisions).map(({ kind }) => kind)).toEqual(['attestation', 'withheld'])
  })

  test('fail while the log cannot be written', async () => {
    const { send, decisions } = await startWorker([first], { segmentMaxBytes: 1 })
    // Rotation after every batch; the next segment cannot be created in a folder that is a file.
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
  test('sign after their commit; the old keys sign until then', async () => {
    const { send, control, next } = await startWorker([first])
    control({ type: 'attesters', version: 1, attesters: [second] })
    expect(attesterOf(send([1])[0])).toBe(first.address)
    expect(await next('attesters-loaded')).toEqual({ type: 'attesters-loaded', version: 1, ok: true, reason: '' })
    expect(attesterOf(send([2])[0])).toBe(first.address)
    control({ type: 'attesters-commit', version: 1 })
    expect(attesterOf(send([3])[0])).toBe(second.address)
  })

  test('that are discarded never sign, even if they were still loading', async () => {
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

  test('that cannot be opened change nothing, and are reported with the reason', async () => {
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
  test('is reported; later jobs are ignored', async () => {
    const { send, control, next, decisions } = await startWorker()
    send([1])
    control({ type: 'close' })
    await next('closed')
    expect(send([2])).toEqual([])
    expect(recordsOf(decisions)).toHaveLength(1)
  })

  test('during startup happens after startup', async () => {
    const worker = createWorker()
    worker.start(temporaryDirectory(), [first])
    worker.control({ type: 'close' })
    await worker.next('closed')
    expect(worker.reports).toEqual([])
  })
})

describe('keys are erased', () => {
  /** A worker that loads new keys while the first ones are in use. */
  const startErasing = async () => {
    const erased: string[] = []
    const directory = temporaryDirectory()
    const watch = (keyring: Keyring, name: string): Keyring => ({
      ...keyring,
      erase: () => {
        erased.push(name)
        keyring.erase()
      },
    })
    const worker = createWorker({
      open: async (settings, isClosing) => {
        const parts = await openWorkerParts(settings, Date.now, isClosing)
        return {
          ...parts,
          keyring: watch(parts.keyring, 'in use'),
          openKeyring: async (attesters, inUse) => watch(await parts.openKeyring(attesters, inUse), 'next'),
        }
      },
    })
    worker.start(directory, [first])
    await worker.next('ready')
    worker.control({ type: 'attesters', version: 1, attesters: [second] })
    return { worker, erased, decisions: join(directory, 'decisions') }
  }

  test('at the end, including keys that are being opened; no further job is answered or recorded', async () => {
    const { worker, erased, decisions } = await startErasing()
    worker.controller.end()
    expect(erased).toEqual(['in use'])
    await worker.next('attesters-loaded')
    expect(erased).toEqual(['in use', 'next'])
    expect(worker.send([1])).toEqual([])
    worker.control({ type: 'withheld', uuids: ['u'] })
    expect(recordsOf(decisions)).toEqual([])
  })

  test('when new keys replace them', async () => {
    const { worker, erased } = await startErasing()
    await worker.next('attesters-loaded')
    expect(erased).toEqual([])
    worker.control({ type: 'attesters-commit', version: 1 })
    expect(erased).toEqual(['in use'])
  })
})

describe('a worker', () => {
  test('that ends during startup does not open the log, because another worker may have the slot', async () => {
    const directory = temporaryDirectory()
    const worker = createWorker()
    worker.start(directory, [first])
    worker.controller.end()
    await worker.next('closed')
    expect(existsSync(join(directory, 'decisions'))).toBe(false)
    expect(worker.reports).toEqual([])
  })

  test('ignores messages before the start', () => {
    const worker = createWorker()
    worker.controller.work([])
    worker.control({ type: 'withheld', uuids: ['u'] })
    worker.control({ type: 'attesters-commit', version: 1 })
    expect(worker.reports).toEqual([])
  })
})
