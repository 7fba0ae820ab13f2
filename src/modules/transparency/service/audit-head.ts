// Compares the audit log with its signed heads, to detect a truncated, restored or rewritten audit log.

import type { DataFolder } from '../../../setup/data-folder.ts'
import { type AuditHead, auditProblem } from '../../../store/audit.ts'
import type { Store } from '../../../store/store.ts'
import type { StoreTarget } from '../../../store/store-address.ts'
import { openDecisionTreeReader } from '../store/open.ts'
import type { DecisionTreeReader } from '../store/reader.ts'
import { encodeCheckpoint, type LogSigner, parseCheckpoint } from '../tree/checkpoint.ts'
import { encodeNote, NoteInvalidError, openNote, type VerifierKey } from '../tree/note.ts'
import { readHeadFile } from '../verify/tree-heads.ts'
import { type LogKey, readLogKey } from './log-key.ts'
import { treeTargetOf } from './tree-service.ts'

// Latest entry of the audit log, signed with the log key and stored next to the tree's head, to detect a rewritten,
// truncated or restored audit log. The format is a checkpoint with a separate origin.
const originOf = ({ name }: VerifierKey): string => `${name}/audit`

export const signAuditHead = ({ sequence, hash }: AuditHead, { key, sign }: LogSigner): string => {
  const text = encodeCheckpoint({ origin: originOf(key), size: sequence, root: Uint8Array.fromHex(hash) })
  const bytes = sign(Buffer.from(text))
  return encodeNote({ text, signatures: [{ name: key.name, keyId: key.keyId, bytes }] })
}

/** @throws NoteInvalidError if the log has not signed the head */
export const openAuditHead = (encoded: string, key: VerifierKey): AuditHead => {
  const { origin, size, root } = parseCheckpoint(openNote(encoded, key))
  if (origin !== originOf(key)) throw new NoteInvalidError('the text is not a head of the audit log')
  return { sequence: size, hash: Buffer.from(root).toString('hex') }
}

/** @param tree Null if there is no tree yet @returns problems, each with the location of the head */
export const auditHeadProblems = async (
  { audit }: Pick<Store, 'audit'>,
  { key }: Pick<LogKey, 'key'>,
  folder: Pick<DataFolder, 'auditHead'>,
  tree: Pick<DecisionTreeReader, 'auditHead'> | null,
): Promise<readonly string[]> => {
  const problems: string[] = []
  const heads = [
    { where: folder.auditHead, encoded: await readHeadFile(folder.auditHead) },
    { where: 'the audit head next to the tree', encoded: (await tree?.auditHead()) ?? null },
  ]
  for (const { where, encoded } of heads) {
    if (encoded === null) continue
    try {
      const problem = await auditProblem(audit, openAuditHead(encoded, key))
      if (problem !== null) problems.push(`${where}: the audit log was truncated, rolled back or rewritten: ${problem}`)
    } catch (error) {
      if (!(error instanceof NoteInvalidError)) throw error
      problems.push(`${where}: ${error.message}`)
    }
  }
  return problems
}

export const keptHeadProblems = async (
  store: Pick<Store, 'audit' | 'deployment'>,
  folder: Pick<DataFolder, 'auditHead' | 'keystores' | 'decisionTree'>,
  target: StoreTarget,
): Promise<readonly string[]> => {
  const logKey = await readLogKey(store.deployment, folder)
  if (logKey === null) return []
  const tree = await openDecisionTreeReader(treeTargetOf(target, folder))
  try {
    return await auditHeadProblems(store, logKey, folder, tree)
  } finally {
    await tree?.close()
  }
}
