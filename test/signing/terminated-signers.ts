// Process of signing-workers.test.ts: terminates workers while they sign, and prints `survived`.
import { chooseSecp256k1Backend } from '../../src/signing/secp256k1-backends.ts'
import type { Secp256k1BackendName } from '../../src/signing/types.ts'
import { testKey } from './test-keys.ts'

const ROUNDS = 6
const WORKERS = 2

const signForever = (name: Secp256k1BackendName): void => {
  const signer = chooseSecp256k1Backend(name).backend.createSigner(testKey(1))
  const digest = testKey(2)
  const signature = new Uint8Array(65)
  signer.sign(digest, signature)
  postMessage('signing')
  for (;;) signer.sign(digest, signature)
}

const terminateSigner = (name: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const worker = new Worker(import.meta.path)
    worker.onerror = () => reject(new Error('a worker failed'))
    worker.addEventListener('close', () => resolve())
    worker.onmessage = () => worker.terminate()
    worker.postMessage(name)
  })

if (Bun.isMainThread) {
  const name = process.argv[2] ?? 'auto'
  for (let round = 0; round < ROUNDS; round++) {
    await Promise.all(Array.from({ length: WORKERS }, () => terminateSigner(name)))
  }
  console.log('survived')
} else {
  addEventListener('message', (event) => signForever(event.data))
}
