// Runs the named attacks and the structured inputs, then checks the service and its records.
import { runCommand } from '../service/start-service.ts'
import { type Abuse, createFaults } from './abuse.ts'
import { ATTESTATION_ABUSES } from './abuse-attestation.ts'
import { LATE_ABUSES } from './abuse-late.ts'
import { LIST_ABUSES } from './abuse-lists.ts'
import { NAME_ABUSES } from './abuse-names.ts'
import { RACE_ABUSES } from './abuse-races.ts'
import { REUSE_ABUSES } from './abuse-reuse.ts'
import { SECOND_PERSON_ABUSES } from './abuse-second-person.ts'
import { UPLOAD_ABUSES } from './abuse-uploads.ts'
import { type Deployment, startDeployment } from './deployment.ts'
import { createInputs, type Input } from './inputs.ts'
import { judge } from './judge.ts'
import { attackedRoutes } from './routes.ts'
import { exchange } from './wire.ts'

const ABUSES: readonly Abuse[] = [
  ...ATTESTATION_ABUSES,
  ...LATE_ABUSES,
  ...LIST_ABUSES,
  ...NAME_ABUSES,
  ...RACE_ABUSES,
  ...REUSE_ABUSES,
  ...SECOND_PERSON_ABUSES,
  ...UPLOAD_ABUSES,
]

const CLIENTS = 8
/** Number of inputs after which used-up objects are created again and a valid request is sent. */
const ROUND = 2_000
const FAULTS_KEPT = 50
const BODY_SHOWN = 300

export interface AttackOptions {
  readonly inputs: number
  readonly seed: number
  /** Names of attacks, and `inputs`; null for all. */
  readonly only: readonly string[] | null
  readonly progress: (text: string) => void
}

/** An input with an unacceptable answer. */
export interface InputFault {
  readonly index: number
  readonly route: string
  readonly fault: string
  readonly request: string
  readonly answer: string
}

export interface InputReport {
  readonly sent: number
  readonly seed: number
  readonly perSecond: number
  readonly statuses: Readonly<Record<string, number>>
  readonly ofParser: number
  readonly routes: number
  readonly faultCount: number
  /** The first faults. */
  readonly faults: readonly InputFault[]
}

export interface AttackReport {
  readonly held: boolean
  readonly attacks: ReadonlyArray<{ readonly name: string; readonly row: number; readonly faults: readonly string[] }>
  readonly inputs: InputReport
  readonly afterwards: readonly string[]
}

const goodRequest = async ({ api, alpha }: Deployment): Promise<string | null> => {
  const body = { from: `0x${'1'.repeat(40)}`, chain: 'base', verification_hash: alpha.things['verification_hash'] }
  const answer = await api('POST', '/v2/attestation', { key: alpha.keys.attestation, body })
  return answer.status === 200 && answer.body?.is_compliant === true
    ? null
    : `a valid request: ${answer.status} ${answer.text}`
}

const describe = ({ request }: Input, secrets: ReadonlySet<string>): string => {
  const headers = request.headers.map(([name, value]) => `${name}: ${value.slice(0, 100)}`).join(' | ')
  const text = `${request.method} ${request.target.slice(0, BODY_SHOWN)} | ${headers} | ${Buffer.from(request.body).toString().slice(0, BODY_SHOWN)}`
  return [...secrets].reduce((shown, secret) => shown.replaceAll(secret, '…'), text)
}

