// Ships the audit log to `audit-log/<deployment>/<first entry>.ndjson`. A log that doesn't extend its copy isn't
// shipped, so that the copy reveals a rewritten or truncated log.

import type { AuditCopyReport } from '../../../command-line/log-services.ts'
import { NamedError } from '../../../lib/named-error.ts'
import { digestOf, type ShipTarget } from '../../../object-store/ship-target.ts'
import {
  AUDIT_ROOT,
  type AuditEntry,
  type AuditHead,
  type AuditTable,
  auditHashOf,
  auditProblem,
} from '../../../store/audit.ts'

/** The audit log differs from its copy. `message` is one line for the operator. */
export class AuditDivergedError extends NamedError {}

/** The last object is rewritten until it has this many lines. */
const LINES_PER_OBJECT = 1_000
const BATCH = 500

interface AuditShipOptions {
  readonly target: ShipTarget
  readonly deploymentId: string
  readonly audit: Pick<AuditTable, 'listAfter'>
  readonly linesPerObject?: number
}

const folderOf = (deploymentId: string): string => `audit-log/${deploymentId}/`
const objectOf = (deploymentId: string, firstSequence: number): string =>
  `${folderOf(deploymentId)}${String(firstSequence).padStart(12, '0')}.ndjson`

const objectsOf = async (target: ShipTarget, deploymentId: string): Promise<readonly string[]> =>
  (await target.list(folderOf(deploymentId)))
    .map(({ name }) => name)
    .filter((name) => /\/[0-9]{12}\.ndjson$/.test(name))
    .sort()

const readLines = async (target: ShipTarget, name: string): Promise<string[]> => {
  const parts: Uint8Array[] = []
  for await (const chunk of target.read(name)) parts.push(chunk)
  return Buffer.concat(parts)
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '')
}

const parseLine = (line: string): AuditEntry | null => {
  try {
    const entry = JSON.parse(line) as AuditEntry
    return auditHashOf(entry) === entry.hash ? entry : null
  } catch {
    return null
  }
}

const requireContinued = async (audit: AuditShipOptions['audit'], head: AuditHead): Promise<void> => {
  const problem = await auditProblem(audit, head)
  if (problem === null) return
  throw new AuditDivergedError(
    `the audit log in the store differs from the shipped copy: ${problem}; the copy is not overwritten`,
  )
}

/** Returns the number of shipped entries. @throws AuditDivergedError; errors of the target and the store */
export const shipAudit = async (options: AuditShipOptions): Promise<number> => {
  const { target, deploymentId, audit, linesPerObject = LINES_PER_OBJECT } = options
  let name = (await objectsOf(target, deploymentId)).at(-1)
  let lines = name === undefined ? [] : await readLines(target, name)
  const last = lines.at(-1)
  const newest = last === undefined ? null : parseLine(last)
  if (last !== undefined && newest === null) throw new AuditDivergedError(`the copy ${name} does not end with an entry`)
  let head: AuditHead = newest ?? { sequence: 0, hash: AUDIT_ROOT }
  await requireContinued(audit, head)
  let shipped = 0
  for (;;) {
    if (name === undefined || lines.length >= linesPerObject) {
      name = objectOf(deploymentId, head.sequence + 1)
      lines = []
    }
    const entries = await audit.listAfter(head.sequence, Math.min(BATCH, linesPerObject - lines.length))
    if (entries.length === 0) return shipped
    for (const entry of entries) {
      if (entry.sequence !== head.sequence + 1 || entry.previousHash !== head.hash) {
        throw new AuditDivergedError(`the audit log of the store is broken at entry ${head.sequence + 1}`)
      }
      lines.push(JSON.stringify(entry))
      head = entry
    }
    const content = new Blob([`${lines.join('\n')}\n`])
    await target.put(name, content)
    if (!(await target.isIntact(name, await digestOf(content.stream())))) {
      throw new Error('the uploaded content differs from the original')
    }
    shipped += entries.length
  }
}

/** Verifies the copy, and compares its end with the store. Returns problems. */
export const verifyShippedAudit = async (
  { target, deploymentId, audit }: AuditShipOptions,
  storeEntries: number,
): Promise<AuditCopyReport> => {
  let head: AuditHead = { sequence: 0, hash: AUDIT_ROOT }
  let brokenAt: number | null = null
  for (const name of await objectsOf(target, deploymentId)) {
    for (const line of await readLines(target, name)) {
      const entry = parseLine(line)
      if (entry === null || entry.sequence !== head.sequence + 1 || entry.previousHash !== head.hash) {
        brokenAt = head.sequence + 1
        break
      }
      head = entry
    }
    if (brokenAt !== null) break
  }
  let difference: string | null = null
  try {
    await requireContinued(audit, head)
  } catch (error) {
    if (!(error instanceof AuditDivergedError)) throw error
    difference = error.message
  }
  const behind = Math.max(0, storeEntries - head.sequence)
  return { ok: brokenAt === null && difference === null, entries: head.sequence, brokenAt, difference, behind }
}
