// Nodes are upgraded to the next version one after another under load, and back. No request fails, and changes of one
// version take effect on the other in time.
import { until } from '../../support/until.ts'
import { administer, attest } from '../caller.ts'
import type { Node } from '../cluster.ts'
import { makeNextVersion } from '../next-version.ts'
import { underLoad } from './rolling.ts'
import { type Finding, finding, milliseconds, type Stand, type Trial, untilReady } from './trial.ts'

/** Maximum time until a change takes effect on every node. */
const CHANGE_WITHIN_MS = 1_000

const restart = async (node: Node, root?: string): Promise<void> => {
  await node.stop()
  await node.start(root)
  await untilReady([node])
}

/** Issues and revokes a key on one node. @returns the longer time until all nodes follow, milliseconds */
const changeTakes = async ({ cluster }: Stand, by: Node): Promise<number> => {
  const onNode = (method: string, path: string, body?: unknown): Promise<Record<string, unknown>> =>
    administer(by.dashboard, cluster.quickstart, method, `/organizations/demo${path}`, body)
  const issued = await onNode('POST', '/keys', { name: 'upgrade', kind: 'attestation', rate_limit: null })
  const { key, record } = issued as { key: string; record: { id: string } }
  const untilStatus = (status: number): Promise<unknown> =>
    Promise.all(
      cluster.nodes.map(({ api }) =>
        until(async () => (await attest(api, { ...cluster.quickstart, ATTESTATION_API_KEY: key })).status === status),
      ),
    )
  const issuedMs = performance.now()
  await untilStatus(200)
  const revokedMs = performance.now()
  await onNode('POST', `/keys/${record.id}/revoke`)
  await untilStatus(401)
  return Math.max(revokedMs - issuedMs, performance.now() - revokedMs)
}

const sideBySide = async (stand: Stand, versions: string): Promise<Finding[]> => {
  const findings: Finding[] = []
  for (const node of stand.cluster.nodes.slice(0, 2)) {
    const tookMs = await changeTakes(stand, node)
    const what = `${versions}: a key issued and revoked on node ${node.index + 1} takes effect everywhere`
    findings.push(finding(what, milliseconds(tookMs), milliseconds(CHANGE_WITHIN_MS), tookMs <= CHANGE_WITHIN_MS))
  }
  return findings
}

export const upgradeNodes: Trial = async (stand) => {
  const next = makeNextVersion()
  const { nodes } = stand.cluster
  const mixed: Finding[] = []
  try {
    const there = await underLoad('nodes upgraded', stand, async () => {
      for (const node of nodes) {
        stand.progress(`node ${node.index + 1}: to schema ${next.schema}`)
        await restart(node, next.root)
        if (node.index === 0) mixed.push(...(await sideBySide(stand, 'one node upgraded')))
      }
    })
    const back = await underLoad('nodes downgraded', stand, async () => {
      for (const node of nodes) {
        stand.progress(`node ${node.index + 1}: back to schema ${next.schema - 1}`)
        await restart(node)
        if (node.index === 0) mixed.push(...(await sideBySide(stand, 'one node downgraded')))
      }
    })
    return [...there, ...back, ...mixed]
  } finally {
    next.remove()
  }
}
