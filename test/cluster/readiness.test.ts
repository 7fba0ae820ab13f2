// What `/readyz` says of each part, when parts fail.
import { expect, test } from 'bun:test'
import { createReadiness } from '../../src/cluster/readiness.ts'

const READY = { store: true, changes: true, workers: true, keys: true, decisions: true, accepting: true }

interface Parts {
  writable: boolean
  attesters: readonly { readonly status: string }[] | null
  readonly listening: boolean
  readonly signs: boolean
  readonly hasKeys: boolean
}

const checksOf = async (parts: Partial<Parts>): Promise<Record<string, boolean>> => {
  const { writable, attesters, listening, signs, hasKeys }: Parts = {
    writable: true,
    attesters: [{ status: 'active' }],
    listening: true,
    signs: true,
    hasKeys: true,
    ...parts,
  }
  const store = {
    checkWritable: async () => {
      if (!writable) throw new Error('read only')
    },
    attesters: {
      list: async () => {
        if (attesters === null) throw new Error('away')
        return attesters
      },
    },
  }
  const readiness = createReadiness({
    store,
    signing: signs ? { workers: () => 1, isLogHealthy: () => true, hasKeys: () => hasKeys } : null,
    feed: { healthy: () => true },
    lifecycle: { listening, stopping: false },
  })
  return Object.fromEntries((await readiness()).map(({ name, ok }) => [name, ok]))
}

test('all is well', async () => {
  expect(await checksOf({})).toEqual(READY)
})

test('a store that can not be written, or not even read, is the store’s failure and nobody else’s', async () => {
  expect(await checksOf({ writable: false })).toEqual({ ...READY, store: false })
  expect(await checksOf({ writable: false, attesters: null })).toEqual({ ...READY, store: false })
  expect(await checksOf({ attesters: null })).toEqual({ ...READY, store: false })
})

test('without an active attester nothing can be signed', async () => {
  expect(await checksOf({ attesters: [{ status: 'retiring' }] })).toEqual({ ...READY, keys: false })
})

test('a process without any key of a kind is not ready', async () => {
  expect(await checksOf({ hasKeys: false })).toEqual({ ...READY, keys: false })
})

test('nothing is ready before every listener is open', async () => {
  expect(await checksOf({ listening: false })).toEqual({ ...READY, accepting: false })
})

test('a process that signs nothing needs no workers, no keys and no decision log', async () => {
  expect(await checksOf({ signs: false, attesters: [] })).toEqual({ store: true, changes: true, accepting: true })
})
