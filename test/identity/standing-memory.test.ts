// The cache of standings and its index, compared with maps, in a memory so small that records evict each other.
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createRecordIndex } from '../../src/identity/standing/record-index.ts'
import type { KnownStanding, StandingsByType, StandingType } from '../../src/identity/standing/standing.ts'
import { createStandingMemory, type StandingRecord } from '../../src/identity/standing/standing-memory.ts'
import {
  NEVER_SEEN,
  RECORD_BYTES_MAX,
  readStandingAt,
  writeStandings,
} from '../../src/identity/standing/standing-record.ts'
import { evmWallet, SOLANA_WALLET } from './support.ts'

const TYPES: readonly StandingType[] = ['any', 'kyc', 'kyb']
const ROOM = { maxBytes: 2 ** 22 }
const caller = { organizationId: 'org_1', environment: 'live' } as const
const [W1, W2] = [evmWallet(1), evmWallet(2)]

const walletOf = fc.record({
  address: fc.oneof(fc.constant(SOLANA_WALLET), fc.nat(1_000).map(evmWallet)),
  chain: fc.constantFrom('ethereum', 'solana', 'eip155:123456'),
})
const seen: fc.Arbitrary<KnownStanding> = fc.record({
  verifying: fc.option(
    fc.record({
      checkType: fc.constantFrom('kyc', 'kyb'),
      level: fc.constantFrom(1, 2, 3),
      completedAtSeconds: fc.option(fc.nat(2 ** 32 - 1)),
    }),
  ),
  status: fc.constantFrom('pending', 'submitted', 'completed', 'rejected', 'retry'),
  userId: fc.option(fc.uuid()),
  wallets: fc.array(walletOf, { maxLength: 30 }),
  details: fc.constantFrom(undefined, null, { country: 'CH', birthDate: '2004-02-29' }),
})
const standingsOf: fc.Arbitrary<StandingsByType> = fc
  .tuple(seen, seen, fc.constantFrom('same', 'none', 'other'), fc.constantFrom('same', 'none', 'other'))
  .map(([any, other, kyc, kyb]) => {
    const of = { same: any, none: NEVER_SEEN, other }
    return { any, kyc: of[kyc], kyb: of[kyb] }
  })

const verified = (userId: string): StandingsByType => {
  const any: KnownStanding = {
    verifying: { checkType: 'kyc', level: 1, completedAtSeconds: 1_700_000_000 },
    status: 'completed',
    userId,
    wallets: [{ address: W1, chain: 'ethereum' }],
  }
  return { any, kyc: any, kyb: NEVER_SEEN }
}
const record = (changes: Partial<StandingRecord>): StandingRecord => ({
  caller,
  address: W1,
  level: 1,
  standings: verified('user'),
  personIds: ['person_1'],
  otherAddresses: [SOLANA_WALLET],
  readAt: 0,
  ...changes,
})

test('a standing that was read before its organization was dropped is not kept', () => {
  const memory = createStandingMemory(ROOM)
  const readAt = memory.now()
  memory.forget(caller.organizationId)
  memory.keep(record({ readAt }))
  expect(memory.find(caller, W1, 1, 'any', null)).toBeUndefined()
  memory.keep(record({ readAt: memory.now() }))
  expect(memory.find(caller, W1, 1, 'any', null)).toEqual(verified('user').any)
})

describe('an encoded standing', () => {
  test('decodes to the same standing', () => {
    const bytes = Buffer.alloc(RECORD_BYTES_MAX)
    fc.assert(
      fc.property(standingsOf, (standings) => {
        const size = writeStandings(standings, bytes)
        expect(size).toBeGreaterThan(0)
        for (const type of TYPES) expect<unknown>(readStandingAt(bytes, 0, size, type)).toEqual(standings[type])
      }),
    )
  })

  test.each([
    ['a string beyond Latin-1', { chain: 'чейн', address: W1 }, 1],
    ['a string that is too long', { chain: 'c'.repeat(256), address: W1 }, 1],
    ['more wallets than a byte can count', { chain: 'ethereum', address: W1 }, 256],
  ])('with %s is not encoded', (_name, wallet, count) => {
    const any = { ...verified('user').any, wallets: Array.from({ length: count }, () => wallet) }
    expect(writeStandings({ any, kyc: any, kyb: any }, new Uint8Array(RECORD_BYTES_MAX))).toBe(0)
  })
})

