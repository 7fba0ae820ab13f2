// Signing backends in several threads. Each case runs in a separate process, because a failure may end the process.
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

  // With Node-API, such a termination is known to abort the process.
  test.skipIf(backend === null || backend.description.includes('Node-API'))(
    'can be terminated while they sign (skipped without the backend, or with Node-API)',
    60_000,
    async () => {
      expect(await run('terminated-signers.ts', name)).toEqual({ exitCode: 0, output: 'survived' })
    },
  )

  // noble loads no library.
  if (name === 'noble') return
  test.skipIf(backend === null)(
    'can load the library simultaneously (skipped without the library)',
    60_000,
    async () => {
      for (let i = 0; i < LOADING_RUNS; i++) {
        expect(await run('simultaneous-loading.ts', name)).toEqual({ exitCode: 0, output: 'loaded' })
      }
    },
  )
})
