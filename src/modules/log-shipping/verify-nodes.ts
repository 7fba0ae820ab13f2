// Verifies the shipped logs of all nodes, and that no two nodes recorded the same uuid.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { forEachLine } from '../../decision-log/forwards.ts'
import { peekUuid } from '../../decision-log/record.ts'
import { type VerifyOptions, type VerifyReport, verifyLogs } from '../../decision-log/verify.ts'
import type { ShipTarget } from '../../object-store/ship-target.ts'
import { type CollectProgress, collectShipped } from './collect-shipped.ts'

interface NodeReport extends VerifyReport {
  readonly node: string
  /** Number of segments assembled from pieces, because they were open or their node was lost. */
  readonly fromPieces: number
  readonly problems: readonly string[]
}

interface RepeatedUuid {
  readonly uuid: string
  readonly places: readonly {
    readonly node: string
    readonly slot: string
    readonly segment: string
    /** Line number, starting at 1 with the header. */
    readonly line: number
  }[]
}

export interface NodesReport {
  readonly ok: boolean
  readonly nodes: readonly NodeReport[]
  /** Uuids recorded more than once; at most 100. */
  readonly repeated: readonly RepeatedUuid[]
}

interface VerifyNodesOptions extends VerifyOptions {
  readonly scratch?: string
  readonly onCollect?: (progress: CollectProgress) => void
  /** Called before the copies are deleted. */
  readonly inspect?: (logs: readonly { readonly node: string; readonly directory: string }[]) => Promise<void>
}

const REPEATED_MAX = 100

const placesOf = async (
  logs: readonly { readonly node: string; readonly directory: string; readonly report: VerifyReport }[],
  uuids: ReadonlySet<string>,
): Promise<readonly RepeatedUuid[]> => {
  const places = new Map([...uuids].map((uuid) => [uuid, [] as RepeatedUuid['places'][number][]]))
  if (uuids.size === 0) return []
  for (const { node, directory, report } of logs) {
    for (const { slot, name, bytes } of report.segments) {
      let line = 0
      const onLine = (content: Buffer): void => {
        line += 1
        const uuid = peekUuid(content)?.uuid
        if (uuid !== undefined) places.get(uuid)?.push({ node, slot, segment: name, line })
      }
      await forEachLine(join(directory, slot, name), bytes, onLine, () => undefined)
    }
  }
  return [...places].map(([uuid, found]) => ({ uuid, places: found }))
}

export const verifyNodes = async (target: ShipTarget, options: VerifyNodesOptions = {}): Promise<NodesReport> => {
  const scratch = await mkdtemp(join(options.scratch ?? tmpdir(), 'countersign-verify-'))
  try {
    const logs = await collectShipped(target, scratch, options.onCollect)
    const uuids = new Set<string>()
    const reports = await verifyLogs(
      logs.map(({ directory }) => directory),
      {
        ...options,
        onRepeated: (uuid) => {
          if (uuids.size < REPEATED_MAX) uuids.add(uuid)
        },
      },
    )
    await options.inspect?.(logs)
    const nodes = logs.map(({ node, fromPieces, problems }, index): NodeReport => {
      const report = reports[index] as VerifyReport
      return { node, ...report, ok: report.ok && problems.length === 0, fromPieces, problems }
    })
    const repeated = await placesOf(
      logs.map(({ node, directory }, index) => ({ node, directory, report: reports[index] as VerifyReport })),
      uuids,
    )
    return { ok: nodes.length > 0 && nodes.every(({ ok }) => ok), nodes, repeated }
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}
