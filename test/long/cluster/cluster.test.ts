// Three nodes with one PostgreSQL behind the nginx of deploy/: changes on one node apply to the others in time. Failures and
// load: test/long/cluster.ts.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { BEAT_MS } from '../../../src/cluster/live-processes.ts'
import { type Balancer, NGINX_MISSING, startBalancer } from '../../cluster/balancer.ts'
import { administer, attest, attested, follow, register, walletOf } from '../../cluster/caller.ts'
import { type Cluster, type Node, startCluster } from '../../cluster/cluster.ts'
import { createTemporaryDatabase, POSTGRES_MISSING, type TemporaryDatabase } from '../../support/postgres.ts'
import { until } from '../../support/until.ts'

const MISSING = POSTGRES_MISSING ?? NGINX_MISSING
const CHANGE_WITHIN_MS = 1_000

let database: TemporaryDatabase
let cluster: Cluster
let balancer: Balancer
let startedMs = 0
setDefaultTimeout(60_000)

const clusterTest = (name: string, run: () => Promise<void>): void =>
  test.skipIf(MISSING !== null)(MISSING === null ? name : `${name} (${MISSING})`, run)

const values = (): Readonly<Record<string, string>> => cluster.quickstart
const node = (index: number): Node => {
  const found = cluster.nodes[index]
  if (found === undefined) throw new Error(`no node ${index}`)
  return found
}
const onFirst = (method: string, path: string, body?: unknown): Promise<Record<string, unknown>> =>
  administer(node(0).dashboard, values(), method, `/organizations/demo${path}`, body)

const issueKey = async (rateLimit: object | null): Promise<{ key: string; id: string }> => {
  const issued = await onFirst('POST', '/keys', { name: 'cluster', kind: 'attestation', rate_limit: rateLimit })
  const { key, record } = issued as { key: string; record: { id: string } }
  return { key, id: record.id }
}

/** Waits until the condition is true on every node, and returns the milliseconds. */
const msUntilEverywhere = async (sinceMs: number, holds: (at: Node) => Promise<boolean>): Promise<number> => {
  await Promise.all(cluster.nodes.map((at) => until(() => holds(at))))
  return performance.now() - sinceMs
}

beforeAll(async () => {
  if (MISSING !== null) return
  database = await createTemporaryDatabase('nothing')
  cluster = await startCluster({ store: database.address, nodes: 3, processes: 1, workers: 1 })
  startedMs = performance.now()
  balancer = await startBalancer(cluster.nodes.map(({ addresses }) => addresses))
})
afterAll(async () => {
  if (MISSING !== null) return
  await balancer?.stop()
  await cluster?.stop()
  await database?.remove()
})

/** Returns the number of attestations of a node. */
const decisionsOf = async ({ api }: Node): Promise<number> => {
  const text = await (await fetch(`${api}/metrics`)).text()
  const found = /^countersign_decisions_total\{[^}]*kind="attestation",chain="base",verdict="compliant"\} (\d+)/m.exec(
    text,
  )
  return Number(found?.[1] ?? 0)
}

clusterTest('every node attests with the same key behind the balancer', async () => {
  const attesters = new Set<string>()
  await until(async () => {
    attesters.add((await attested(balancer.api, values())).attestation.attester)
    return (await Promise.all(cluster.nodes.map(decisionsOf))).every((count) => count > 0)
  })
  expect([...attesters]).toEqual([values()['EVM_ATTESTER'] ?? ''])
})

clusterTest('the balancer sets missing request ids, and hides health and metrics of nodes', async () => {
  const named = await attest(balancer.api, values(), { 'x-request-id': 'named-by-its-caller' })
  expect(named.headers.get('x-request-id')).toBe('named-by-its-caller')
  const unnamed = await attest(balancer.api, values())
  expect(unnamed.headers.get('x-request-id')).toMatch(/^[0-9a-f]{32}$/)
  for (const path of ['/metrics', '/readyz', '/livez', '/x/../metrics', '//metrics']) {
    expect((await fetch(`${balancer.api}${path}`)).status).toBe(404)
  }
})

clusterTest('a repeated Idempotency-Key gets the same response on every node', async () => {
  const answers: string[] = []
  for (const { api } of cluster.nodes) {
    answers.push(JSON.stringify(await attested(api, values(), { 'idempotency-key': 'everywhere' })))
  }
  expect(new Set(answers).size).toBe(1)
})

