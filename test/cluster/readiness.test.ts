// Results of `/readyz` when components fail.
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
        if (attesters === null) throw new Error('unavailable')
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

test.each<[string, Partial<Parts>, Partial<typeof READY>]>([
  ['all parts work', {}, {}],
  ['the store cannot be written', { writable: false }, { store: false }],
  ['the store cannot be written or read', { writable: false, attesters: null }, { store: false }],
  ['the store cannot be read', { attesters: null }, { store: false }],
  ['there is no active attester', { attesters: [{ status: 'retiring' }] }, { keys: false }],
  ['the keys of a kind are missing', { hasKeys: false }, { keys: false }],
  ['a listener is not open', { listening: false }, { accepting: false }],
])('readiness if %s', async (_name, parts, expected) => {
  expect(await checksOf(parts)).toEqual({ ...READY, ...expected })
})

test('a process that does not sign needs no workers, keys or decision log', async () => {
  expect(await checksOf({ signs: false, attesters: [] })).toEqual({ store: true, changes: true, accepting: true })
})
