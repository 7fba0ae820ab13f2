import { expect, test } from 'bun:test'
import { runRounds } from './rounds.ts'
import { backendCandidates } from './test-keys.ts'

const natives = backendCandidates().flatMap(({ name, backend }) => (backend && name !== 'noble' ? [backend] : []))

test.skipIf(natives.length === 0)(
  // `bun test/long/rounds.ts signatures` does a million.
  'a thousand rounds of encode, sign and verify agree (skipped where no native backend is installed)',
  async () => {
    let done = 0
    await runRounds({ backends: natives, rounds: 1_000, seed: 'suite', nobleEvery: 10, progress: (n) => (done = n) })
    expect(done).toBe(1_000)
  },
  60_000,
)

test('a hundred rounds agree with the noble backend among them', async () => {
  const backends = backendCandidates().flatMap(({ backend }) => backend ?? [])
  let done = 0
  await runRounds({ backends, rounds: 100, seed: 'suite, all', nobleEvery: 10, progress: (n) => (done = n) })
  expect(done).toBe(100)
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
