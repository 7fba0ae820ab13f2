// What the service itself read of a session's documents: sealed, read and erased as the evidence that it is.
import { OrganizationKeyExchangedError } from '../../domain/errors.ts'
import type { Clock } from '../../domain/time.ts'
import type { DocumentReadings } from '../evidence-types.ts'
import { collect } from './sealed-stream.ts'
import type { EvidenceStore } from './store-types.ts'
import type { Vault } from './vault.ts'

const KIND = 'reading'
/** A rotation of the evidence key exchanges an organization's key twice. */
const SEAL_ATTEMPTS = 3

export const createReadings = (input: {
  readonly store: Pick<EvidenceStore, 'list' | 'recordRead' | 'replaceReading'>
  readonly vault: Vault
  readonly clock: Clock
}): DocumentReadings => {
  const { store, vault, clock } = input
  return {
    put: async ({ organizationId, id }, reading) => {
      const target = { organizationId, sessionId: id }
      for (let attempt = 1; ; attempt++) {
        const record = await vault.put(target, {
          kind: KIND,
          mediaType: 'application/json',
          bytes: Buffer.from(JSON.stringify(reading)),
          fileName: null,
          fieldNames: [],
          createdAtSeconds: clock.unixSeconds(),
        })
        try {
          const obsolete = await store.replaceReading(target, record)
          await vault.discard(obsolete ?? [record.storageName])
          return
        } catch (error) {
          // Where the store can't say whether it was stored, the sweep takes the file once no record names it.
          if (!(error instanceof OrganizationKeyExchangedError)) throw error
          await vault.discard([record.storageName])
          if (attempt === SEAL_ATTEMPTS) throw error
        }
      }
    },
    read: async ({ organizationId, id }, actor) => {
      const target = { organizationId, sessionId: id }
      const found = (await store.list(target)).find(({ kind }) => kind === KIND)
      const record = found === undefined ? null : await store.recordRead(target, found.id, actor)
      if (record === null) return null
      return JSON.parse(Buffer.from(await collect(await vault.open(target, record))).toString())
    },
  }
}
