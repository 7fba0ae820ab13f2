// Updates of the attester keys: either all workers use the new keys or none do, and jobs do not wait.
import { expect, test } from 'bun:test'
import type { AttesterReference } from '../../src/pool/protocol.ts'
import type { FakeWorker } from './support/fake-worker.ts'
import { createHarness, type Harness, type HarnessOptions, startHarness } from './support/harness.ts'

const reference = (id: string): AttesterReference => ({
  id,
  kind: 'secp256k1',
  address: `0x${id.padStart(40, '0')}`,
  keystorePath: `/keystores/${id}`,
  status: 'active',
})

/** Starts an update; resolves to null, or to the reason of the failure. */
const update = ({ pool }: Harness, id = 'a'): Promise<string | null> =>
  pool.updateAttesters([reference(id)]).then(
    () => null,
    (error) => error.detail,
  )

const startUpdate = async (options: HarnessOptions) => {
  const harness = await startHarness(options)
  const updated = update(harness)
  await harness.pump()
  return { harness, updated }
}

const MUTE: HarnessOptions = { workers: 1, behaviour: () => ({ mute: true }) }

const typesOf = ({ controls }: FakeWorker): string[] =>
  controls.map(({ type }) => type).filter((type) => type.startsWith('attesters'))

test('every worker loads the keys before any worker uses them', async () => {
  const { harness, updated } = await startUpdate({ workers: 2, behaviour: (spawned) => ({ mute: spawned === 1 }) })
  expect(harness.workers.map(typesOf)).toEqual([['attesters'], ['attesters']])
  harness.worker(1).report({ type: 'attesters-loaded', version: 1, ok: true, reason: '' })
  await harness.pump()
  expect(await updated).toBeNull()
  const committed = ['attesters', 'attesters-commit']
  expect(harness.workers.map(typesOf)).toEqual([committed, committed])
})

test('if one worker cannot load the keys, all discard them, and the update fails with its reason', async () => {
  const { harness, updated } = await startUpdate({
    workers: 2,
    behaviour: (spawned) => (spawned === 1 ? { attestersReason: 'a keystore is damaged' } : {}),
  })
  expect(await updated).toBe('a keystore is damaged')
  expect(harness.workers.map((worker) => typesOf(worker).at(-1))).toEqual(['attesters-discard', 'attesters-discard'])
  // A new worker gets the old keys.
  harness.pool.resize(3)
  await harness.pump()
  expect(harness.worker(2).settings?.attesters).toEqual([])
})

test('a worker that starts after the update has the new keys', async () => {
  const { harness, updated } = await startUpdate({ workers: 1 })
  await updated
  await harness.lose(0)
  expect(harness.worker(1).settings?.attesters).toEqual([reference('a')])
  expect(harness.pool.stats()).toMatchObject({ workers: 1, restarts: { crash: 1, start: 0 } })
})

test('the update does not wait for a lost worker, and its replacement gets the new keys', async () => {
  const { harness, updated } = await startUpdate({ workers: 2, behaviour: (spawned) => ({ mute: spawned === 1 }) })
  await harness.lose(1)
  await updated
  await harness.advance(1_000)
  const replacement = harness.worker(harness.workers.length - 1)
  const hasStarted = replacement.settings?.attesters.length === 1
  expect(hasStarted || typesOf(replacement).includes('attesters-commit')).toBe(true)
  expect(harness.pool.stats().workers).toBe(2)
})

test('a worker that is starting takes part in the update', async () => {
  const harness = await startHarness({ workers: 1 })
  harness.pool.resize(2)
  const updated = update(harness)
  await harness.pump()
  await updated
  expect(harness.worker(1).settings?.attesters).toEqual([])
  expect(typesOf(harness.worker(1))).toEqual(['attesters', 'attesters-commit'])
  expect(harness.pool.stats()).toMatchObject({ workers: 2, restarts: { start: 0 } })
})

test('updates run one after another, even after a failure', async () => {
  const harness = await startHarness(MUTE)
  const results = [update(harness, 'a'), update(harness, 'b')]
  await harness.pump()
  expect(typesOf(harness.worker(0))).toEqual(['attesters'])
  for (const [version, ok, reason] of [
    [1, false, 'no'],
    [2, true, ''],
  ] as const) {
    harness.worker(0).report({ type: 'attesters-loaded', version, ok, reason })
    await harness.pump()
  }
  expect(await Promise.all(results)).toEqual(['no', null])
  expect(typesOf(harness.worker(0))).toEqual(['attesters', 'attesters-discard', 'attesters', 'attesters-commit'])
})

test('an update times out if a worker does not load the keys', async () => {
  const { harness, updated } = await startUpdate(MUTE)
  await harness.advance(60_000)
  expect(await updated).toBe('loading the keys in the workers timed out')
})

test('a report about another version is ignored', async () => {
  const { harness, updated } = await startUpdate(MUTE)
  harness.worker(0).report({ type: 'attesters-loaded', version: 7, ok: false, reason: 'other' })
  harness.worker(0).report({ type: 'attesters-loaded', version: 1, ok: true, reason: '' })
  await harness.pump()
  expect(await updated).toBeNull()
})

test('jobs are answered while keys load', async () => {
  const { harness } = await startUpdate(MUTE)
  const {
    answers: [answer],
  } = await harness.load(1, 1)
  await harness.answer(0)
  expect((await answer)?.answer).not.toBeNull()
})

test('the first worker gets keys that were updated before the start', async () => {
  const harness = createHarness({ workers: 1 })
  await update(harness)
  const started = harness.pool.start()
  await harness.pump()
  await started
  expect(harness.worker(0).settings?.attesters).toEqual([reference('a')])
})
