// Puts load on a running deployment, with the caller's own requests and key. Starts and changes nothing there.
import type { Deployment } from '../options.ts'
import type { BenchContext, BenchPart } from './context.ts'
import { createLoadMeasurer, WALLETS } from './measure-load.ts'

const SAMPLE_EVERY = 1_000

/** Describes what a run will send, so that the operator can stop it. */
export const describeDeploymentRun = ({ options }: BenchContext, deployment: Deployment): string => {
  const { durations, connections, ratePerSecond } = options
  const closedSeconds = (durations.firstWarmupMs + durations.rounds * (durations.warmupMs + durations.closedMs)) / 1000
  const openSeconds = (durations.rounds * (durations.warmupMs + durations.openMs)) / 1000
  return (
    `Sends real attestation requests to ${deployment.url}: as many as ${connections} connections can do for ` +
    `${Math.round(closedSeconds)} s, and ${ratePerSecond.toLocaleString('en-US')}/s for ${Math.round(openSeconds)} s. ` +
    'Each compliant answer is a valid attestation and a line in its decision log.'
  )
}

export const createDeploymentPart = (context: BenchContext, deployment: Deployment): BenchPart => {
  const load = createLoadMeasurer(context, {
    part: 'deployment',
    url: `${deployment.url}/v2/attestation`,
    headers: { 'x-api-key': deployment.key },
    bodies: { seed: 'bench', wallets: WALLETS, chain: deployment.chain, target: deployment.target },
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
