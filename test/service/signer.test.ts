// The slowest signer serves only with a word about it.
import { expect, test } from 'bun:test'
import { startAlone } from './start-service.ts'

test.each([
  ['noble', true],
  ['auto', false],
])('signer %s: said at the start that it is slow: %p', 60_000, async (signer, said) => {
  const service = await startAlone({ environment: { COUNTERSIGN_WORKERS: '1', COUNTERSIGN_SIGNER: signer } })
  // Its output is complete only after it stopped.
  await service.stop()
  expect(service.output().stderr.includes('about three times slower: install libsecp256k1')).toBe(said)
})
