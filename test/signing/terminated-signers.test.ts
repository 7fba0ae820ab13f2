import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { SECP256K1_BACKEND_NAMES } from '../../src/signing/secp256k1-backends.ts'
import { backendCandidates } from './test-keys.ts'

const candidates = backendCandidates()
const installed = (name: string): boolean => candidates.some((one) => one.name === name && one.backend !== null)
// By Node-API such a termination is known to abort the process; then there is nothing to expect.
const safe = (name: string): boolean =>
  installed(name) && !candidates.find((one) => one.label === name)!.backend!.description.includes('Node-API')

for (const name of SECP256K1_BACKEND_NAMES) {
  test.skipIf(!safe(name))(
    `the process survives workers terminated while they sign with ${name} (skipped where it is not installed)`,
    async () => {
      const script = join(import.meta.dir, 'terminated-signers.ts')
      const child = Bun.spawn([process.execPath, script, name], { stdout: 'pipe', stderr: 'pipe' })
      const [exitCode, output] = await Promise.all([child.exited, new Response(child.stdout).text()])
      expect({ exitCode, output }).toEqual({ exitCode: 0, output: 'survived\n' })
    },
    30_000,
  )
}
