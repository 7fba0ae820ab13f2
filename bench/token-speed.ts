// `bun bench/token-speed.ts [--write]`: what attester keys in a hardware token cost, with SoftHSM as the token. Prints the
// table of docs/hardware-keys.md, or writes it there. Needs softhsm2 and opensc.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createToken } from '../src/modules/hardware-keys/token.ts'
import { chooseSecp256k1Backend } from '../src/signing/secp256k1-backends.ts'
import { softHsm, TOKEN } from '../test/hardware-keys/soft-hsm.ts'
import { answerHelp } from '../test/support/head-help.ts'
import { createTokenKeys } from '../workers/signing/token-thread.ts'
import { readMachine, readRuntime } from './machine.ts'
import { createProcesses, type Processes, stopOnSignals } from './processes.ts'
import { requiredValue } from './quickstart.ts'
import { whole } from './result.ts'
import { type RunningService, startService } from './scale/running-service.ts'
import { withSection } from './speed-page.ts'
import { median } from './stages/harness.ts'

answerHelp(import.meta)

const ROOT = join(import.meta.dir, '..')
const PAGE = join(ROOT, 'docs/hardware-keys.md')
const SECTION = { begin: '<!-- token-speed: made by bench/token-speed.ts -->', end: '<!-- /token-speed -->' }
const ROUNDS = 3
const ROUND_MS = 4_000
const CONNECTIONS = 8
const BATCH = 100
const WORKERS = 2

const KEYS = [
  { kind: 'secp256k1', label: 'evm', chain: 'base', retired: 'EVM_ATTESTER' },
  { kind: 'ed25519', label: 'solana', chain: 'solana', retired: 'SOLANA_ATTESTER' },
] as const
type Key = (typeof KEYS)[number]

export interface TokenSpeed {
  readonly kind: Key['kind']
  /** Signatures per second, one number per round. */
  readonly signatures: readonly number[]
  readonly token: readonly number[]
  readonly keystore: readonly number[]
}

const cell = (rounds: readonly number[]): string =>
  `${whole(median(rounds))} (${whole(Math.min(...rounds))} to ${whole(Math.max(...rounds))})`

export const renderTokenSpeed = (speeds: readonly TokenSpeed[], where: string): string =>
  [
    `${where} The service had ${WORKERS} workers. A caller on the same cores requested attestations in batches of ${BATCH} over ${CONNECTIONS} connections. Each cell contains the median of ${ROUNDS} rounds, with the slowest and fastest in parentheses.`,
    '',
    '| Key | Signatures/s per worker | Attestations/s, token | Attestations/s, keystore |',
    '| --- | --: | --: | --: |',
    ...speeds.map(({ kind, ...rounds }) => {
      const name = kind === 'ed25519' ? 'Ed25519' : kind
      return `| ${name} | ${cell(rounds.signatures)} | ${cell(rounds.token)} | ${cell(rounds.keystore)} |`
    }),
  ].join('\n')

const inRounds = async (measure: () => Promise<number>): Promise<number[]> => {
  await measure()
  const rounds: number[] = []
  while (rounds.length < ROUNDS) rounds.push(await measure())
  return rounds
}

/** Signs as a worker does: through the token's thread, and with verification of each signature. */
const measureSignatures = async ({ kind, label }: Key): Promise<number[]> => {
  const settings = softHsm().settings()
  const keystorePath = `pkcs11:object=${label}`
  const { name, recover } = chooseSecp256k1Backend('auto').backend
  const token = createToken(settings, { monotonicMs: () => performance.now(), recover })
  const { address } = token.look({ kind, key: keystorePath, address: null })
  const keys = createTokenKeys({ settings, signer: name, progressed: () => undefined })
  const signer = await keys.open({ id: 'measured', kind, address, keystorePath, status: 'active' }, true)
  const digest = new Uint8Array(32).fill(7)
  const rounds = await inRounds(async () => {
    const beganMs = performance.now()
    let signatures = 0
    for (; performance.now() - beganMs < ROUND_MS; signatures++) signer.sign(digest)
    return (signatures * 1_000) / (performance.now() - beganMs)
  })
  signer.erase()
  return rounds
}

