// A keystore that another node made is on its way: the keys in use sign on, that is said, and the new one is loaded when it
// has arrived, without a restart and without another change. What was retired meanwhile signs no more.
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
let said: string[]
let timers: (() => void)[]
let attesterReload: AttesterReload
let nowMs: number

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
const changed = async (next: readonly AttesterReference[]): Promise<void> => {
  stored = next
  attesterReload.reload()
  await settled()
}
const fiveSecondsLater = async (): Promise<void> => {
  for (const callback of timers.splice(0)) callback()
  await settled()
}

beforeEach(() => {
  stored = [attester('a')]
  nowMs = 0
  readFails = false
  arrived = new Set(['a', 'b'])
  signing = stored
  said = []
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
    log: { info: (message) => said.push(message), error: (message) => said.push(message) },
    after: (_delayMs, callback) => {
      timers.push(callback)
      return () => {
        timers = timers.filter((each) => each !== callback)
      }
    },
  })
})

const UNUSABLE = 'could not load the changed attesters; will retry'

test('a keystore that is there signs at once', async () => {
  await changed([attester('a'), attester('b')])
  expect(signing).toEqual(stored)
  expect(attesterReload.isCurrent()).toBe(true)
  expect(said).toEqual(['attesters changed'])
  expect(timers).toEqual([])
})

test('a keystore that arrives later is loaded then', async () => {
  await changed([attester('a'), attester('late')])
  expect(signing).toEqual([attester('a')])
  expect(attesterReload.isCurrent()).toBe(false)
  await fiveSecondsLater()
  expect(said).toEqual([UNUSABLE])
  arrived.add('late')
  await fiveSecondsLater()
  expect(signing).toEqual(stored)
  expect(attesterReload.isCurrent()).toBe(true)
  expect(said).toEqual([UNUSABLE, 'attesters changed'])
  expect(timers).toEqual([])
})

test('a key that is retired with it signs no more, although the new one is not there', async () => {
  await changed([attester('a'), attester('b')])
  await changed([attester('b'), attester('late')])
  expect(signing).toEqual([attester('b')])
  expect(attesterReload.isCurrent()).toBe(false)
  await changed([attester('b', 'retiring'), attester('late')])
  // Nothing active would be left: who signs last goes on.
  expect(signing).toEqual([attester('b')])
})

test('while the store can not be read nothing changes', async () => {
  readFails = true
  await changed([])
  expect(signing).toEqual([attester('a')])
  expect(attesterReload.isCurrent()).toBe(false)
  readFails = false
  await changed([attester('b')])
  expect(signing).toEqual([attester('b')])
  expect(attesterReload.isCurrent()).toBe(true)
})

test('after a stop nothing is tried any more', async () => {
  await changed([attester('a'), attester('late')])
  attesterReload.stop()
  expect(timers).toEqual([])
  arrived.add('late')
  await changed([attester('late')])
  expect(signing).toEqual([attester('a')])
})

test('the same set as before is not loaded again', async () => {
  await changed([attester('a')])
  expect([signing, said, attesterReload.isCurrent()]).toEqual([stored, [], true])
})

test('a change has no effect while workers can not take the retired key out', async () => {
  await changed([attester('a'), attester('b')])
  arrived.delete('b')
  nowMs = 7
  await changed([attester('b')])
  expect([signing, attesterReload.behindSinceMs()]).toEqual([[attester('a'), attester('b')], 7])
  arrived.add('b')
  await fiveSecondsLater()
  expect([signing, attesterReload.behindSinceMs()]).toEqual([[attester('b')], null])
})

test('a change has no effect until no retired key signs, which needs no new keystore', async () => {
  await changed([attester('a'), attester('b')])
  expect(attesterReload.behindSinceMs()).toBeNull()
  nowMs = 7
  readFails = true
  await changed([attester('b'), attester('late')])
  expect(attesterReload.behindSinceMs()).toBe(7)
  nowMs = 8
  readFails = false
  await fiveSecondsLater()
  expect([signing, attesterReload.behindSinceMs()]).toEqual([[attester('b')], null])
  expect(attesterReload.isCurrent()).toBe(false)
})

test('a key stays until its successor of the same kind is opened, but never once it is retired', async () => {
  const solana = attester('s', 'active', 'ed25519')
  arrived = new Set(['a', 's', 'b'])
  await changed([attester('a'), solana])
  const sets: string[] = []
  const { push } = said
  said.push = (...texts) => {
    sets.push(signing.map(({ id }) => id).join())
    return push.apply(said, texts)
  }
  nowMs = 9
  await changed([attester('a', 'retiring'), solana, attester('late')])
  expect([signing, attesterReload.behindSinceMs()]).toEqual([[attester('a'), solana], null])
  expect(attesterReload.hasEveryKind()).toBe(true)
  await changed([solana, attester('late')])
  expect([signing, attesterReload.behindSinceMs()]).toEqual([[solana], null])
  expect(attesterReload.hasEveryKind()).toBe(false)
  await changed([solana, attester('b')])
  expect(signing).toEqual(stored)
  expect(attesterReload.hasEveryKind()).toBe(true)
  expect(sets.at(-2)).toBe('s')
  expect(sets.at(-1)).toBe('s,b')
})
