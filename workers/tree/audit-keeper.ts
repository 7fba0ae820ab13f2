// Stores the audit log's newest head beside the tree's head: in the tree's tables and in a file. An older head never
// replaces a newer one.

import type { DecisionTree } from '../../src/modules/transparency/store/open.ts'
import type { LogSigner } from '../../src/modules/transparency/tree/checkpoint.ts'
import type { VerifierKey } from '../../src/modules/transparency/tree/note.ts'
import { openAuditHead, signAuditHead } from '../../src/modules/transparency/verify/audit-head.ts'
import { readHeadFile } from '../../src/modules/transparency/verify/tree-heads.ts'
import { writePrivateFile } from '../../src/signing/private-file.ts'
import type { AuditHead } from '../../src/store/audit.ts'

export interface AuditKeeper {
  /** @returns the stored head. @throws NoteInvalidError when the stored text is no signed head */
  keep(head: AuditHead | null): Promise<AuditHead | null>
}

export const createAuditKeeper = (options: {
  readonly tree: Pick<DecisionTree, 'reader' | 'writer'>
  readonly file: string
  readonly key: VerifierKey
  readonly signer: () => Promise<LogSigner>
}): AuditKeeper => {
  const { tree, file, key, signer } = options
  let kept: AuditHead | null = null
  let isRead = false

  const readKept = async (): Promise<void> => {
    for (const encoded of [await readHeadFile(file), await tree.reader.auditHead()]) {
      const head = encoded === null ? null : openAuditHead(encoded, key)
      if (head !== null && head.sequence > (kept?.sequence ?? 0)) kept = head
    }
    isRead = true
  }

  return {
    keep: async (head) => {
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