describe('the memory', () => {
  test('separates callers, environments, wallets, levels and types', () => {
    const memory = createStandingMemory(ROOM)
    memory.keep(record({}))
    expect(memory.find(caller, W1, 1, 'any', null)).toEqual(verified('user').any)
    expect(memory.find(caller, W1, 1, 'kyb', null)).toEqual(NEVER_SEEN)
    expect(memory.find({ ...caller, environment: 'test' }, W1, 1, 'any', null)).toBeUndefined()
    expect(memory.find({ ...caller, organizationId: 'org_2' }, W1, 1, 'any', null)).toBeUndefined()
    expect(memory.find(caller, W2, 1, 'any', null)).toBeUndefined()
    expect(memory.find(caller, W1, 2, 'any', null)).toBeUndefined()
    memory.keep(record({ level: 2, standings: verified('at two') }))
    expect(memory.find(caller, W1, 2, 'any', null)?.userId).toBe('at two')
    expect(memory.find(caller, W1, 1, 'any', null)).toBeUndefined()
  })

  test('a change of the wallet, of its person or of a listed wallet drops standings that were read before it', () => {
    const changes = [
      (memory: ReturnType<typeof createStandingMemory>) => memory.changed('live', [W1], null),
      (memory: ReturnType<typeof createStandingMemory>) => memory.changed('live', [], 'person_1'),
      (memory: ReturnType<typeof createStandingMemory>) => memory.changed('live', [SOLANA_WALLET], null),
      (memory: ReturnType<typeof createStandingMemory>) => memory.clear(),
    ]
    for (const change of changes) {
      const memory = createStandingMemory(ROOM)
      const readAt = memory.now()
      memory.keep(record({ readAt }))
      memory.changed('test', [W1], null)
      memory.changed('live', [W2], 'person_2')
      expect(memory.find(caller, W1, 1, 'any', null)).toBeDefined()
      change(memory)
      expect(memory.find(caller, W1, 1, 'any', null)).toBeUndefined()
      // This read overlaps the change.
      memory.keep(record({ readAt }))
      expect(memory.find(caller, W1, 1, 'any', null)).toBeUndefined()
      memory.keep(record({ readAt: memory.now() }))
      expect(memory.find(caller, W1, 1, 'any', null)).toBeDefined()
    }
  })

  test('keeps the standings of 256 chains per caller, and replaces them', () => {
    const memory = createStandingMemory(ROOM)
    const keep = (at: number, userId: string): void =>
      memory.keep(record({ chain: `chain-${at}`, standings: verified(userId), readAt: memory.now() }))
    for (let at = 0; at < 300; at++) keep(at, 'first')
    keep(0, 'second')
    const users = Array.from({ length: 300 }, (_, at) => memory.find(caller, W1, 1, 'any', `chain-${at}`)?.userId)
    expect(users).toEqual(['second', ...Array(255).fill('first'), ...Array(44).fill(undefined)])
  })

  test('returns only the last standing that was kept, even if blocks are reused', () => {
    const step = fc.tuple(fc.nat(30), fc.constantFrom('keep', 'keep', 'change', 'clear'), fc.nat(20))
    fc.assert(
      fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
        const memory = createStandingMemory({ maxBytes: 3 * 2_048, blockBytes: 2_048 })
        const kept = new Map<string, StandingsByType>()
        for (const [number, kind, length] of steps) {
          const address = number === 0 ? SOLANA_WALLET : evmWallet(number)
          if (kind === 'keep') {
            const standings = verified('u'.repeat(length + 1))
            memory.keep(record({ address, standings, readAt: memory.now() }))
            kept.set(address, standings)
            // The newest record is never evicted.
            expect(memory.find(caller, address, 1, 'any', null)).toEqual(standings.any)
          } else if (kind === 'change') {
            memory.changed('live', [address], null)
            kept.delete(address)
          } else if (length === 0) {
            memory.clear()
            kept.clear()
          }
          for (let other = 0; other <= 30; other++) {
            const address = other === 0 ? SOLANA_WALLET : evmWallet(other)
            const found = memory.find(caller, address, 1, 'any', null)
            if (found !== undefined) expect<unknown>(found).toEqual(kept.get(address)?.any)
          }
        }
      }),
      { numRuns: 30 },
    )
  })
})

const HASHES = [0, 1, 2, 1_022, 1_023, 1_024, 2_047, 0xffff_ffff]
const step = fc.tuple(fc.constantFrom('add', 'remove', 'move'), fc.nat(40), fc.constantFrom(...HASHES))

describe('the record index', () => {
  test('finds all records except removed records', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
        const index = createRecordIndex()
        const kept = new Map<number, number>()
        let unused = 100
        for (const [kind, place, hash] of steps) {
          if (kind === 'add' && !kept.has(place)) {
            index.add(hash, place)
            kept.set(place, hash)
          }
          const keptHash = kept.get(place)
          if (kind === 'remove') {
            index.remove(keptHash ?? hash, place)
            kept.delete(place)
          }
          if (kind === 'move' && keptHash !== undefined) {
            index.move(keptHash, place, ++unused)
            kept.delete(place)
            kept.set(unused, keptHash)
          }
        }
        expect(index.size()).toBe(kept.size)
        for (const [place, hash] of kept) expect(index.find(hash, (found) => found === place)).toBe(place)
        for (const hash of HASHES) {
          const found: number[] = []
          index.find(hash, (place) => {
            found.push(place)
            return false
          })
          const expected = [...kept].flatMap(([place, of]) => (of === hash ? [place] : []))
          expect(found.sort()).toEqual(expected.sort())
        }
      }),
    )
  })

  test('grows and can be cleared', () => {
    const index = createRecordIndex()
    for (let place = 0; place < 5_000; place++) index.add(Math.imul(place, 0x9e3779b1) >>> 0, place)
    for (let place = 0; place < 5_000; place++) {
      expect(index.find(Math.imul(place, 0x9e3779b1) >>> 0, (found) => found === place)).toBe(place)
    }
    index.clear()
    expect(index.size()).toBe(0)
    expect(index.find(0, () => true)).toBe(-1)
  })
})
