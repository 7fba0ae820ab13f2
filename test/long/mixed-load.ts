// `bun test/long/mixed-load.ts [--minutes 60] [--pause-ms 0]`: every interface at once: attestations alone, with keys, in batches and of
// version 1; registering, asking, verifying and following sessions; the admin API's reads and changes, the pages, the
// metrics. Nothing may be answered with a failure of the service, and afterwards the log is compared with what was
// acknowledged. Exit code 1 when a goal is missed.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startService } from '../service/start-service.ts'
import { answerHelp } from '../support/head-help.ts'
import { conclude, createLedger, readyAfterMs } from './support/ledger.ts'

answerHelp(import.meta)

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    // How long each client rests after an answer, for machines that have other work.
    'pause-ms': { type: 'string', default: '0' },
    'ready-ms': { type: 'string', default: '2000' },
    help: { type: 'boolean', short: 'h' },
  },
})
if (values.help === true) {
  process.stdout.write('Usage: bun test/long/mixed-load.ts [--minutes 60] [--pause-ms 0] [--ready-ms 2000]\n')
  process.exit(0)
}
const WALLET = `0x${'1'.repeat(40)}`
const READY_WITHIN_MS = Number(values['ready-ms'])
const PAUSE_MS = Number(values['pause-ms'])
const SAMPLES = 13
const JSON_TYPE = { 'content-type': 'application/json' }

