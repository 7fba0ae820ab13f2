// Latency of a session's change from one node to event streams on other nodes, measured from the request, which includes the
// transaction, and from its response.
import { administer, type Followed, follow, register, walletOf } from '../caller.ts'
import { finding, milliseconds, percentile, type Trial } from './trial.ts'

/** All streams are open at once, and a process has at most 256 connections. */
const SESSIONS = 60
const ROUNDS = 5
const AT_ONCE = 4
const GOAL_MS = 250

export const streamDelivery: Trial = async ({ cluster, balancer, progress }) => {
  const { nodes, quickstart } = cluster
  const at = (index: number) => {
    const node = nodes[index % nodes.length]
    if (node === undefined) throw new Error('there is no node')
    return node
  }
  const times: number[] = []
  const afterAnswer: number[] = []
  const round = async (number: number): Promise<void> => {
    const sessions: { readonly sessionId: string; readonly streams: readonly Followed[]; readonly index: number }[] = []
    for (let index = 0; index < SESSIONS; index++) {
      const wallet = walletOf(`delivery ${process.pid} ${number} ${index}`)
      const { sessionId } = await register(at(index).api, quickstart, wallet)
      const bases = [at(index + 1).api, at(index + 2).api, balancer.api]
      const streams = await Promise.all(bases.map((base) => follow(base, quickstart, sessionId)))
      for (const stream of streams) await stream.status('pending')
      sessions.push({ sessionId, streams, index })
    }
    const lane = async (): Promise<void> => {
      for (let next = sessions.pop(); next !== undefined; next = sessions.pop()) {
        const { sessionId, streams, index } = next
        const sentMs = performance.now()
        const path = `/organizations/demo/sessions/${sessionId}/decide`
        const arrivals = Promise.all(streams.map((stream) => stream.status('completed')))
        await administer(at(index).dashboard, quickstart, 'POST', path, {
          status: 'completed',
          sequence: 1,
          override: true,
        })
        const answeredMs = performance.now()
        for (const atMs of await arrivals) {
          times.push(atMs - sentMs)
          afterAnswer.push(Math.max(0, atMs - answeredMs))
        }
        for (const stream of streams) stream.leave()
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, lane))
  }
  for (let number = 1; number <= ROUNDS; number++) {
    progress(
      `round ${number}/${ROUNDS}: ${SESSIONS} sessions, each followed on two other nodes and through the balancer`,
    )
    await round(number)
  }
  const p99 = percentile(afterAnswer, 0.99)
  return [
    finding(
      `delivery to ${times.length} streams after the request: p50`,
      milliseconds(percentile(times, 0.5)),
      '',
      true,
    ),
    finding('delivery after the request: p99', milliseconds(percentile(times, 0.99)), '', true),
    // The response is sent after the commit.
    finding('delivery after the response: p99', milliseconds(p99), milliseconds(GOAL_MS), p99 <= GOAL_MS),
    finding('delivery after the request: slowest', milliseconds(Math.max(...times)), '', true),
  ]
}