clusterTest(
  'a session created on one node is followed on another and through the balancer, and decided on a third',
  async () => {
    const session = await register(node(0).api, values(), walletOf('followed'))
    const streams = await Promise.all(
      [node(1).api, balancer.api].map((base) => follow(base, values(), session.sessionId)),
    )
    try {
      for (const stream of streams) await stream.status('pending')
      const sentMs = performance.now()
      const path = `/organizations/demo/sessions/${session.sessionId}/decide`
      await administer(node(2).dashboard, values(), 'POST', path, { status: 'completed', sequence: 1, override: true })
      for (const stream of streams) expect((await stream.status('completed')) - sentMs).toBeLessThan(CHANGE_WITHIN_MS)
    } finally {
      for (const stream of streams) stream.leave()
    }
  },
)

clusterTest(
  'a key created on one node works on all nodes, and all nodes refuse it within a second of its revocation',
  async () => {
    const { key, id } = await issueKey(null)
    const statusAt = async ({ api }: Node): Promise<number> =>
      (await attest(api, { ...values(), ATTESTATION_API_KEY: key })).status
    expect(await Promise.all(cluster.nodes.map(statusAt))).toEqual([200, 200, 200])
    await onFirst('POST', `/keys/${id}/revoke`, {})
    const passedMs = await msUntilEverywhere(performance.now(), async (at) => (await statusAt(at)) === 401)
    expect(passedMs).toBeLessThan(CHANGE_WITHIN_MS)
  },
)

clusterTest('the activation of a policy and its rollback take effect on all nodes within a second', async () => {
  const policy = `/policies/${values()['POLICY_ID']}`
  const source =
    'name: Demo policy\ndefault: deny\nrules:\n  - id: nobody\n    deny: "true"\n    code: NOBODY\n    message: No.\n'
  const revision = (await onFirst('POST', `${policy}/revisions`, { source })) as { id: string }
  const compliantAt = async ({ api }: Node): Promise<boolean> => (await attested(api, values())).is_compliant
  await onFirst('POST', `${policy}/activate`, { revision_id: revision.id })
  expect(await msUntilEverywhere(performance.now(), async (at) => !(await compliantAt(at)))).toBeLessThan(
    CHANGE_WITHIN_MS,
  )
  const { data } = (await onFirst('GET', `${policy}/revisions`)) as { data: { id: string; number: number }[] }
  const first = data.find(({ number }) => number === 1)
  await onFirst('POST', `${policy}/activate`, { revision_id: first?.id })
  expect(await msUntilEverywhere(performance.now(), compliantAt)).toBeLessThan(CHANGE_WITHIN_MS)
})

clusterTest('a rate limit applies to all nodes together', async () => {
  // New nodes know the common time only after a heartbeat from each node.
  await Bun.sleep(Math.max(0, startedMs + BEAT_MS + 500 - performance.now()))
  const limit = { requests_per_second: 100, burst: 100 }
  const { key } = await issueKey(limit)
  const durationMs = 4_000
  const sinceMs = performance.now()
  let allowed = 0
  const load = async ({ api }: Node): Promise<void> => {
    while (performance.now() - sinceMs < durationMs) {
      const { status } = await attest(api, { ...values(), ATTESTATION_API_KEY: key })
      if (status === 200) allowed += 1
      else expect(status).toBe(429)
      await Bun.sleep(5)
    }
  }
  await Promise.all(cluster.nodes.flatMap((at) => [load(at), load(at)]))
  const due = limit.burst + (limit.requests_per_second * (performance.now() - sinceMs)) / 1_000
  expect(allowed).toBeLessThan(due * 1.1)
  // The lower limit is tested with an injected clock in shared-rate-limit.test.ts.
  expect(allowed).toBeGreaterThan(limit.burst)
})

clusterTest('the other nodes take over from a killed node, whose log is complete after a restart', async () => {
  await node(1).kill()
  for (let count = 0; count < 20; count++) {
    await attested(balancer.api, values(), { 'idempotency-key': `while-one-is-gone-${count}` })
  }
  await node(1).start()
  for (const at of cluster.nodes) {
    const { code, stdout } = await at.run('decisions', 'verify')
    expect({ code, stdout }).toMatchObject({ code: 0 })
  }
})
