// A keystore of another node can arrive after its attester. Until then, the loaded keys sign, the failure is logged,
// and the load is retried. A retired key stops signing at once.
import { beforeEach, expect, test } from 'bun:test'
import { type AttesterReload, createAttesterReload } from '../../src/pool/attester-reload.ts'
import type { AttesterReference } from '../../src/pool/protocol.ts'

const attester = (
  id: string,
  status: AttesterReference['status'] = 'active',
  kind: AttesterReference['kind'] = 'secp256k1',
): AttesterReference => ({
  id,
  status,
  kind,
  address: `0x${id}`,
  keystorePath: `/keystores/${id}.json`,
})

let stored: readonly AttesterReference[]
let readFails: boolean
let arrived: Set<string>
let signing: readonly AttesterReference[]
let logged: string[]
let timers: (() => void)[]
let attesterReload: AttesterReload
let nowMs: number

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
const change = async (next: readonly AttesterReference[]): Promise<void> => {
  stored = next
  attesterReload.reload()
  await settled()
}
const retry = async (): Promise<void> => {
  for (const callback of timers.splice(0)) callback()
  await settled()
}

beforeEach(() => {
  stored = [attester('a')]
  nowMs = 0
  readFails = false
  arrived = new Set(['a', 'b'])
  signing = stored
  logged = []
  timers = []
  attesterReload = createAttesterReload({
    inUse: stored,
    read: async () => {
      if (readFails) throw new Error('no store')
      return stored
    },
    pool: {
      updateAttesters: async (attesters) => {
        if (!attesters.every(({ id }) => arrived.has(id))) throw new Error('not there')
        signing = attesters
      },
    },
    clock: { monotonicMs: () => nowMs },
    log: { info: (message) => logged.push(message), error: (message) => logged.push(message) },
    after: (_delayMs, callback) => {
      timers.push(callback)
      return () => {
        timers = timers.filter((each) => each !== callback)
      }
    },
  })
})

const UNUSABLE = 'could not load the changed attesters; will retry'

/** The signing attesters, and whether they are the stored ones. */
const state = () => [signing, attesterReload.isCurrent()] as const
/** The signing attesters, and the time since which a change is pending. */
const pending = () => [signing, attesterReload.behindSinceMs()] as const
const [A, B, LATE] = [attester('a'), attester('b'), attester('late')]

test('a key signs at once if its keystore exists', async () => {
  await change([A, B])
  expect([state(), logged, timers]).toEqual([[stored, true], ['attesters changed'], []])
})

test('a keystore that arrives later is loaded by a retry', async () => {
  await change([A, LATE])
  expect(state()).toEqual([[A], false])
  await retry()
  expect(logged).toEqual([UNUSABLE])
  arrived.add('late')
  await retry()
  expect([state(), logged, timers]).toEqual([[stored, true], [UNUSABLE, 'attesters changed'], []])
})

test('a retired key stops signing, even if the new keystore is missing', async () => {
  await change([A, B])
  await change([B, LATE])
  expect(state()).toEqual([[B], false])
  await change([attester('b', 'retiring'), LATE])
  // The last key is kept, because otherwise no active key would remain.
  expect(signing).toEqual([B])
})

test('a failed read of the store does not change the keys', async () => {
  readFails = true
  await change([])
  expect(state()).toEqual([[A], false])
  readFails = false
  await change([B])
  expect(state()).toEqual([[B], true])
})

test('no load is retried after the stop', async () => {
  await change([A, LATE])
  attesterReload.stop()
  expect(timers).toEqual([])
  arrived.add('late')
  await change([LATE])
  expect(signing).toEqual([A])
})

test('an unchanged set is not loaded again', async () => {
  await change([A])
  expect([state(), logged]).toEqual([[stored, true], []])
})

test('a change is pending while workers cannot remove the retired key', async () => {
  await change([A, B])
  arrived.delete('b')
  nowMs = 7
  await change([B])
  expect(pending()).toEqual([[A, B], 7])
  arrived.add('b')
  await retry()
  expect(pending()).toEqual([[B], null])
})

test('a change is pending until no retired key signs, even if a new keystore is missing', async () => {
  await change([A, B])
  expect(attesterReload.behindSinceMs()).toBeNull()
  nowMs = 7
  readFails = true
  await change([B, LATE])
  expect(attesterReload.behindSinceMs()).toBe(7)
  nowMs = 8
  readFails = false
  await retry()
  expect([pending(), attesterReload.isCurrent()]).toEqual([[[B], null], false])
})

test('a retiring key signs until its successor of the same kind is loaded, and a retired one does not', async () => {
  const solana = attester('s', 'active', 'ed25519')
  arrived = new Set(['a', 's', 'b'])
  await change([A, solana])
  const sets: string[] = []
  const { push } = logged
  logged.push = (...texts) => {
    sets.push(signing.map(({ id }) => id).join())
    return push.apply(logged, texts)
  }
  nowMs = 9
  await change([attester('a', 'retiring'), solana, LATE])
  expect([pending(), attesterReload.hasEveryKind()]).toEqual([[[A, solana], null], true])
  await change([solana, LATE])
  expect([pending(), attesterReload.hasEveryKind()]).toEqual([[[solana], null], false])
  await change([solana, B])
  expect([signing, attesterReload.hasEveryKind(), sets.slice(-2)]).toEqual([stored, true, ['s', 's,b']])
})
