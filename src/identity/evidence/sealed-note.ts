import { OrganizationKeyExchangedError } from '../../domain/errors.ts'
import type { EvidenceRecord } from '../../domain/evidence.ts'
import type { Clock } from '../../lib/time.ts'
import type { EvidenceSession, SealedNote } from '../evidence-types.ts'
import { SEAL_ATTEMPTS } from './record-writer.ts'
import { collect } from './sealed-stream.ts'
import type { EvidenceStore } from './store-types.ts'
import { targetOf, type Vault } from './vault.ts'

export const createSealedNote = <Content>(input: {
  readonly store: Pick<EvidenceStore, 'list' | 'recordRead' | 'replaceNote'>
  readonly vault: Vault
  readonly clock: Clock
  readonly kind: 'reading' | 'decision'
}): SealedNote<Content> => {
  const { store, vault, clock, kind } = input

  const find = async (session: EvidenceSession) =>
    (await store.list(targetOf(session))).find((record) => record.kind === kind)

  const open = async (session: EvidenceSession, record: EvidenceRecord): Promise<Content> => {
    const stream = await vault.open(targetOf(session), record)
    return JSON.parse(Buffer.from(await collect(stream)).toString())
  }

  return {
    put: async (session, content) => {
      const target = targetOf(session)
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
          // If the outcome is unknown, the file stays: the sweep deletes it if no record references it.
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
      const record = found === undefined ? null : await store.recordRead(targetOf(session), found.id, actor)
      return record === null ? null : open(session, record)
    },
  }
}
