// Measures the service and its peers in the same rounds: Cerbos for decisions over HTTP, Elysia handlers that sign, the
// bare server as the floor, Cedar and GoRules Zen for rules alone. wrk and h2load check the bench's own generator.
import { join } from 'node:path'
import { writeDrawing } from '../draw/write-drawing.ts'
import { OTHER_GENERATORS, runOtherGenerator } from '../peers/other-generators.ts'
import { cerbosBinary, installPeers } from '../peers/packages.ts'
import { peerChart } from '../peers/peer-table.ts'
import { freePort, type Processes, waitUntilReady } from '../processes.ts'
import type { BenchContext } from './context.ts'
import { ANY_BODIES } from './floor.ts'
import { createLoadMeasurer, type LoadMeasurer, type LoadTarget } from './measure-load.ts'
import { startOwnServer } from './own-server.ts'
import { startPolicyService, targetOf } from './policy-service.ts'
import { runStageFile } from './stages.ts'

const SAMPLE_EVERY = 1_000
const CERBOS_POLICIES = join(import.meta.dir, '..', 'peers', 'cerbos')
/** The facts of the six rules, as a client of Cerbos sends them. */
const CERBOS_BODY = JSON.stringify({
  principal: { id: '{from}', roles: ['wallet'] },
  resources: [
    {
      actions: ['attest'],
      resource: {
        kind: 'attestation',
        id: '{to}',
        attr: { chain: '{chain}', to: '{to}', value: '{msg_value}', selector: '{selector}', size: 68 },
      },
    },
  ],
})

const startCerbos = async ({ processes }: BenchContext, binary: string, isAudited: boolean): Promise<LoadTarget> => {
  const port = freePort()
  const settings = {
    'server.httpListenAddr': `127.0.0.1:${port}`,
    'server.grpcListenAddr': `127.0.0.1:${freePort()}`,
    'storage.driver': 'disk',
    'storage.disk.directory': CERBOS_POLICIES,
    'telemetry.disabled': 'true',
    'audit.enabled': String(isAudited),
    'audit.backend': 'file',
    'audit.file.path': join(processes.temporaryFolder(), 'audit.log'),
  }
  const options = Object.entries(settings).map(([name, value]) => `--set=${name}=${value}`)
  const command = [binary, 'server', '--log-level=error', ...options]
  const server = processes.start({ name: 'Cerbos', command })
  const url = `http://127.0.0.1:${port}`
  await waitUntilReady(`${url}/_cerbos/health`, server)
  return {
    part: isAudited ? 'peers.cerbos_audited' : 'peers.cerbos',
    label: isAudited ? 'Cerbos with audit log' : 'Cerbos',
    url: `${url}/api/check/resources`,
    headers: {},
    bodies: { ...ANY_BODIES, template: CERBOS_BODY },
    answers: { kind: 'status', contains: '"EFFECT_ALLOW"' },
    pid: server.pid,
  }
}

/** @param signer `viem`, or a secp256k1 backend of the service */
const startElysia = async (processes: Processes, signer: string): Promise<Omit<LoadTarget, 'part'>> => {
  const server = await startOwnServer(processes, 'naive', signer)
  return {
    url: `http://127.0.0.1:${server.port}/v2/attestation`,
    headers: {},
    bodies: ANY_BODIES,
    answers: { kind: 'attestation', attester: server.attester, sampleEvery: SAMPLE_EVERY },
    pid: server.pid,
  }
}

const startTargets = async (context: BenchContext, signer: string, folder: string): Promise<LoadTarget[]> => {
  const { processes, bareServer } = context
  const service = await startPolicyService(processes, { environment: { COUNTERSIGN_SIGNER: signer } })
  const bare = await bareServer()
  const binary = cerbosBinary(folder)
  return [
    { ...targetOf(service, 'peers.service'), label: 'Countersign' },
    await startCerbos(context, binary, false),
    await startCerbos(context, binary, true),
    { ...(await startElysia(processes, 'viem')), part: 'peers.elysia_viem', label: 'Elysia with viem' },
    { ...(await startElysia(processes, signer)), part: 'peers.elysia_native', label: `Elysia with ${signer}` },
    ...(bare === null ? [] : [{ ...bare, part: 'peers.bare', label: 'bare server in C' }]),
  ]
}

const measureRules = async (context: BenchContext, folder: string): Promise<void> => {
  const environment = { BENCH_PEERS: folder }
  for (const { name, description, median } of await runStageFile(context, 'peers', 3, environment)) {
    const label = name === 'policy' ? 'six rules with Countersign' : description
    context.collector.add({ name: `peers.rules.${name}`, label, unit: 'µs', better: 'lower' }, median)
  }
}

const measureOtherGenerators = async (context: BenchContext, target: LoadTarget): Promise<void> => {
  const { collector, options, processes, progress } = context
  const seconds = Math.max(1, Math.round(options.durations.closedMs / 1000))
  for (const generator of OTHER_GENERATORS) {
    if (Bun.which(generator) === null) continue
    progress.step(`peers: ${generator}`)
    const run = { connections: options.connections, seconds }
    const rate = await runOtherGenerator(processes, generator, target, run)
    const name = `peers.service_${generator}.closed.throughput`
    collector.add({ name, label: `Countersign, measured by ${generator}`, unit: '/s', better: 'higher' }, rate)
  }
}

/** Adds measurements named `peers.…`. @throws Error if a peer can't be downloaded or started */
export const measurePeers = async (context: BenchContext, signer: string): Promise<void> => {
  const { options, processes, progress } = context
  progress.step('peers are downloaded')
  const folder = await installPeers(processes)
  const targets = await startTargets(context, signer, folder)
  const loads: LoadMeasurer[] = targets.map((target) => createLoadMeasurer(context, target))
  for (const load of loads) await load.warm()
  const missing = OTHER_GENERATORS.filter((generator) => Bun.which(generator) === null)
  if (missing.length > 0) progress.note(`peers: not installed: ${missing.join(', ')} (packages wrk, nghttp2-client)`)
  progress.section(options.durations.rounds)
  try {
    for (let round = 1; round <= options.durations.rounds; round++) {
      for (const load of loads) await load.closed()
      await measureOtherGenerators(context, targets[0]!)
      progress.step('peers: rules alone')
      await measureRules(context, folder)
      progress.finished()
    }
  } finally {
    const chart = peerChart(context.collector.measurements())
    if (chart.bars.length > 0) writeDrawing(context, 'peers', chart)
  }
}