const sendInputs = async (deployment: Deployment, options: AttackOptions): Promise<InputReport> => {
  const { inputs: count, seed, progress } = options
  const routes = attackedRoutes()
  const inputOf = createInputs(deployment, routes, seed)
  const statuses: Record<string, number> = {}
  const faults: InputFault[] = []
  let [faultCount, ofParser, spentMs] = [0, 0, 0]

  const send = async (index: number): Promise<void> => {
    const input = inputOf(index)
    const { route, request, foreign } = input
    const outcome = await exchange(deployment.ports[route.listener], request)
    const verdict = judge(outcome, route, request, { secrets: deployment.secrets, foreign })
    const status = typeof outcome === 'string' ? outcome : String(outcome.status)
    statuses[status] = (statuses[status] ?? 0) + 1
    if (verdict.ofParser) ofParser++
    if (verdict.fault === null) return
    faultCount++
    if (faults.length >= FAULTS_KEPT) return
    const answer = typeof outcome === 'string' ? outcome : `${status} ${outcome.body.slice(0, BODY_SHOWN)}`
    const shown = {
      index,
      route: route.name,
      fault: verdict.fault,
      request: describe(input, deployment.secrets),
      answer,
    }
    faults.push(shown)
    progress(`${JSON.stringify(shown)}\n`)
  }

  for (let first = 0; first < count; first += ROUND) {
    if (first > 0) for (const tenant of [deployment.alpha, deployment.beta]) await deployment.renew(tenant)
    const last = Math.min(count, first + ROUND)
    let next = first
    const client = async (): Promise<void> => {
      while (next < last) await send(next++)
    }
    const startedMs = performance.now()
    await Promise.all(Array.from({ length: CLIENTS }, client))
    spentMs += performance.now() - startedMs
    const fault = await goodRequest(deployment)
    if (fault !== null) {
      faultCount++
      faults.push({ index: last, route: 'attest', fault, request: '', answer: '' })
    }
    progress(`${last}/${count} inputs, ${Math.round((last / spentMs) * 1_000)} per second, ${faultCount} faults\n`)
  }
  return {
    sent: count,
    seed,
    statuses,
    ofParser,
    routes: routes.length,
    faultCount,
    faults,
    perSecond: spentMs === 0 ? 0 : Math.round((count / spentMs) * 1_000),
  }
}

/** Checks the invariants after all attacks. */
const checkAfterwards = async (deployment: Deployment): Promise<string[]> => {
  const { service, urls, secrets } = deployment
  const found: string[] = []
  const ready = await fetch(`${urls.api}/readyz`)
  if (ready.status !== 200) found.push(`not ready: ${await ready.text()}`)
  const fault = await goodRequest(deployment)
  if (fault !== null) found.push(fault)
  for (const words of [
    ['decisions', 'verify'],
    ['audit', 'verify'],
  ]) {
    const { code, stdout, stderr } = await runCommand(service.dataDirectory, ...words)
    if (code !== 0) found.push(`${words.join(' ')}: ${stdout}${stderr}`)
  }
  for (const line of service.output().stderr.split('\n')) {
    for (const secret of secrets)
      if (line.includes(secret)) found.push(`a secret in the log: ${line.replaceAll(secret, '…')}`)
    // Only unexpected errors are logged with a stack.
    if (/"stack"|\\n {4}at /.test(line)) found.push(`a stack in the log: ${line.slice(0, 1_000)}`)
  }
  return found.slice(0, FAULTS_KEPT)
}

/** @throws Error if the service does not start, or a name is unknown */
export const runAttack = async (options: AttackOptions): Promise<AttackReport> => {
  const { only, progress } = options
  const unknown = only?.filter((name) => name !== 'inputs' && !ABUSES.some((abuse) => abuse.name === name)) ?? []
  if (unknown.length > 0) throw new Error(`unknown attack: ${unknown.join(', ')}`)
  const deployment = await startDeployment()
  try {
    const attacks: Array<{ name: string; row: number; faults: string[] }> = []
    for (const { name, row, mustHappen, run } of ABUSES) {
      if (only !== null && !only.includes(name)) continue
      progress(`${name}: ${mustHappen}\n`)
      const faults: string[] = []
      await run(deployment, createFaults(faults)).catch((error: unknown) => {
        faults.push(`the attack failed to run: ${String(error)}`)
      })
      attacks.push({ name, row, faults })
      for (const fault of faults) progress(`  ${fault}\n`)
    }
    const withInputs = only === null || only.includes('inputs')
    const inputs = await sendInputs(deployment, withInputs ? options : { ...options, inputs: 0 })
    const afterwards = await checkAfterwards(deployment)
    const held =
      inputs.faultCount === 0 && afterwards.length === 0 && attacks.every(({ faults }) => faults.length === 0)
    return { held, attacks, inputs, afterwards }
  } finally {
    await deployment.service.stop()
  }
}
