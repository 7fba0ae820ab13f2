// Stores a piece of evidence as an encrypted file. Its key is in its record, wrapped with the organization's key.

import type { EvidenceRecord, EvidenceTarget, NewEvidenceRecord } from '../../domain/evidence.ts'
import { newIdentifier } from '../../domain/identifier.ts'
import type { EvidenceSession } from '../evidence-types.ts'
import { EvidenceUnreadableError } from './errors.ts'
import type { EvidenceFiles } from './evidence-files.ts'
import type { OrganizationKeys } from './organization-keys.ts'
import { deriveKey, newKey, openBytes, sealBytes } from './sealed-bytes.ts'
import { openStream, sealStream } from './sealed-stream.ts'

export interface NewEvidence {
  readonly kind: string
  readonly mediaType: string
  readonly bytes: Uint8Array
  readonly fileName: string | null
  readonly fieldNames: readonly string[]
  readonly createdAtSeconds: number
}

const CONTENT = 'countersign evidence content'
const NAME = 'countersign evidence file name'
const WRITE_BYTES = 65_536

export const targetOf = ({
  organizationId,
  id,
  cookieHash,
}: Pick<EvidenceSession, 'organizationId' | 'id' | 'cookieHash'>): EvidenceTarget => ({
  organizationId,
  sessionId: id,
  cookieHash,
})

/** Binds a wrapped key to its piece of evidence, so that it is useless in another row. */
export const evidenceSubject = ({ organizationId, sessionId }: EvidenceTarget, evidenceId: string): string =>
  `${organizationId}\n${sessionId}\n${evidenceId}`

async function* inSlices(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += WRITE_BYTES) yield bytes.subarray(at, at + WRITE_BYTES)
}

/** @throws EvidenceUnreadableError unless the source has exactly `byteLength` bytes */
async function* exactly(source: AsyncIterable<Uint8Array>, byteLength: number): AsyncGenerator<Uint8Array> {
  let length = 0
  for await (const piece of source) {
    length += piece.length
    if (length > byteLength) throw new EvidenceUnreadableError()
    yield piece
  }
  if (length !== byteLength) throw new EvidenceUnreadableError()
}

export const createVault = (input: { readonly files: EvidenceFiles; readonly keys: OrganizationKeys }) => {
  const { files, keys } = input

  const dataKeyOf = (target: EvidenceTarget, record: EvidenceRecord): Promise<Uint8Array> =>
    keys.open(target.organizationId, 'evidence data key', evidenceSubject(target, record.id), record.wrappedKey)

  return {
    /** Writes the file to disk. The caller must store the record or discard the file. */
    put: async (target: EvidenceTarget, { bytes, fileName, ...described }: NewEvidence): Promise<NewEvidenceRecord> => {
      const id = newIdentifier('evidence')
      const subject = evidenceSubject(target, id)
      const dataKey = newKey()
      try {
        const { sealed, sealedUnder } = await keys.seal(target.organizationId, 'evidence data key', subject, dataKey)
        const sealedName =
          fileName === null ? null : sealBytes(deriveKey(dataKey, NAME), Buffer.from(fileName), subject)
        const storageName = await files.write(sealStream(deriveKey(dataKey, CONTENT), inSlices(bytes), subject))
        return { id, ...described, byteLength: bytes.length, storageName, wrappedKey: sealed, sealedUnder, sealedName }
      } finally {
        dataKey.fill(0)
      }
    },
    open: async (target: EvidenceTarget, record: EvidenceRecord): Promise<AsyncGenerator<Uint8Array>> => {
      const key = deriveKey(await dataKeyOf(target, record), CONTENT)
      const subject = evidenceSubject(target, record.id)
      return exactly(openStream(key, files.read(record.storageName), subject), record.byteLength)
    },
    fileName: async (target: EvidenceTarget, record: EvidenceRecord): Promise<string> => {
      if (record.sealedName === null) return ''
      const key = deriveKey(await dataKeyOf(target, record), NAME)
      return Buffer.from(openBytes(key, record.sealedName, evidenceSubject(target, record.id))).toString()
    },
    discard: async (storageNames: readonly string[]): Promise<void> => {
      for (const name of storageNames) await files.remove(name)
    },
  }
}

export type Vault = ReturnType<typeof createVault>
