// Lookups in a list of a million addresses as in a worker: by organization and list name. Half of the addresses are on
// the list, and each one is new to the CPU caches.
import { addressOfKey, type KeyWidth } from '../../src/domain/address-key.ts'
import { createAddressSetBuilder } from '../../src/domain/address-set.ts'
import { createLists } from '../../workers/signing/worker-lists.ts'
import type { StageBenchmark } from './harness.ts'

const ENTRIES = 1_000_000
const ASKED = 100_000
const ORGANIZATION = 'org_0123456789abcdef'

/** Returns evenly spread addresses in ascending order, without repetition. */
const keyAt = (width: KeyWidth, index: number): Uint8Array => {
  const key = new Uint8Array(width)
  const view = new DataView(key.buffer)
  view.setUint32(0, index * 4_294)
  // The other bytes appear random, so that addresses share at most their beginning.
  for (let at = 4; at < width; at += 4) view.setUint32(at, Math.imul(index + at, 2_654_435_761))
  return key
}

const membership = (name: string, description: string, width: KeyWidth): StageBenchmark => ({
  name,
  description,
  prepare() {
    const builder = width === 20 ? createAddressSetBuilder(ENTRIES, 0) : createAddressSetBuilder(0, ENTRIES)
    for (let index = 0; index < ENTRIES; index++) builder.append(width, keyAt(width, index))
    const lists = createLists({ unixMs: Date.now })
    const image = {
      id: 'list_0123456789abcdef',
      organizationId: ORGANIZATION,
      name: 'vip',
      entries: builder.finish(),
      added: null,
      removed: null,
      keptBy: 'people',
      confirmedAtSeconds: null,
      current: true,
    } as const
    lists.update([image], [])
    const asked = Array.from({ length: ASKED }, (_, index) => {
      const key = keyAt(width, (index * 7_919) % ENTRIES)
      if (index % 2 === 1) key[width - 1]! ^= 255
      return addressOfKey(key)
    })
    let next = 0
    return {
      run(iterations) {
        const reader = lists.of(ORGANIZATION)
        for (let i = 0; i < iterations; i++) {
          const isMember = reader.contains('vip', asked[next]!)
          if (isMember !== (next % 2 === 0)) throw new Error('the list answered wrongly')
          next = next === ASKED - 1 ? 0 : next + 1
        }
      },
    }
  },
})

export const stages: readonly StageBenchmark[] = [
  membership('list-evm', 'list: an EVM address in a million', 20),
  membership('list-solana', 'list: a Solana address in a million', 32),
]
