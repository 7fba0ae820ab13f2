// Measures a running deployment with the caller's requests and keys. Starts and changes nothing there.

import type { BodyPlan } from '../load/plan.ts'
import { bodyText, makeBody } from '../load/requests.ts'
import type { Deployment } from '../options.ts'
import { whole } from '../result.ts'
import type { BenchContext, BenchPart } from './context.ts'
import { createLoadMeasurer, WALLETS } from './measure-load.ts'

const SAMPLE_EVERY = 1_000
const ANSWER_LIMIT_MS = 30_000

/** Rate limit of a key, from `RateLimit-Policy`. */
export interface KeyLimit {
  readonly perSecond: number
  readonly burst: number
}

/**
 * Sends one request with each key, to find an unusable key or request before the run.
 * @returns the sum of the keys' limits; null if a key has no limit
 * @throws Error naming the key by its place, if a request is not answered with an attestation
 */
export const readLimits = async (url: string, keys: readonly string[], plan: BodyPlan): Promise<KeyLimit | null> => {
  let total: KeyLimit | null = { perSecond: 0, burst: 0 }
  for (const [index, key] of keys.entries()) {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': key },
      body: bodyText(makeBody(plan, index)),
      signal: AbortSignal.timeout(ANSWER_LIMIT_MS),
    }).catch((cause: Error) => {
      throw new Error(`could not reach ${url}: ${cause.message}`)
    })
    const answer = await response.text()
    if (!response.ok || !answer.includes('"is_compliant":true')) {
      throw new Error(
        `key ${index + 1} of ${keys.length} gets no attestation: ${response.status} ${answer.slice(0, 300)}`,
      )
    }
    const policy = response.headers.get('ratelimit-policy') ?? ''
    const [, perSecond, burst] = /^(\d+);w=1;burst=(\d+)$/.exec(policy) ?? []
    total =
      perSecond === undefined || total === null
        ? null
        : { perSecond: total.perSecond + Number(perSecond), burst: total.burst + Number(burst) }
  }
  return total
}

/** Describes the limit of the keys and the load, so that the operator can stop the run. */
export const describeDeploymentRun = (
  { durations, connections, ratePerSecond }: BenchContext['options'],
  { url, keys }: Deployment,
  limit: KeyLimit | null,
): string[] => {
  const closedSeconds = (durations.firstWarmupMs + durations.rounds * (durations.warmupMs + durations.closedMs)) / 1000
  const openSeconds = (durations.rounds * (durations.warmupMs + durations.openMs)) / 1000
  const keysText = keys.length === 1 ? 'The key has' : `The ${keys.length} keys have`
  return [
    limit === null
      ? `${keysText} no rate limit.`
      : `${keysText} a rate limit of ${whole(limit.perSecond)}/s with bursts of ${whole(limit.burst)}. The closed loop ` +
        'sends more, so it measures the limit rather than the deployment: raise the limit, or use more keys (--keys).',
    `Sends real attestation requests to ${url}: as many as ${connections} connections can do for ` +
      `${whole(closedSeconds)} s, and ${whole(ratePerSecond)}/s for ${whole(openSeconds)} s. ` +
      'Each compliant answer is a valid attestation and a line in its decision log.',
  ]
}

/** @throws Error if a key gets no attestation */
export const createDeploymentPart = async (context: BenchContext, deployment: Deployment): Promise<BenchPart> => {
  const { chain, target, keys } = deployment
  const url = `${deployment.url}/v2/attestation`
  const bodies: BodyPlan = { seed: 'bench', wallets: WALLETS, chain, target, keys }
  const limit = await readLimits(url, keys, bodies)
  for (const line of describeDeploymentRun(context.options, deployment, limit)) context.progress.note(line)
  if (limit !== null) {
    const label = `rate limit of the key${keys.length === 1 ? '' : 's'}`
    context.collector.add({ name: 'deployment.limit', label, unit: '/s', better: 'higher' }, limit.perSecond)
  }
  const load = createLoadMeasurer(context, {
    part: 'deployment',
    url,
    headers: {},
    bodies,
    answers: { kind: 'attestation', attester: null, sampleEvery: SAMPLE_EVERY },
    pid: null,
  })
  return {
    name: 'deployment',
    warm: load.warm,
    async round() {
      await load.closed()
      await load.open()
    },
  }
}
