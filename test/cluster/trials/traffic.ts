// Continuous requests without retries during a trial: their times, their failures, and the acknowledged results, none of
// which may be lost.
import { attest, JSON_TYPE, type Values, walletOf } from '../caller.ts'
import type { Cluster } from '../cluster.ts'

/** Attestations with or without an Idempotency-Key, registrations with a key, and verifications of a wallet. */
export type Kind = 'keyed' | 'plain' | 'register' | 'verify'

export interface Failure {
  readonly kind: Kind
  /** Times of the request and its failure, by performance.now(). */
  readonly sentMs: number
  readonly failedMs: number
  /** Status and code of the problem, or code of the error. */
  readonly what: string
}

export interface TrafficReport {
  readonly requests: Readonly<Record<Kind, number>>
  readonly failures: readonly Failure[]
  /** Longest time of a request, milliseconds. */
  readonly slowestMs: number
  readonly uuids: readonly string[]
  readonly sessions: readonly string[]
}

export interface Traffic {
  stop(): Promise<TrafficReport>
}

/** Clients of each kind. */
const CLIENTS: Readonly<Record<Kind, number>> = { keyed: 4, plain: 4, register: 2, verify: 2 }
/** Pause between two requests of a client. */
const PAUSE_MS = 5

let runs = 0

export const startTraffic = (base: string, values: Values): Traffic => {
  const run = ++runs
  let running = true
  let slowestMs = 0
  const requests = { keyed: 0, plain: 0, register: 0, verify: 0 }
  const failures: Failure[] = []
  const uuids: string[] = []
  const sessions: string[] = []
  const identity = { ...JSON_TYPE, authorization: `Bearer ${values['IDENTITY_API_KEY']}` }
  const post = (path: string, body: unknown, headers: Values = {}): Promise<Response> =>
    fetch(`${base}${path}`, { method: 'POST', headers: { ...identity, ...headers }, body: JSON.stringify(body) })

  const send = (kind: Kind, name: string): Promise<Response> => {
    if (kind === 'keyed') return attest(base, values, { 'idempotency-key': name })
    if (kind === 'plain') return attest(base, values)
    if (kind === 'verify') return post('/api/v1/verify', { address: walletOf('unknown') })
    return post('/api/v1/register/individual?size=80', { walletAddress: walletOf(name) }, { 'idempotency-key': name })
  }
  const acknowledge = (kind: Kind, answer: unknown): void => {
    if (kind === 'register') sessions.push((answer as { sessionId: string }).sessionId)
    else if (kind !== 'verify') uuids.push((answer as { attestation: { uuid: string } }).attestation.uuid)
  }
  const client = async (kind: Kind, number: number): Promise<void> => {
    for (let count = 0; running; count++) {
      const sentMs = performance.now()
      requests[kind] += 1
      let what: string | null
      try {
        const response = await send(kind, `traffic-${process.pid}-${run}-${kind}-${number}-${count}`)
        // Errors of the balancer may not be JSON.
        const text = await response.text()
        what = response.ok ? null : `${response.status} ${/"code":"(\w+)"/.exec(text)?.[1] ?? 'of the balancer'}`
        if (response.ok) acknowledge(kind, JSON.parse(text))
      } catch (error) {
        what = String((error as { code?: unknown }).code ?? error)
      }
      const endedMs = performance.now()
      slowestMs = Math.max(slowestMs, endedMs - sentMs)
      if (what !== null) failures.push({ kind, sentMs, failedMs: endedMs, what })
      await Bun.sleep(PAUSE_MS)
    }
  }
  const all = Object.entries(CLIENTS).flatMap(([kind, count]) =>
    Array.from({ length: count }, (_, number) => client(kind as Kind, number)),
  )
  return {
    stop: async () => {
      running = false
      await Promise.all(all)
      return { requests, failures, slowestMs, uuids, sessions }
    },
  }
}

/** Returns the acknowledged results that are missing or duplicated. */
export const findLosses = async (
  cluster: Cluster,
  base: string,
  { uuids, sessions }: Pick<TrafficReport, 'uuids' | 'sessions'>,
): Promise<string[]> => {
  const problems: string[] = []
  const recorded = new Set<string>()
  for (const node of cluster.nodes) {
    const tail = await node.run('decisions', 'tail', '--lines', '100000000', '--json')
    for (const [, uuid] of tail.stdout.matchAll(/"uuid":"([^"]+)"/g)) recorded.add(uuid ?? '')
    const verified = await node.run('decisions', 'verify')
    if (verified.code !== 0) problems.push(`node ${node.index + 1}'s log: ${verified.stdout}${verified.stderr}`)
  }
  const lost = uuids.filter((uuid) => !recorded.has(uuid))
  if (lost.length > 0)
    problems.push(`${lost.length} acknowledged attestations are missing from the logs; the first is ${lost[0]}`)
  const twice = uuids.length - new Set(uuids).size
  if (twice > 0) problems.push(`${twice} uuids were answered twice`)
  const authorization = { authorization: `Bearer ${cluster.quickstart['IDENTITY_API_KEY']}` }
  let missing = 0
  for (const session of sessions) {
    const { status } = await fetch(`${base}/api/v1/status/individual/${session}`, { headers: authorization })
    if (status !== 200) missing += 1
  }
  if (missing > 0) problems.push(`${missing} acknowledged sessions are missing`)
  return problems
}

/** Returns, for example, `plain 502 ×3, keyed 503 ×1`, or `none`. */
export const describeFailures = (failures: readonly Failure[]): string => {
  const counts = new Map<string, number>()
  for (const { kind, what } of failures) counts.set(`${kind} ${what}`, (counts.get(`${kind} ${what}`) ?? 0) + 1)
  return counts.size === 0 ? 'none' : [...counts].map(([what, count]) => `${what} ×${count}`).join(', ')
}
