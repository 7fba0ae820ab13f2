// The agreement of all backends; `bun test/long/rounds.ts signatures` runs a million rounds.
import { expect, test } from 'bun:test'
import { runRounds } from './rounds.ts'
import { backendCandidates } from './test-keys.ts'

test('every backend encodes, signs and verifies random statements identically', async () => {
  const backends = backendCandidates().flatMap(({ backend }) => backend ?? [])
  let done = 0
  await runRounds({ backends, rounds: 300, seed: 'suite', nobleEvery: 10, progress: (n) => (done = n) })
  expect(done).toBe(300)
})
