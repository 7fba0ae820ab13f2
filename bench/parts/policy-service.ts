// Starts a service as a user does, in its own process and data folder, with a policy applied by the command line, and
// creates requests for the quick start's contract (EVM) or program (Solana).
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parsePolicyDocument } from '../../src/policy/document/document.ts'
import type { AnswerPlan, BodyPlan } from '../load/plan.ts'
import { bodyText, makeBody } from '../load/requests.ts'
import type { Processes } from '../processes.ts'
import { requiredValue } from '../quickstart.ts'
import { type RunningService, startService } from '../scale/running-service.ts'
import { type LoadTarget, WALLETS } from './measure-load.ts'

const ROOT = join(import.meta.dir, '..', '..')
const SAMPLE_EVERY = 1_000
const POLICY_LIVE_LIMIT_MS = 5_000
export const ENDPOINT = '/v2/attestation'

export type Family = 'evm' | 'solana'

const POLICY_FILES: Readonly<Record<Family, string>> = {
  evm: join(import.meta.dir, '..', 'policies', 'six-rules.yaml'),
  solana: join(import.meta.dir, '..', 'policies', 'six-rules-solana.yaml'),
}

export interface PolicyServiceSettings {
  readonly family?: Family
  readonly workers?: number | 'auto'
  /** Additional COUNTERSIGN_* variables. */
  readonly environment?: Readonly<Record<string, string>>
}

/** @throws Error with the command's output */
const runCommand = async (processes: Processes, dataDirectory: string, ...words: string[]): Promise<void> => {
  const finished = Promise.withResolvers<number | null>()
  const managed = processes.start({
    name: `countersign ${words[0]}`,
    command: [process.execPath, join(ROOT, 'src/cli/countersign.ts'), ...words],
    environment: { COUNTERSIGN_DATA_DIR: dataDirectory },
    onExit: finished.resolve,
  })
  if ((await finished.promise) !== 0) {
    throw new Error(`countersign ${words.slice(0, 2).join(' ')} failed: ${await managed.output()}`)
  }
}

/** Returns requests that pass the policy, each from another wallet. */
export const bodiesOf = ({ quickstart }: RunningService, family: Family = 'evm', wallets = WALLETS): BodyPlan => ({
  seed: 'bench',
  wallets,
  chain: family === 'evm' ? 'sepolia' : 'solana',
  target: { to: requiredValue(quickstart, family === 'evm' ? 'DEMO_CONTRACT' : 'DEMO_PROGRAM') },
})

const answersOf = ({ quickstart }: RunningService, family: Family): AnswerPlan => ({
  kind: 'attestation',
  sampleEvery: SAMPLE_EVERY,
  attester: requiredValue(quickstart, family === 'evm' ? 'EVM_ATTESTER' : 'SOLANA_ATTESTER'),
})

/** Returns the load for single attestations of the service. */
export const targetOf = (service: RunningService, part: string, family: Family = 'evm'): LoadTarget => ({
  part,
  url: `${service.url}${ENDPOINT}`,
  headers: { 'x-api-key': service.key },
  bodies: bodiesOf(service, family),
  answers: answersOf(service, family),
  pid: service.managed.pid,
})

const attest = async (service: RunningService, family: Family): Promise<{ readonly policy_name?: string }> => {
  const response = await fetch(`${service.url}${ENDPOINT}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': service.key },
    body: bodyText(makeBody(bodiesOf(service, family, 1), 0)),
    // If the service has several processes, a new connection may reach another one.
    keepalive: false,
  })
  return (await response.json()) as { readonly policy_name?: string }
}

/** Waits until the applied policy is in use, at most about a second. @throws Error after a timeout */
const waitForPolicy = async (service: RunningService, family: Family): Promise<void> => {
  const { name } = parsePolicyDocument(readFileSync(POLICY_FILES[family], 'utf8'))
  const giveUpMs = performance.now() + POLICY_LIVE_LIMIT_MS
  // Each process loads the policy separately, so several correct answers in a row are needed.
  for (let good = 0; good < 8; ) {
    good = (await attest(service, family)).policy_name === name ? good + 1 : 0
    if (performance.now() > giveUpMs) throw new Error('the service does not use the policy that was applied')
    if (good === 0) await Bun.sleep(50)
  }
}

/** @throws Error if the service can't be started or rejects the policy */
export const startPolicyService = async (
  processes: Processes,
  { family = 'evm', workers = 'auto', environment = {} }: PolicyServiceSettings = {},
): Promise<RunningService> => {
  const service = await startService(processes, workers, environment)
  const policyId = requiredValue(service.quickstart, 'POLICY_ID')
  await runCommand(processes, service.dataDirectory, 'policy', 'apply', POLICY_FILES[family], '--policy', policyId)
  await waitForPolicy(service, family)
  return service
}
