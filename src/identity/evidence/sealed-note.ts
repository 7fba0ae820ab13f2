// Notes that the service keeps with a session's evidence, such as the fields it read from documents: encrypted, audited and erased
// like evidence.
import { OrganizationKeyExchangedError } from '../../domain/errors.ts'
import type { EvidenceRecord } from '../../domain/evidence.ts'
import type { Clock } from '../../domain/time.ts'
import type { EvidenceSession, SealedNote } from '../evidence-types.ts'
import { collect } from './sealed-stream.ts'
import type { EvidenceStore } from './store-types.ts'
import type { Vault } from './vault.ts'

/** Each rotation of the evidence key changes an organization's key twice. */
const SEAL_ATTEMPTS = 3

/** @param kind of its row in the evidence table; not a kind of document */
export const createSealedNote = <Content>(input: {
  readonly store: Pick<EvidenceStore, 'list' | 'recordRead' | 'replaceNote'>
  readonly vault: Vault
  readonly clock: Clock
  readonly kind: 'reading' | 'decision'
}): SealedNote<Content> => {
  const { store, vault, clock, kind } = input

  const find = async ({ organizationId, id }: EvidenceSession) =>
    (await store.list({ organizationId, sessionId: id })).find((record) => record.kind === kind)

  const open = async ({ organizationId, id }: EvidenceSession, record: EvidenceRecord): Promise<Content> => {
    const stream = await vault.open({ organizationId, sessionId: id }, record)
    return JSON.parse(Buffer.from(await collect(stream)).toString())
  }

  return {
    put: async ({ organizationId, id }, content) => {
      const target = { organizationId, sessionId: id }
      for (let attempt = 1; ; attempt++) {
        const record = await vault.put(target, {
          kind,
          mediaType: 'application/json',
          bytes: Buffer.from(JSON.stringify(content)),
          fileName: null,
          fieldNames: [],
          createdAtSeconds: clock.unixSeconds(),
        })
        try {
          const obsolete = await store.replaceNote(target, record)
          await vault.discard(obsolete ?? [record.storageName])
          return
        } catch (error) {
          // If the store can't say whether the record was stored, keep the file: the sweep deletes it if no record names it.
          if (!(error instanceof OrganizationKeyExchangedError)) throw error
          await vault.discard([record.storageName])
          if (attempt === SEAL_ATTEMPTS) throw error
        }
      }
    },
    peek: async (session) => {
      const record = await find(session)
      return record === undefined ? null : open(session, record)
    },
    read: async (session, actor) => {
      const found = await find(session)
      const target = { organizationId: session.organizationId, sessionId: session.id }
      const record = found === undefined ? null : await store.recordRead(target, found.id, actor)
      return record === null ? null : open(session, record)
    },
  }
}
