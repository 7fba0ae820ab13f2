// A keystore of another node can arrive after its attester. Until then, the loaded keys sign, the failure is logged, and the
// load is retried. A retired key stops signing at once.
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

test('a key signs at once if its keystore exists', async () => {
  await change([attester('a'), attester('b')])
  expect(signing).toEqual(stored)
  expect(attesterReload.isCurrent()).toBe(true)
  expect(logged).toEqual(['attesters changed'])
  expect(timers).toEqual([])
})

test('a keystore that arrives later is loaded by a retry', async () => {
  await change([attester('a'), attester('late')])
  expect(signing).toEqual([attester('a')])
  expect(attesterReload.isCurrent()).toBe(false)
  await retry()
  expect(logged).toEqual([UNUSABLE])
  arrived.add('late')
  await retry()
  expect(signing).toEqual(stored)
  expect(attesterReload.isCurrent()).toBe(true)
  expect(logged).toEqual([UNUSABLE, 'attesters changed'])
  expect(timers).toEqual([])
})

test('a retired key stops signing, even if the new keystore is missing', async () => {
  await change([attester('a'), attester('b')])
  await change([attester('b'), attester('late')])
  expect(signing).toEqual([attester('b')])
  expect(attesterReload.isCurrent()).toBe(false)
  await change([attester('b', 'retiring'), attester('late')])
  // The last key stays, because no active key would be left.
  expect(signing).toEqual([attester('b')])
})

test('a failed read of the store changes nothing', async () => {
  readFails = true
  await change([])
  expect(signing).toEqual([attester('a')])
  expect(attesterReload.isCurrent()).toBe(false)
  readFails = false
  await change([attester('b')])
  expect(signing).toEqual([attester('b')])
  expect(attesterReload.isCurrent()).toBe(true)
})

test('nothing is retried after the stop', async () => {
  await change([attester('a'), attester('late')])
  attesterReload.stop()
  expect(timers).toEqual([])
  arrived.add('late')
  await change([attester('late')])
  expect(signing).toEqual([attester('a')])
})

test('an unchanged set is not loaded again', async () => {
  await change([attester('a')])
  expect([signing, logged, attesterReload.isCurrent()]).toEqual([stored, [], true])
})

test('a change is pending while workers cannot remove the retired key', async () => {
  await change([attester('a'), attester('b')])
  arrived.delete('b')
  nowMs = 7
  await change([attester('b')])
  expect([signing, attesterReload.behindSinceMs()]).toEqual([[attester('a'), attester('b')], 7])
  arrived.add('b')
  await retry()
  expect([signing, attesterReload.behindSinceMs()]).toEqual([[attester('b')], null])
})

test('a change is pending until no retired key signs, even if a new keystore is missing', async () => {
  await change([attester('a'), attester('b')])
  expect(attesterReload.behindSinceMs()).toBeNull()
  nowMs = 7
  readFails = true
  await change([attester('b'), attester('late')])
  expect(attesterReload.behindSinceMs()).toBe(7)
  nowMs = 8
  readFails = false
  await retry()
  expect([signing, attesterReload.behindSinceMs()]).toEqual([[attester('b')], null])
  expect(attesterReload.isCurrent()).toBe(false)
})

test('a retiring key signs until its successor of the same kind is loaded, and a retired one does not', async () => {
  const solana = attester('s', 'active', 'ed25519')
  arrived = new Set(['a', 's', 'b'])
  await change([attester('a'), solana])
  const sets: string[] = []
  const { push } = logged
  logged.push = (...texts) => {
    sets.push(signing.map(({ id }) => id).join())
    return push.apply(logged, texts)
  }
  nowMs = 9
  await change([attester('a', 'retiring'), solana, attester('late')])
  expect([signing, attesterReload.behindSinceMs()]).toEqual([[attester('a'), solana], null])
  expect(attesterReload.hasEveryKind()).toBe(true)
  await change([solana, attester('late')])
  expect([signing, attesterReload.behindSinceMs()]).toEqual([[solana], null])
  expect(attesterReload.hasEveryKind()).toBe(false)
  await change([solana, attester('b')])
  expect(signing).toEqual(stored)
  expect(attesterReload.hasEveryKind()).toBe(true)
  expect(sets.at(-2)).toBe('s')
  expect(sets.at(-1)).toBe('s,b')
})
