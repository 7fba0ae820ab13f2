// Lists for a simulation. Rules read lists synchronously, so an unknown answer is fetched and the simulation repeated.

import type { RecordedList } from '../../../decision-log/types.ts'
import { addressKey } from '../../../domain/address-key.ts'
import { listAgeSeconds } from '../../../domain/list-image.ts'
import { NamedError } from '../../../lib/named-error.ts'
import type { Clock } from '../../../lib/time.ts'
import type { ListReader } from '../../../policy/types/facts.ts'
import type { AddressList } from '../../../store/lists/lists.ts'
import type { Store } from '../../../store/store.ts'

/** Maximum rounds: more than any policy reads. */
const ROUNDS_MAX = 64

/** Aborts the evaluation to fetch an answer. */
class ListQuestion extends NamedError {}

interface ListOverrides {
  readonly [list: string]: { readonly addresses: readonly string[]; readonly age_seconds: number }
}

interface RecordedLists {
  readonly [list: string]: RecordedList
}

const findList = async (store: Store, organizationId: string, name: string): Promise<AddressList | null> =>
  (await store.lists.find(organizationId, name)) ?? (await store.lists.find(null, name))

/**
 * Answers from `overrides`, `recorded`, the organization's lists, then shared lists. `simulate` may run several times
 * and must not catch the reader's errors.
 */
export const withLists = async <Result>(
  { store, clock }: { readonly store: Store; readonly clock: Clock },
  organizationId: string,
  { overrides, recorded }: { readonly overrides: ListOverrides; readonly recorded: RecordedLists },
  simulate: (lists: ListReader) => Result,
): Promise<Result> => {
  const lists = new Map<string, AddressList | null>()
  const members = new Map<string, boolean>()
  const given = new Map(Object.entries(overrides).map(([name, { addresses }]) => [name, new Set(addresses)]))
  let missing: { readonly list: string; readonly address: string | null } | null = null

  const ask = (list: string, address: string | null): never => {
    missing = { list, address }
    throw new ListQuestion()
  }
  const reader: ListReader = {
    contains: (name, address) => {
      const override = given.get(name)
      if (override !== undefined) return override.has(address)
      const then = Object.hasOwn(recorded, name) ? recorded[name] : undefined
      if (then?.in.includes(address)) return true
      if (then?.out.includes(address)) return false
      return members.get(`${name} ${address}`) ?? ask(name, address)
    },
    ageSeconds: (name) => {
      const override = Object.hasOwn(overrides, name) ? overrides[name] : undefined
      if (override !== undefined) return override.age_seconds
      const then = Object.hasOwn(recorded, name) ? recorded[name] : undefined
      if (then !== undefined) return then.age
      const list = lists.get(name)
      if (list === undefined) return ask(name, null)
      return list === null ? null : listAgeSeconds(list, clock.unixSeconds())
    },
  }

  const fetchMissing = async (): Promise<void> => {
    const { list: name, address } = missing ?? { list: '', address: null }
    missing = null
    const list = lists.get(name) ?? (await findList(store, organizationId, name))
    lists.set(name, list)
    if (address === null) return
    const entry = list === null ? null : await store.lists.findEntry(list, addressKey(address))
    members.set(`${name} ${address}`, entry !== null)
  }

  for (let round = 0; round < ROUNDS_MAX; round++) {
    const result = ((): { readonly value: Result } | null => {
      try {
        const value = simulate(reader)
        // The evaluation may have caught the exception as its own failure.
        return missing === null ? { value } : null
      } catch (error) {
        if (missing === null) throw error
        return null
      }
    })()
    if (result !== null) return result.value
    await fetchMissing()
  }
  throw new Error('a simulation read more list entries than any policy can')
}
