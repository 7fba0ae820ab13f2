// The minimum computation of an attestation: one Keccak-256 over a v2 statement's bytes, and one signature with each
// secp256k1 backend of the machine, with the key loaded and the digest ready.

import { chooseSecp256k1Backend, SECP256K1_BACKEND_NAMES } from '../../src/signing/secp256k1-backends.ts'
import { loadKeccak256 } from '../../src/signing/statement.ts'
import type { Secp256k1Backend, Secp256k1BackendName } from '../../src/signing/types.ts'
import { benchKey } from '../servers/bench-key.ts'
import { STATEMENT_BYTES } from './example.ts'
import type { StageBenchmark } from './harness.ts'

const keccakStage: StageBenchmark = {
  name: 'keccak',
  description: `Keccak-256 of ${STATEMENT_BYTES} bytes`,
  async prepare() {
    const keccak256 = await loadKeccak256()
    const bytes = new Uint8Array(STATEMENT_BYTES)
    return {
      run(iterations) {
        // Each input is the last digest, so that the compiler can't omit a call.
        for (let i = 0; i < iterations; i++) bytes.set(keccak256(bytes))
      },
    }
  },
}

const loadIfUsable = (name: Secp256k1BackendName): Secp256k1Backend | null => {
  try {
    return chooseSecp256k1Backend(name).backend
  } catch {
    // The backend is missing on this machine, so the table omits the stage.
    return null
  }
}

const signStage = (name: Secp256k1BackendName): StageBenchmark => ({
  name: `sign.${name}`,
  description: `one signature by ${name}`,
  prepare() {
    const backend = loadIfUsable(name)
    if (backend === null) return null
    const signer = backend.createSigner(benchKey('floor signer'))
    const digest = benchKey('floor digest')
    const signature = new Uint8Array(65)
    return {
      run(iterations) {
        for (let i = 0; i < iterations; i++) {
          signer.sign(digest, signature)
          digest.set(signature.subarray(0, 32))
        }
      },
    }
  },
})

export const stages: readonly StageBenchmark[] = [keccakStage, ...SECP256K1_BACKEND_NAMES.map(signStage)]
