// Stores the latest head of the audit log; never replaces it with an older head.

import { writePrivateFile } from '../../../signing/private-file.ts'
import type { AuditHead } from '../../../store/audit.ts'
import type { DecisionTree } from '../store/open.ts'
import type { LogSigner } from '../tree/checkpoint.ts'
import type { VerifierKey } from '../tree/note.ts'
import { openAuditHead, signAuditHead } from '../verify/audit-head.ts'
import { isOfOtherLog, readHeadFile } from '../verify/tree-heads.ts'

export const createAuditKeeper = (options: {
  readonly tree: Pick<DecisionTree, 'reader' | 'writer'>
  readonly file: string
  readonly key: VerifierKey
  readonly signer: () => Promise<LogSigner>
}) => {
  const { tree, file, key, signer } = options
  let kept: AuditHead | null = null
  let isRead = false

  const readKept = async (): Promise<void> => {
    for (const encoded of [await readHeadFile(file), await tree.reader.auditHead()]) {
      if (encoded === null || isOfOtherLog(encoded, key)) continue
      const head = openAuditHead(encoded, key)
      if (head.sequence > (kept?.sequence ?? 0)) kept = head
    }
    isRead = true
  }

  return {
    /** @returns the stored head @throws NoteInvalidError if the stored text isn't a signed head */
    keep: async (head: AuditHead | null): Promise<AuditHead | null> => {
      if (!isRead || head !== null) await readKept()
      if (head === null || head.sequence <= (kept?.sequence ?? 0)) return kept
      const encoded = signAuditHead(head, await signer())
      await tree.writer.keepAuditHead(encoded)
      await writePrivateFile(file, encoded)
      kept = head
      return kept
    },
  }
}
