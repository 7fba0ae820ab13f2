import { forEachLine } from '../../../decision-log/forwards.ts'
import { readEntry } from '../../../decision-log/tail.ts'
import { segmentsSince } from '../../../decision-log/time-position.ts'
import type { DecisionRecord } from '../../../decision-log/types.ts'
import type { Chain } from '../../../domain/chain.ts'
import { type ListImage, readListImages } from '../../../domain/list-image.ts'
import { compileSaved } from '../../../policy/cel/compile.ts'
import {
  createReplayTally,
  type ReplayOptions,
  type ReplaySummary,
  replayDecision,
} from '../../../policy/tools/replay.ts'
import type { CompiledPolicy } from '../../../policy/types/program.ts'

export interface PolicyReplay {
  readonly directory: string
  readonly source: string
  readonly organizationId: string
  readonly policyId: string
  /** Unix milliseconds: `sinceMs` inclusive, `untilMs` exclusive. */
  readonly sinceMs: number
  readonly untilMs: number
  readonly chains: readonly Chain[]
  readonly required: ReplayOptions['required']
}

interface PolicyReplayResult extends ReplaySummary {
  readonly bytes: number
  /** Number of unreadable lines, which `decisions verify` lists. */
  readonly unreadable: number
}

/** @throws DecisionDirectoryMissingError; system errors from reading the log */
export const replayRecorded = async (
  policy: CompiledPolicy,
  { directory, organizationId, policyId, sinceMs, untilMs }: Omit<PolicyReplay, 'source' | 'chains' | 'required'>,
  options: ReplayOptions,
  onProgress: (bytesRead: number, bytesTotal: number) => void,
): Promise<PolicyReplayResult> => {
  const tally = createReplayTally()
  let unreadable = 0
  let bytes = 0
  const isWanted = ({ organization, policy: decided, at }: DecisionRecord): boolean =>
    organization === organizationId && decided === policyId && at >= sinceMs && at < untilMs

  const segments = segmentsSince(directory, sinceMs)
  const total = segments.reduce((sum, { size }) => sum + size, 0)
  for (const { slot, name, path, size } of segments) {
    let isHeader = true
    const onLine = (line: Buffer): void => {
      const skip = isHeader
      isHeader = false
      if (skip) return
      const entry = readEntry(slot, name, line)
      if (entry === null) unreadable += 1
      else if (entry.record.kind !== 'withheld' && isWanted(entry.record)) {
        tally.add(entry.record, replayDecision(policy, entry.record, options))
      }
    }
    await forEachLine(path, size, onLine, (read) => {
      bytes += read
      onProgress(bytes, total)
    })
  }
  return { ...tally.summary(), bytes, unreadable }
}

/** @throws DecisionDirectoryMissingError, PolicyInvalidError; system errors from reading the log */
export const replayPolicy = async (
  { source, chains, required, ...decisions }: PolicyReplay,
  images: readonly ListImage[],
  nowMs: number,
  onProgress: (bytesRead: number, bytesTotal: number) => void,
): Promise<PolicyReplayResult> => {
  const byName = new Map(chains.map((chain) => [chain.name, chain]))
  const options = {
    chain: (name: string) => byName.get(name),
    lists: readListImages(images, () => Math.floor(nowMs / 1000)),
    required,
  }
  return replayRecorded(compileSaved(source), decisions, options, onProgress)
}