const dataDirectory = mkdtempSync(join(tmpdir(), 'countersign-mixed-'))
const ledger = createLedger()
const { problems } = ledger
/** Interface → how often each status was answered. */
const counts = new Map<string, number>()
let slowestReadyMs = 0
/** Resident memory every five seconds. */
const memoryBytes: number[] = []
try {
  const service = await startService({ dataDirectory })
  const { quickstart } = service
  const endsMs = performance.now() + Number(values.minutes) * 60_000
  const memory = (): number =>
    1_024 * Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${service.process.pid}/status`, 'utf8'))?.[1])

  const call = async (name: string, url: string, init: RequestInit = {}): Promise<string> => {
    const response = await fetch(url, init)
    const text = await response.text()
    counts.set(`${name} ${response.status}`, (counts.get(`${name} ${response.status}`) ?? 0) + 1)
    if (response.status >= 400 && response.status !== 503)
      problems.push(`${name}: ${response.status} ${text.slice(0, 200)}`)
    // Too much at once is no failure: it is asked again a little later.
    if (response.status === 503) await Bun.sleep(200)
    return response.status < 300 ? text : '{}'
  }
  const post = (name: string, url: string, headers: Readonly<Record<string, string>>, body: unknown) =>
    call(name, url, { method: 'POST', headers: { ...JSON_TYPE, ...headers }, body: JSON.stringify(body) })

  const attestation = { 'x-api-key': quickstart['ATTESTATION_API_KEY'] ?? '' }
  const identity = { authorization: `Bearer ${quickstart['IDENTITY_API_KEY']}` }
  const admin = { authorization: `Bearer ${quickstart['ADMIN_API_KEY']}` }
  const organization = `${quickstart['ADMIN_URL']}/organizations/demo`
  const element = { from: WALLET, chain: 'base', verification_hash: quickstart['VERIFICATION_HASH'] }
  let number = 0
  const wallet = (): string => `0x${(++number).toString(16).padStart(40, '0')}`

  const session = async (): Promise<void> => {
    const walletAddress = wallet()
    const registered = await post('register', `${service.url}/api/v1/register/individual`, identity, { walletAddress })
    const { sessionId } = JSON.parse(registered) as { sessionId?: string }
    if (sessionId === undefined) return
    await call('status', `${service.url}/api/v1/status/individual/${sessionId}`, { headers: identity })
    await post('verify', `${service.url}/api/v1/verify`, identity, { address: walletAddress })
    const controller = new AbortController()
    const stream = await fetch(`${service.url}/api/v1/status/realtime/individual/${sessionId}`, {
      headers: identity,
      signal: controller.signal,
    })
    const first = new TextDecoder().decode((await stream.body?.getReader().read())?.value)
    if (!first.includes('"status":"pending"')) problems.push(`a stream begins with ${first.slice(0, 100)}`)
    counts.set(`stream ${stream.status}`, (counts.get(`stream ${stream.status}`) ?? 0) + 1)
    controller.abort()
  }
  const loops: Readonly<Record<string, () => Promise<unknown>>> = {
    batch: async () => {
      const text = await post('batch', `${service.url}/v2/attestations`, attestation, {
        requests: Array(10).fill(element),
      })
      const { answers = [] } = JSON.parse(text) as { answers?: { answer?: { attestation?: { uuid: string } } }[] }
      for (const { answer } of answers) if (answer?.attestation) ledger.noteAlone(answer.attestation.uuid)
    },
    task: () =>
      post('task', `${service.url}/v1/task`, attestation, {
        from: WALLET,
        to: quickstart['DEMO_CONTRACT'],
        data: '0x',
        msg_value: '0',
        chain_id: 8453,
      }),
    session,
    adminReads: async () => {
      await call('admin decisions', `${organization}/decisions?limit=20`, { headers: admin })
      await call('admin sessions', `${organization}/sessions?limit=20`, { headers: admin })
      await call('admin pool', `${quickstart['ADMIN_URL']}/pool`, { headers: admin })
      await Bun.sleep(50)
    },
    adminChanges: async () => {
      const source = `name: Trial ${number++}\nrules:\n  - id: small\n    allow: tx.value < ether(1)\n`
      const request = { chain: 'base', from: WALLET, msg_value: '500' }
      await post('admin simulate', `${organization}/policies/simulate`, admin, { source, request })
      await post('admin key', `${organization}/keys`, admin, { kind: 'attestation', name: `trial-${number}` })
      await Bun.sleep(500)
    },
    pages: async () => {
      await call('portal', `${quickstart['PORTAL_URL']}/robots.txt`)
      await call('dashboard', `${new URL(organization).origin}/`)
      await call('metrics', `${service.url}/metrics`)
      await Bun.sleep(100)
    },
    watch: async () => {
      slowestReadyMs = Math.max(slowestReadyMs, await readyAfterMs(service))
      memoryBytes.push(memory())
      const leftMinutes = (endsMs - performance.now()) / 60_000
      process.stderr.write(
        `\r${leftMinutes.toFixed(1)} min left, ${ledger.count()} attestations, ${problems.length} problems `,
      )
      await Bun.sleep(5_000)
    },
  }
  const load = ledger.load(() => service, 8, PAUSE_MS)
  await Promise.all(
    Object.entries(loops).map(async ([name, work]) => {
      while (performance.now() < endsMs) {
        await work().catch((error: unknown) => {
          problems.push(`${name}: ${error}`)
          return Bun.sleep(500)
        })
        if (PAUSE_MS > 0) await Bun.sleep(PAUSE_MS)
      }
    }),
  )
  process.stderr.write('\n')
  await load.stop()
  if (slowestReadyMs > READY_WITHIN_MS) problems.push(`/readyz took up to ${slowestReadyMs.toFixed(0)} ms`)
  await service.stop()
  await ledger.compare(dataDirectory)
} finally {
  rmSync(dataDirectory, { recursive: true, force: true })
}
const samples = Array.from({ length: SAMPLES }, (_, index) =>
  ((memoryBytes[Math.floor((index * (memoryBytes.length - 1)) / (SAMPLES - 1))] ?? 0) / 1e6).toFixed(0),
)
const asked = [...counts].map(([name, count]) => `${name}: ${count}`).join(', ')
conclude(
  ledger,
  `${values.minutes} minutes; ${asked}; /readyz after at most ${slowestReadyMs.toFixed(0)} ms; MB of memory over the time: ${samples.join(', ')}`,
)
