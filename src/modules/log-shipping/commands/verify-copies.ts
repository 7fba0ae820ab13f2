import { printReport, printTree } from '../../../command-line/decisions-commands.ts'
import type { VerifyCopies } from '../../../command-line/log-services.ts'
import type { TreeReport } from '../../../decision-log/tree-report.ts'
import { type NodesReport, verifyNodes } from '../verify-nodes.ts'

const PROGRESS_MS = 1_000

const printNodes = (report: NodesReport, stdout: (text: string) => void): void => {
  for (const node of report.nodes) {
    stdout(`node ${node.node}${node.fromPieces === 0 ? '' : ` (${node.fromPieces} segments assembled from pieces)`}\n`)
    for (const problem of node.problems) stdout(`  PROBLEM: ${problem}\n`)
    printReport(node, (text) => stdout(`  ${text}`))
  }
  for (const { uuid, places } of report.repeated) {
    const where = places.map(({ node, slot, segment, line }) => `${node}/${slot}/${segment} line ${line}`)
    stdout(`${uuid} is recorded more than once: ${where.join(', ')}\n`)
  }
  const bad = report.nodes.filter(({ ok }) => !ok).length
  if (report.nodes.length === 0) stdout('nothing has been shipped to this location\n')
  else stdout(`${report.nodes.length} nodes: ${bad === 0 ? 'ok' : `${bad} with problems`}\n`)
}

export const verifyCopies = async (command: VerifyCopies): Promise<number> => {
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
