// What only shows with several threads. Each case runs in a process of its own, since its failure may end the process.
import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { SECP256K1_BACKEND_NAMES } from '../../src/signing/secp256k1-backends.ts'
import { backendCandidates } from './test-keys.ts'

const LOADING_RUNS = 4

const candidates = backendCandidates()
const backendOf = (name: string) => candidates.find(({ label }) => label === name)?.backend ?? null

const run = async (script: string, name: string) => {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, script), name], {
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const [exitCode, output] = await Promise.all([child.exited, new Response(child.stdout).text()])
  return { exitCode, output: output.trim() }
}

describe.each([...SECP256K1_BACKEND_NAMES])('workers with %s', (name) => {
  const backend = backendOf(name)

  // By Node-API such a termination is known to abort the process, so there nothing can be expected.
  test.skipIf(backend === null || backend.description.includes('Node-API'))(
    'the process survives those terminated while they sign (skipped where the backend is missing or by Node-API)',
    60_000,
    async () => {
      expect(await run('terminated-signers.ts', name)).toEqual({ exitCode: 0, output: 'survived' })
    },
  )

  // noble loads no library.
  if (name === 'noble') return
  test.skipIf(backend === null)(
    'all get the library when they load it in the same instant (skipped where it is missing)',
    60_000,
    async () => {
      for (let i = 0; i < LOADING_RUNS; i++) {
        expect(await run('simultaneous-loading.ts', name)).toEqual({ exitCode: 0, output: 'loaded' })
      }
    },
  )
})