const measureAttestations = ({ url, key, quickstart }: RunningService, { chain }: Key): Promise<number[]> => {
  const from =
    chain === 'base' ? '0x1111111111111111111111111111111111111111' : '4zvwRjXUKGfvwnParsHAS3HuSVzV5cA4McphgmoCtajS'
  const one = { from, chain, verification_hash: requiredValue(quickstart, 'VERIFICATION_HASH') }
  const body = JSON.stringify({ requests: Array(BATCH).fill(one) })
  const headers = { 'content-type': 'application/json', 'x-api-key': key }
  return inRounds(async () => {
    const beganMs = performance.now()
    let signed = 0
    const connection = async (): Promise<void> => {
      while (performance.now() - beganMs < ROUND_MS) {
        const response = await fetch(`${url}/v2/attestations`, { method: 'POST', headers, body })
        signed += (await response.text()).split('"signature":"').length - 1
      }
    }
    await Promise.all(Array.from({ length: CONNECTIONS }, connection))
    if (signed === 0) throw new Error('nothing was signed')
    return (signed * 1_000) / (performance.now() - beganMs)
  })
}

const runCommand = async (environment: Readonly<Record<string, string>>, ...words: string[]): Promise<void> => {
  const child = Bun.spawn([process.execPath, join(ROOT, 'src/cli/countersign.ts'), ...words], {
    env: { ...process.env, ...environment },
    stdout: 'ignore',
    stderr: 'pipe',
  })
  if ((await child.exited) !== 0) throw new Error(`${words.join(' ')}: ${await new Response(child.stderr).text()}`)
}

const measureKey = async (processes: Processes, key: Key): Promise<TokenSpeed> => {
  const { configuration, module, settings } = softHsm()
  const { pin } = settings()
  const environment = {
    SOFTHSM2_CONF: configuration,
    COUNTERSIGN_PKCS11_MODULE: module,
    COUNTERSIGN_PKCS11_TOKEN: TOKEN,
    COUNTERSIGN_PKCS11_PIN_FILE: pin.source === 'file' ? pin.path : '',
  }
  const signatures = await measureSignatures(key)
  const service = await startService(processes, WORKERS, environment)
  const keystore = await measureAttestations(service, key)
  const own = { ...environment, COUNTERSIGN_DATA_DIR: service.dataDirectory }
  await runCommand(own, 'attester', 'add', '--kind', key.kind, '--pkcs11', key.label)
  await runCommand(own, 'attester', 'retire', requiredValue(service.quickstart, key.retired))
  // The first, uncounted round takes longer than the second in which workers receive the change.
  const token = await measureAttestations(service, key)
  await service.managed.stop()
  return { kind: key.kind, signatures, keystore, token }
}

if (import.meta.main) {
  const processes = createProcesses()
  stopOnSignals(processes)
  try {
    const { cpu, cores, system, loadAverage } = readMachine()
    const { version } = readRuntime()
    const date = new Date().toISOString().slice(0, 10)
    const speeds: TokenSpeed[] = []
    for (const key of KEYS) speeds.push(await measureKey(processes, key))
    const where = `Measured on ${date} with SoftHSM on ${cpu} with ${cores} cores (${system}, Bun ${version}). The load average before the run was ${loadAverage}, from other work.`
    const text = renderTokenSpeed(speeds, where)
    console.info(text)
    if (process.argv.includes('--write')) {
      writeFileSync(
        PAGE,
        withSection(readFileSync(PAGE, 'utf8'), SECTION, `${SECTION.begin}\n\n${text}\n\n${SECTION.end}`),
      )
    }
  } finally {
    await processes.stopAll()
  }
}
