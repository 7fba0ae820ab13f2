// Chooses the fastest secp256k1 backend that passes a self-test on this machine. @noble/curves is loaded only if
// needed, because it takes several megabytes per thread.
import { createHash } from 'node:crypto'
import { SignerUnusableError, SigningError } from './errors.ts'
import { loadNodeSecp256k1 } from './secp256k1-node.ts'
import { loadSystemSecp256k1 } from './secp256k1-system.ts'
import type { Secp256k1Backend, Secp256k1BackendName } from './types.ts'

/** Order in which `auto` tries the backends, fastest first. */
export const SECP256K1_BACKEND_NAMES: readonly Secp256k1BackendName[] = ['libsecp256k1', 'secp256k1-node', 'noble']

/** Each loader throws SignerUnusableError if its backend is unavailable. */
export type Secp256k1Loaders = Readonly<Record<Secp256k1BackendName, () => Secp256k1Backend>>

/** Loads by a `require` with a literal path, so that the bundler includes the file in the single-file executable. */
const loadNoble = (): Secp256k1Backend =>
  (require('./secp256k1-noble.ts') as typeof import('./secp256k1-noble.ts')).loadNobleSecp256k1()

const LOADERS: Secp256k1Loaders = {
  libsecp256k1: () => loadSystemSecp256k1(),
  'secp256k1-node': () => loadNodeSecp256k1(),
  noble: loadNoble,
}

export interface BackendChoice {
  readonly backend: Secp256k1Backend
  /** Faster backends that did not work, for the log. */
  readonly skipped: readonly { readonly name: Secp256k1BackendName; readonly reason: string }[]
}

const SELF_TEST_ROUNDS = 4
// RFC 6979 with secp256k1, key 1, SHA-256 of "Satoshi Nakamoto": see test/vectors/README.md.
const KNOWN_SIGNATURE =
  '934b1ea10a4b3c1757e2b0c017d0b6143ce3c9a7e6a4a49860d7a6ab210ee3d82442ce9d2b916064108014783e923ec36b49743e2ffa1c4496f01a512aafd9e5'

const sha256 = (text: string): Uint8Array => createHash('sha256').update(text).digest()

const signatureBy = (backend: Secp256k1Backend, key: Uint8Array, digest: Uint8Array): Uint8Array => {
  const signer = backend.createSigner(key)
  const signature = new Uint8Array(65)
  signer.sign(digest, signature)
  const recovered = backend.recover(digest, signature)
  if (recovered === null || Buffer.compare(recovered, signer.publicKey) !== 0) {
    throw new SignerUnusableError('it recovers incorrect public keys')
  }
  return Buffer.concat([signer.publicKey, signature])
}

/** SHA-256 of the public keys and deterministic signatures that @noble/curves produces in the self-test. */
const SELF_TEST_HASH = 'a4c2de2bd6cf59f16eb6b70607f49516924ee4b4f8421d00ed4e5597c86d482c'

const selfTest = (backend: Secp256k1Backend): void => {
  const keyOne = Uint8Array.from({ length: 32 }, (_, i) => (i === 31 ? 1 : 0))
  const known = signatureBy(backend, keyOne, sha256('Satoshi Nakamoto')).subarray(65, 129)
  if (known.toHex() !== KNOWN_SIGNATURE) throw new SignerUnusableError('it creates incorrect signatures')
  const made = createHash('sha256')
  for (let round = 0; round < SELF_TEST_ROUNDS; round++) {
    made.update(
      signatureBy(
        backend,
        sha256(`countersign self-test key ${round}`),
        sha256(`countersign self-test digest ${round}`),
      ),
    )
  }
  if (made.digest('hex') !== SELF_TEST_HASH) {
    throw new SignerUnusableError('its signatures differ from those of @noble/curves')
  }
}

/** @throws SignerUnusableError if the given backend does not work, or if no backend works */
export const chooseSecp256k1Backend = (
  name: 'auto' | Secp256k1BackendName,
  loaders: Secp256k1Loaders = LOADERS,
): BackendChoice => {
  const skipped: { name: Secp256k1BackendName; reason: string }[] = []
  for (const candidate of name === 'auto' ? SECP256K1_BACKEND_NAMES : [name]) {
    try {
      const backend = loaders[candidate]()
      selfTest(backend)
      return { backend, skipped }
    } catch (error) {
      const reason = error instanceof SigningError ? error.detail : 'it failed its self-test'
      skipped.push({ name: candidate, reason })
    }
  }
  const reasons = skipped.map(({ name, reason }) => `${name}: ${reason}`).join('; ')
  throw new SignerUnusableError(`no signing backend is available: ${reasons}`)
}
