// Reads new lines of all slots of the log, oldest first, and prepares them for the decision index.
import { createSlotScanner, type ScannedLine, type SlotScanner } from '../../src/decision-log/scan.ts'
import { listSlots } from '../../src/decision-log/segment-name.ts'
import { shadowOutcome } from '../../src/domain/verdict.ts'
import type { IndexedDecision, IndexedLine } from '../../src/store/decision-index/types.ts'
import type { CutSegment, SlotPosition } from '../../src/store/decision-index/writer.ts'

const BATCH_LINES = 5_000
/** Maximum duration of a batch, so that requests don't wait long. */
const BATCH_MS = 50

export interface Intake {
  readonly lines: readonly IndexedLine[]
  readonly positions: readonly SlotPosition[]
  readonly cuts: readonly CutSegment[]
  readonly read: number
  readonly unreadable: number
  readonly more: boolean
}

export interface LogIntake {
  /** If the caller cannot store the lines, it must call `close`: the next call then starts at `positions`. */
  take(positions: () => ReadonlyMap<string, { readonly segment: string; readonly offset: number }>): Intake
  close(): void
}

interface ParsedLine {
  readonly line: ScannedLine
  readonly parsed: Record<string, unknown> | null
}

const STRING = '"[^"\\\\]*"'
const TEXT = '"([^"\\\\]*)"'
/** Start of a decision without facts, shadow and escapes: most lines match, at a third of the cost of JSON.parse. */
const PLAIN_DECISION = new RegExp(
  `^{"prev":${STRING},"kind":"(attestation|task)","uuid":${TEXT},"at":(\\d{1,15}),"organization":${TEXT},` +
    `"project":${TEXT},"key":${TEXT},"request":${STRING},"policy":${TEXT},"revision":${STRING},` +
    `"verification_hash":${STRING},"chain":${TEXT},"from":${TEXT},(?:"on_behalf":${STRING},)?"to":${STRING},` +
    `"value":${STRING},"data_sha256":${STRING},"data_size":\\d+,(?:"data":${STRING},)?(?:"requested":\\d+,)?` +
    `"compliant":(true|false),"rule":(?:${TEXT}|null),`,
)

const parsePlain = (text: string): Record<string, unknown> | null => {
  const found = text.endsWith('"}') ? PLAIN_DECISION.exec(text) : null
  if (found === null) return null
  const [, kind, uuid, at, organization, project, key, policy, chain, from, compliant, rule = null] = found
  return {
    kind,
    uuid,
    at: Number(at),
    organization,
    project,
    key,
    policy,
    chain,
    from,
    compliant: compliant === 'true',
    rule,
  }
}

const parse = (line: ScannedLine): ParsedLine => {
  const plain = parsePlain(line.text)
  if (plain !== null) return { line, parsed: plain }
  try {
    const parsed: unknown = JSON.parse(line.text)
    return { line, parsed: typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>) : null }
  } catch {
    return { line, parsed: null }
  }
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '')

const shadowOf = (parsed: Record<string, unknown>): IndexedDecision['shadow'] => {
  const shadow = parsed['shadow']
  if (typeof shadow !== 'object' || shadow === null) return null
  const { revision, compliant, rule } = shadow as Record<string, unknown>
  const verdict = { compliant: parsed['compliant'], rule: parsed['rule'] }
  return { revisionId: text(revision), outcome: shadowOutcome(verdict, { compliant, rule }) }
}

/** Does not verify the line: users see the log's own record, and verification of the log detects a forged line. */
const toIndexed = ({ line, parsed }: ParsedLine): IndexedLine | null => {
  if (parsed === null || typeof parsed['uuid'] !== 'string' || parsed['uuid'].length !== 36) return null
  const uuid = parsed['uuid']
  if (parsed['kind'] === 'withheld') return { kind: 'withheld', uuid }
  if (parsed['kind'] !== 'attestation' && parsed['kind'] !== 'task') return null
  const at = parsed['at']
  if (typeof at !== 'number' || !Number.isSafeInteger(at)) return null
  const { slot, segment, offset, length } = line
  return {
    kind: 'decision',
    place: { slot, segment, offset, length },
    line: line.text,
    atMs: at,
    uuid,
    organizationId: text(parsed['organization']),
    projectId: text(parsed['project']),
    policyId: text(parsed['policy']),
    keyId: text(parsed['key']),
    rule: parsed['rule'] === null ? null : text(parsed['rule']),
    chain: text(parsed['chain']),
    wallet: text(parsed['from']),
    compliant: parsed['compliant'] === true,
    shadow: shadowOf(parsed),
  }
}

/** @throws DecisionDirectoryMissingError, or system errors if the log cannot be read */
export const createLogIntake = (directory: string, monotonicMs: () => number): LogIntake => {
  const scanners = new Map<string, SlotScanner>()
  const heads = new Map<string, ParsedLine>()

  const closeScanners = (): void => {
    for (const scanner of scanners.values()) scanner.close()
    scanners.clear()
    heads.clear()
  }

  const openScanners = (positionsOf: Parameters<LogIntake['take']>[0]): void => {
    const known = [...scanners.keys()]
    const slots = listSlots(directory)
    if (slots.length === known.length) return
    const positions = positionsOf()
    for (const slot of slots) {
      if (!scanners.has(slot)) scanners.set(slot, createSlotScanner(directory, slot, positions.get(slot) ?? null))
    }
  }

  const headOf = (slot: string, scanner: SlotScanner): ParsedLine | null => {
    const known = heads.get(slot)
    if (known !== undefined) return known
    const line = scanner.peek()
    if (line === null) return null
    const head = parse(line)
    heads.set(slot, head)
    return head
  }

  /** Returns the oldest next line, so that lines of all slots are indexed in order of time. */
  const oldest = (): { slot: string; scanner: SlotScanner; head: ParsedLine } | null => {
    let found: { slot: string; scanner: SlotScanner; head: ParsedLine } | null = null
    let lowest = Number.POSITIVE_INFINITY
    for (const [slot, scanner] of scanners) {
      const head = headOf(slot, scanner)
      if (head === null) continue
      const at = typeof head.parsed?.['at'] === 'number' ? head.parsed['at'] : 0
      if (found === null || at < lowest) {
        found = { slot, scanner, head }
        lowest = at
      }
    }
    return found
  }

  return {
    take: (positionsOf) => {
      const startedMs = monotonicMs()
      openScanners(positionsOf)
      const lines: IndexedLine[] = []
      let read = 0
      let unreadable = 0
      let more = true
      for (; read < BATCH_LINES && monotonicMs() - startedMs < BATCH_MS; read++) {
        const next = oldest()
        if (next === null) {
          more = false
          break
        }
        const indexed = toIndexed(next.head)
        if (indexed === null) unreadable += 1
        else lines.push(indexed)
        next.scanner.take()
        heads.delete(next.slot)
      }
      const positions = [...scanners].flatMap(([slot, scanner]) => {
        const position = scanner.position()
        return position === null ? [] : [{ slot, ...position }]
      })
      const cuts: CutSegment[] = [...scanners].flatMap(([slot, scanner]) =>
        scanner.takeCuts().map((cut) => ({ slot, ...cut })),
      )
      return { lines, positions, cuts, read, unreadable, more }
    },
    close: closeScanners,
  }
}
