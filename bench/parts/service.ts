// The service as a user runs it: its own process and data folder, the quick start's key and contract, a six-rule policy
// applied through the command line.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parsePolicyDocument } from '../../src/policy/document.ts'
import { bodyText, makeBody } from '../load/requests.ts'
import { freePort, type Processes, waitUntilReady } from '../processes.ts'
import type { BenchContext, BenchPart } from './context.ts'
import { createLoadMeasurer, WALLETS } from './measure-load.ts'

const ROOT = join(import.meta.dir, '..', '..')
const POLICY_FILE = join(import.meta.dir, '..', 'policies', 'six-rules.yaml')
const SAMPLE_EVERY = 1_000
const CHAIN = 'sepolia'
const ENDPOINT = '/v2/attestation'
const POLICY_LIVE_LIMIT_MS = 5_000

/** Values of quickstart.env by name. */
export type Quickstart = Readonly<Record<string, string>>

export const parseEnvironmentFile = (text: string): Quickstart =>
  Object.fromEntries(
    text
      .split('\n')
      .filter((line) => line.includes('=') && !line.startsWith('#'))
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  )

const required = (quickstart: Quickstart, name: string): string => {
  const value = quickstart[name]
  if (value === undefined || value === '') throw new Error(`quickstart.env has no ${name}`)
  return value
}

/** @throws Error with what the command said. */
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

const attest = async (quickstart: Quickstart): Promise<{ readonly policy_name?: string }> => {
  const plan = {
    seed: 'policy check',
    wallets: 1,
    chain: CHAIN,
    target: { to: required(quickstart, 'DEMO_CONTRACT') },
  }
  const response = await fetch(`${required(quickstart, 'ATTESTATION_URL')}${ENDPOINT}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': required(quickstart, 'ATTESTATION_API_KEY') },
    body: bodyText(makeBody(plan, 0)),
  })
  return (await response.json()) as { readonly policy_name?: string }
}

/** A changed policy is live within a second, with no restart. @throws Error when it isn't. */
const waitForPolicy = async (quickstart: Quickstart): Promise<void> => {
  const { name } = parsePolicyDocument(readFileSync(POLICY_FILE, 'utf8'))
  const giveUpMs = performance.now() + POLICY_LIVE_LIMIT_MS
  while ((await attest(quickstart)).policy_name !== name) {
    if (performance.now() > giveUpMs) throw new Error('the service does not use the policy that was applied')
    await Bun.sleep(50)
  }
}

export const createServicePart = async (context: BenchContext, signer: string): Promise<BenchPart> => {
  const { processes, progress } = context
  const dataDirectory = join(processes.temporaryFolder(), 'data')
  const listen = `127.0.0.1:${freePort()}`
  const managed = processes.start({
    name: 'countersign service',
    command: [process.execPath, join(ROOT, 'src/main.ts')],
    environment: {
      COUNTERSIGN_DATA_DIR: dataDirectory,
      COUNTERSIGN_API_LISTEN: listen,
      COUNTERSIGN_PORTAL_LISTEN: `127.0.0.1:${freePort()}`,
      COUNTERSIGN_DASHBOARD_LISTEN: `127.0.0.1:${freePort()}`,
      COUNTERSIGN_SIGNER: signer,
    },
  })
  progress.step('service starts')
  const readiness = await waitUntilReady(`http://${listen}/readyz`, managed)
  const { signer: used } = (await readiness.json()) as { readonly signer?: string }
  if (used !== signer) throw new Error(`the service signs with ${used}, and not with ${signer} as it would be here`)
  const quickstart = parseEnvironmentFile(readFileSync(join(dataDirectory, 'quickstart.env'), 'utf8'))
  await runCommand(
    processes,
    dataDirectory,
    'policy',
    'apply',
    POLICY_FILE,
    '--policy',
    required(quickstart, 'POLICY_ID'),
  )
  await waitForPolicy(quickstart)

  const load = createLoadMeasurer(context, {
    part: 'service',
    url: `${required(quickstart, 'ATTESTATION_URL')}${ENDPOINT}`,
    headers: { 'x-api-key': required(quickstart, 'ATTESTATION_API_KEY') },
    bodies: {
      seed: 'bench',
      wallets: WALLETS,
      chain: CHAIN,
      target: { to: required(quickstart, 'DEMO_CONTRACT') },
    },
    answers: { kind: 'attestation', attester: required(quickstart, 'EVM_ATTESTER'), sampleEvery: SAMPLE_EVERY },
    pid: managed.pid,
  })
  return {
    name: 'service',
    warm: load.warm,
    async round() {
      await load.closed()
      await load.open()
    },
  }
}
