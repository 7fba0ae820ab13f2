// Runs the service's load on a bare attestation server in C, which only serves and signs: the difference is the cost of
// the rest of the service. The server is compiled here; if that fails, the report contains the reason.
import { join } from 'node:path'
import { privateKeyToAddress } from 'viem/accounts'
import { freePort, waitUntilReady } from '../processes.ts'
import { benchKey } from '../servers/bench-key.ts'
import type { BenchContext, BenchPart } from './context.ts'
import { ANY_BODIES } from './floor.ts'
import { createLoadMeasurer, type LoadTarget } from './measure-load.ts'

const SOURCE = join(import.meta.dir, '..', 'servers', 'bare.c')
const SAMPLE_EVERY = 1_000
const VERIFICATION_HASH = 'x-00000000000000000000000000000000'

/** @returns the reason why the server can't be built; null on success */
const build = async (binary: string): Promise<string | null> => {
  const compiler = Bun.which('cc')
  if (compiler === null) return 'there is no C compiler (cc)'
  if (process.platform !== 'linux') return 'it is written for Linux'
  const built = Bun.spawn([compiler, '-O2', '-o', binary, SOURCE, '-ldl', '-lpthread'], { stderr: 'pipe' })
  const said = await new Response(built.stderr).text()
  return (await built.exited) === 0 ? null : `it does not compile: ${said.slice(0, 200)}`
}

/** @returns the load for the server; null if it can't be built or started, with the reason among the notes */
export const startBareServer = async ({
  processes,
  progress,
}: Pick<BenchContext, 'processes' | 'progress'>): Promise<Omit<LoadTarget, 'part'> | null> => {
  progress.step('bare server is compiled')
  const binary = join(processes.temporaryFolder(), 'bare')
  const leftOut = (problem: string): null => {
    progress.note(`the bare server is left out: ${problem}`)
    return null
  }
  const problem = await build(binary)
  if (problem !== null) return leftOut(problem)
  const key = Buffer.from(benchKey('bare attester')).toString('hex')
  const attester = privateKeyToAddress(`0x${key}`)
  const port = freePort()
  const threads = String(navigator.hardwareConcurrency)
  const server = processes.start({
    name: 'bare server',
    command: [binary, String(port), threads, key, VERIFICATION_HASH, attester],
  })
  const url = `http://127.0.0.1:${port}`
  try {
    await waitUntilReady(`${url}/livez`, server)
  } catch (error) {
    return leftOut(error instanceof Error ? error.message : String(error))
  }
  return {
    url: `${url}/v2/attestation`,
    headers: {},
    bodies: ANY_BODIES,
    answers: { kind: 'attestation', attester, sampleEvery: SAMPLE_EVERY },
    pid: server.pid,
  }
}

export const createBarePart = async (context: BenchContext): Promise<BenchPart | null> => {
  const target = await context.bareServer()
  if (target === null) return null
  const load = createLoadMeasurer(context, { ...target, part: 'bare' })
  return {
    name: 'bare',
    warm: load.warm,
    async round() {
      await load.closed()
      await load.half()
    },
  }
}
