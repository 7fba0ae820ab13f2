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

const ROOT: AuditHead = { sequence: 0, hash: AUDIT_ROOT }

/** Maximum lines of an object. The last object is rewritten until it has this many lines. */
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

interface AuditPart {
  readonly lines: readonly string[]
  /** End of the previous part. */
  readonly before: AuditHead
  readonly head: AuditHead
}

const firstOf = (name: string): number => Number(/([0-9]+)\.ndjson$/.exec(name)?.[1])

/** Returns null unless the object contains consecutive entries, starting with the entry that names it. */
const readPart = async (target: ShipTarget, name: string): Promise<AuditPart | null> => {
  const lines = await readLines(target, name)
  let before: AuditHead | null = null
  let head: AuditHead | null = null
  for (const line of lines) {
    const entry = parseLine(line)
    if (entry === null) return null
    before ??= { sequence: entry.sequence - 1, hash: entry.previousHash }
    const last: AuditHead = head ?? before
    if (entry.sequence !== last.sequence + 1 || entry.previousHash !== last.hash) return null
    head = entry
  }
  if (before?.sequence !== firstOf(name) - 1 || head === null) return null
  return { lines, before, head }
}

const isEndOf = (head: AuditHead | undefined, { before }: AuditPart): boolean =>
  head?.sequence === before.sequence && head.hash === before.hash

/**
 * Returns the newest object that continues the object before it. Skips objects added by other programs; null if there
 * is no such object.
 */
const findLastPart = async (target: ShipTarget, names: readonly string[]): Promise<AuditPart | null> => {
  for (const [index, name] of [...names.entries()].reverse()) {
    const part = await readPart(target, name)
    if (part === null) continue
    const previous = names[index - 1]
    const end = previous === undefined ? ROOT : (await readPart(target, previous))?.head
    if (isEndOf(end, part)) return part
  }
  return null
}

/** Returns the number of shipped entries. @throws AuditDivergedError; errors of the target and the store */
export const shipAudit = async (options: AuditShipOptions): Promise<number> => {
  const { target, deploymentId, audit, linesPerObject = LINES_PER_OBJECT } = options
  // Others may have added objects that repeat entries of the copy.
  const names = (await objectsOf(target, deploymentId)).filter((name) => (firstOf(name) - 1) % linesPerObject === 0)
  /** Returns the next part, which is empty if the copy ends there. */
  const readNext = async (before: AuditHead): Promise<AuditPart> => {
    const name = objectOf(deploymentId, before.sequence + 1)
    if (!names.includes(name)) return { lines: [], before, head: before }
    const part = await readPart(target, name)
    if (part !== null && isEndOf(before, part)) return part
    throw new AuditDivergedError(`the copy ${name} does not continue the entries before it; it is not overwritten`)
  }
  let part = (await findLastPart(target, names)) ?? (await readNext(ROOT))
  await requireContinued(audit, part.head)
  let shipped = 0
  for (;;) {
    if (part.lines.length >= linesPerObject) {
      part = await readNext(part.head)
      await requireContinued(audit, part.head)
      continue
    }
    const entries = await audit.listAfter(part.head.sequence, Math.min(BATCH, linesPerObject - part.lines.length))
    if (entries.length === 0) return shipped
    let { head } = part
    for (const entry of entries) {
      if (entry.sequence !== head.sequence + 1 || entry.previousHash !== head.hash) {
        throw new AuditDivergedError(`the audit log of the store is broken at entry ${head.sequence + 1}`)
      }
      head = entry
    }
    const lines = [...part.lines, ...entries.map((entry) => JSON.stringify(entry))]
    const name = objectOf(deploymentId, part.before.sequence + 1)
    const content = new Blob([`${lines.join('\n')}\n`])
    await target.put(name, content)
    if (!(await target.isIntact(name, await digestOf(content.stream())))) {
      throw new Error('the uploaded content differs from the original')
    }
    part = { ...part, lines, head }
    shipped += entries.length
  }
}

/** Verifies the copy, and compares its end with the store. Returns problems. */
export const verifyShippedAudit = async (
  { target, deploymentId, audit }: AuditShipOptions,
  storeEntries: number,
): Promise<AuditCopyReport> => {
  let head = ROOT
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
