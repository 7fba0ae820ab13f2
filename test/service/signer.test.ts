// The warning about the slowest signing backend.
import { expect, test } from 'bun:test'
import { startAlone } from './start-service.ts'

test.each([
  ['noble', true],
  ['auto', false],
])('the signer %s logs a warning at the start: %p', 60_000, async (signer, isWarned) => {
  const service = await startAlone({ environment: { COUNTERSIGN_WORKERS: '1', COUNTERSIGN_SIGNER: signer } })
  // The output is complete after the stop.
  await service.stop()
  expect(service.output().stderr.includes('about three times slower: install libsecp256k1')).toBe(isWarned)
})
