// New keys: all workers or none, and no job is kept waiting.
import { expect, test } from 'bun:test'
import type { AttesterReference } from '../../src/pool/protocol.ts'
import { createHarness, startHarness } from './support/harness.ts'

const reference = (id: string): AttesterReference => ({
  id,
  kind: 'secp256k1',
  address: `0x${id.padStart(40, '0')}`,
  keystorePath: `/keystores/${id}`,
  status: 'active',
})

const reasonOf = (promise: Promise<void>): Promise<string | null> =>
  promise.then(
    () => null,
    (error) => error.detail,
  )

const typesOf = (worker: { controls: readonly { type: string }[] }): string[] =>
  worker.controls.map(({ type }) => type).filter((type) => type.startsWith('attesters'))

test('every worker loads the keys before any of them uses them', async () => {
  const harness = await startHarness({ workers: 2, behaviour: (spawned) => ({ mute: spawned === 1 }) })
  const updated = reasonOf(harness.pool.updateAttesters([reference('a')]))
  await harness.pump()
  expect(harness.workers.map(typesOf)).toEqual([['attesters'], ['attesters']])
  harness.worker(1).say({ type: 'attesters-loaded', version: 1, ok: true, reason: '' })
  await harness.pump()
  expect(await updated).toBeNull()
  expect(harness.workers.map(typesOf)).toEqual([
    ['attesters', 'attesters-commit'],
    ['attesters', 'attesters-commit'],
  ])
})

test('one worker that can’t load them: none uses them, and the reason comes back', async () => {
  const harness = await startHarness({
    workers: 2,
    behaviour: (spawned) => (spawned === 1 ? { attestersReason: 'a keystore is damaged' } : {}),
  })
  const updated = reasonOf(harness.pool.updateAttesters([reference('a')]))
  await harness.pump()
  expect(await updated).toBe('a keystore is damaged')
  expect(harness.workers.map((worker) => typesOf(worker).at(-1))).toEqual(['attesters-discard', 'attesters-discard'])
  // A worker that starts now gets the old set.
  harness.pool.resize(3)
  await harness.pump()
  expect(harness.worker(2).settings?.attesters).toEqual([])
})

test('workers that start later start with the new keys', async () => {
  const harness = await startHarness({ workers: 1 })
  const updated = harness.pool.updateAttesters([reference('a')])
  await harness.pump()
  await updated
  await harness.lose(0)
  expect(harness.worker(1).settings?.attesters).toEqual([reference('a')])
  expect(harness.pool.stats()).toMatchObject({ workers: 1, restarts: { crash: 1, start: 0 } })
})

test('a worker that is lost meanwhile is not waited for, and its successor ends up with the new keys', async () => {
  const harness = await startHarness({ workers: 2, behaviour: (spawned) => ({ mute: spawned === 1 }) })
  const updated = harness.pool.updateAttesters([reference('a')])
  await harness.pump()
  await harness.lose(1)
  await updated
  await harness.advance(1_000)
  const successor = harness.workers.at(-1)
  const types = successor === undefined ? [] : typesOf(successor)
  expect(successor?.settings?.attesters.length === 1 || types.includes('attesters-commit')).toBe(true)
  expect(harness.pool.stats().workers).toBe(2)
})

test('a worker that is starting takes part', async () => {
  const harness = await startHarness({ workers: 1 })
  harness.pool.resize(2)
  const updated = harness.pool.updateAttesters([reference('a')])
  await harness.pump()
  await updated
  expect(harness.worker(1).settings?.attesters).toEqual([])
  expect(typesOf(harness.worker(1))).toEqual(['attesters', 'attesters-commit'])
  expect(harness.pool.stats()).toMatchObject({ workers: 2, restarts: { start: 0 } })
})

test('updates follow one another, and a failed one does not stop the next', async () => {
  const harness = await startHarness({ workers: 1, behaviour: () => ({ mute: true }) })
  const first = reasonOf(harness.pool.updateAttesters([reference('a')]))
  const second = reasonOf(harness.pool.updateAttesters([reference('b')]))
  await harness.pump()
  expect(typesOf(harness.worker(0))).toEqual(['attesters'])
  harness.worker(0).say({ type: 'attesters-loaded', version: 1, ok: false, reason: 'no' })
  await harness.pump()
  harness.worker(0).say({ type: 'attesters-loaded', version: 2, ok: true, reason: '' })
  await harness.pump()
  expect([await first, await second]).toEqual(['no', null])
  expect(typesOf(harness.worker(0))).toEqual(['attesters', 'attesters-discard', 'attesters', 'attesters-commit'])
})

test('a worker that never loads them fails the update in the end', async () => {
  const harness = await startHarness({ workers: 1, behaviour: () => ({ mute: true }) })
  const updated = reasonOf(harness.pool.updateAttesters([reference('a')]))
  await harness.pump()
  await harness.advance(60_000)
  expect(await updated).toBe('loading the keys in the workers timed out')
})

test('a late word about an older version changes nothing', async () => {
  const harness = await startHarness({ workers: 1, behaviour: () => ({ mute: true }) })
  const updated = reasonOf(harness.pool.updateAttesters([reference('a')]))
  await harness.pump()
  harness.worker(0).say({ type: 'attesters-loaded', version: 7, ok: false, reason: 'other' })
  harness.worker(0).say({ type: 'attesters-loaded', version: 1, ok: true, reason: '' })
  await harness.pump()
  expect(await updated).toBeNull()
})

test('jobs are sent and answered while keys load', async () => {
  const harness = await startHarness({ workers: 1, behaviour: () => ({ mute: true }) })
  harness.pool.updateAttesters([reference('a')]).catch(() => undefined)
  await harness.pump()
  const answer = harness.submit(1)
  await harness.pump()
  await harness.answer(0)
  expect((await answer).answer).not.toBeNull()
})

test('without a worker the set is simply the next one’s', async () => {
  const harness = createHarness({ workers: 1 })
  await harness.pool.updateAttesters([reference('a')])
  const started = harness.pool.start()
  await harness.pump()
  await started
  expect(harness.worker(0).settings?.attesters).toEqual([reference('a')])
})
