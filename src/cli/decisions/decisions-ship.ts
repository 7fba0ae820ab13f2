// `countersign decisions ship` and `verify --from`: copies the log to its ship target, and checks the copies of all nodes.
import { setTimeout as sleep } from 'node:timers/promises'
import type { CommandOutput } from '../../command-line/output.ts'
import { nodeNameOf } from '../../decision-log/node-name.ts'
import { listSlots } from '../../decision-log/segment-name.ts'
import { createShipper } from '../../modules/log-shipping/ship.ts'
import { type NodesReport, verifyNodes } from '../../modules/log-shipping/verify-nodes.ts'
import type { TreeReport } from '../../modules/transparency/verify/verify-tree.ts'
import type { ShipTarget } from '../../object-store/ship-target.ts'
import { printReport } from './decisions-report.ts'
import { printTree, type TreeCheck } from './decisions-tree.ts'

const PROGRESS_MS = 1_000

export interface ShipCommand extends CommandOutput {
  readonly directory: string
  readonly target: ShipTarget
  readonly intervalMs: number
  /** One pass only; its result is the exit code. */
  readonly once: boolean
  readonly json: boolean
  readonly signal: AbortSignal
  readonly monotonicMs: () => number
}

/** @throws DecisionDirectoryMissingError */
export const runShip = async (command: ShipCommand): Promise<number> => {
  const { directory, target, intervalMs, once, json, signal, monotonicMs, stdout, stderr } = command
  // Throws for a mistyped folder, before the folder is given a node name.
  listSlots(directory)
  const node = nodeNameOf(directory)
  let printedMs = monotonicMs()
  const shipper = createShipper({
    directory,
    node,
    target,
    monotonicMs,
    tailEveryMs: intervalMs,
    onProgress: ({ segments, bytes }) => {
      if (json || monotonicMs() - printedMs < PROGRESS_MS) return
      printedMs = monotonicMs()
      stderr(`${segments} segments, ${bytes} bytes shipped\n`)
    },
  })
  for (;;) {
    const before = shipper.progress()
    const { complete, bytesUnshipped, failure } = await shipper.pass()
    const { segments, bytes } = shipper.progress()
    const reason = failure === null ? null : failure instanceof Error ? failure.message : String(failure)
    const changed = bytes !== before.bytes || !complete
    if (json)
      stdout(
        `${JSON.stringify({ node, target: target.description, complete, segments, bytes, bytesUnshipped, reason })}\n`,
      )
    else if (complete && (changed || once))
      stdout(`${node}: ${bytes - before.bytes} bytes shipped to ${target.description}\n`)
    else if (!complete) stderr(`${node}: not everything could be shipped: ${reason ?? 'unknown'}\n`)
    if (once) return complete ? 0 : 1
    try {
      await sleep(intervalMs, undefined, { signal })
    } catch (error) {
      if (signal.aborted) return 0
      throw error
    }
  }
}

const printNodes = (report: NodesReport, stdout: (text: string) => void): void => {
  for (const node of report.nodes) {
    stdout(`node ${node.node}${node.fromPieces === 0 ? '' : ` (${node.fromPieces} segments from pieces)`}\n`)
    for (const problem of node.problems) stdout(`  PROBLEM: ${problem}\n`)
    printReport(node, (text) => stdout(`  ${text}`))
  }
  for (const { uuid, places } of report.repeated) {
    const where = places.map(({ node, slot, segment, line }) => `${node}/${slot}/${segment} line ${line}`)
    stdout(`${uuid} is recorded more than once: ${where.join(', ')}\n`)
  }
  const bad = report.nodes.filter(({ ok }) => !ok).length
  if (report.nodes.length === 0) stdout('nothing has been shipped there\n')
  else stdout(`${report.nodes.length} nodes: ${bad === 0 ? 'ok' : `${bad} with problems`}\n`)
}

export interface VerifyShippedCommand extends CommandOutput {
  readonly target: ShipTarget
  readonly json: boolean
  readonly monotonicMs: () => number
  /** Null: checks the hash chains only. */
  readonly checkTree: TreeCheck | null
}

export const runVerifyShipped = async (command: VerifyShippedCommand): Promise<number> => {
  const { target, json, monotonicMs, stdout, stderr, checkTree } = command
  let printedMs = monotonicMs()
  const progress = (what: string, done: number, total: number): void => {
    if (monotonicMs() - printedMs < PROGRESS_MS) return
    printedMs = monotonicMs()
    stderr(`${what}: ${Math.floor((100 * done) / Math.max(total, 1))}% of ${total} bytes\n`)
  }
  let tree: TreeReport | null = null
  const report = await verifyNodes(target, {
    onCollect: ({ bytes, bytesTotal }) => progress('copying', bytes, bytesTotal),
    onProgress: ({ pass, bytesRead, bytesTotal }) => progress(`pass ${pass}`, bytesRead, bytesTotal),
    inspect: async (logs) => {
      tree = (await checkTree?.(logs)) ?? null
    },
  })
  const compared = tree as TreeReport | null
  if (json) stdout(`${JSON.stringify(compared === null ? report : { ...report, tree: compared })}\n`)
  else {
    printNodes(report, stdout)
    if (compared !== null) printTree(compared, stdout)
  }
  return report.ok && compared?.ok !== false ? 0 : 1
}
