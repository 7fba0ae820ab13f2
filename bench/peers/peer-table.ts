// Formats the peers of a result as a table, as notes about the comparisons, and as a drawing.
import type { BarChart } from '../draw/bar-chart.ts'
import type { Measurement } from '../result.ts'
import { median } from '../stages/harness.ts'
import { PEER_VERSIONS } from './packages.ts'

export interface PeerRow {
  readonly peer: string
  readonly label: string
  readonly throughput: number
  /** Median of the rounds' ratios to the service. */
  readonly relative: number
  /** NaN if the server's CPU time was not read. */
  readonly cpu: number
  readonly p99: number
}

/** Peers under load, in the order of measurement. */
export const peerRows = (measurements: readonly Measurement[]): PeerRow[] =>
  measurements.flatMap(({ name, label, median: throughput, rounds }) => {
    const peer = /^peers\.(\w+)\.closed\.throughput$/.exec(name)?.[1]
    if (peer === undefined) return []
    const value = (what: string): number =>
      measurements.find((other) => other.name === `peers.${peer}.closed.${what}`)?.median ?? Number.NaN
    const own = measurements.find((other) => other.name === 'peers.service.closed.throughput')?.rounds ?? []
    const relative = median(rounds.flatMap((rate, round) => (own[round] === undefined ? [] : rate / own[round])))
    const title = label.split(': ')[0] ?? label
    return [{ peer, label: title, throughput, relative, cpu: value('cpu'), p99: value('p99') }]
  })

/** Setup and limits of each comparison. */
export const PEER_NOTES: readonly string[] = [
  '**Countersign**: one process with its default workers. It checks a key, evaluates six rules, signs and records before each answer.',
  `**Cerbos** ${PEER_VERSIONS['@cerbos/cerbos-linux-x64']}: the HTTP API with six rules of the same kinds and facts from the caller, without signature or key check. The audit log is a file.`,
  '**Elysia**: one thread that encodes with viem and signs with viem or libsecp256k1, without key, policy or record.',
  '**Bare server in C**: one thread per core, HTTP and one signature, and nothing else. No service that signs each request can do less work.',
  `**Rules alone**: Cedar ${PEER_VERSIONS['@cedar-policy/cedar-wasm']} runs as WebAssembly, not as the native library; its policies are parsed once. GoRules Zen ${PEER_VERSIONS['@gorules/zen-engine']} is native; its time includes the transfer of facts between JavaScript and Rust.`,
  '**wrk and h2load** send the same requests to Countersign, to check the load generator of the bench.',
]

/** Servers in the drawing, with the work that each does. */
const DRAWN: Readonly<Record<string, string>> = {
  service: 'policy, signature, record',
  cerbos: 'policy',
  cerbos_audited: 'policy, record',
  elysia_viem: 'signature',
  elysia_native: 'signature',
  bare: 'signature',
}

export const peerChart = (measurements: readonly Measurement[]): BarChart => ({
  title: 'Requests per second, closed loop',
  subtitle: '',
  bars: peerRows(measurements).flatMap(({ peer, label, throughput }) => {
    const work = DRAWN[peer]
    return work === undefined ? [] : [{ label: `${label} (${work})`, value: throughput, isOwn: peer === 'service' }]
  }),
})
