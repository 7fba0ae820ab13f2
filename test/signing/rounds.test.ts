import { expect, test } from 'bun:test'
import { runRounds } from './rounds.ts'
import { backendCandidates } from './test-keys.ts'

test('rounds of encode, sign and verify agree on every backend; `bun test/long/rounds.ts signatures` does a million', async () => {
  const backends = backendCandidates().flatMap(({ backend }) => backend ?? [])
  let done = 0
  await runRounds({ backends, rounds: 300, seed: 'suite', nobleEvery: 10, progress: (n) => (done = n) })
  expect(done).toBe(300)
})

test('a backend that signs with another nonce is found out', async () => {
  const { backend } = backendCandidates().find(({ name }) => name === 'noble')!
  const wrong = {
    ...backend!,
    createSigner: (key: Uint8Array) => {
      const signer = backend!.createSigner(key)
      const sign = (digest: Uint8Array, signature: Uint8Array): void => signer.sign(digest.toReversed(), signature)
      return { ...signer, sign }
    },
  }
  await expect(runRounds({ backends: [backend!, wrong], rounds: 1, seed: 'x', nobleEvery: 1 })).rejects.toThrow(
    'differs',
  )
  await expect(runRounds({ backends: [wrong], rounds: 1, seed: 'x', nobleEvery: 1 })).rejects.toThrow('differs')
})
