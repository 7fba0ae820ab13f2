// What the preload of the tests (bunfig.toml) does for each file.
import { expect, test } from 'bun:test'

const afterSomeTurns = async (): Promise<never> => {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
  throw new Error('rejected')
}

test('a rejection that is waited for is seen at once, whatever else is open', async () => {
  const open = setTimeout(() => undefined, 60_000)
  const tookMs: number[] = []
  for (let round = 0; round < 3; round++) {
    const startMs = performance.now()
    await expect(afterSomeTurns()).rejects.toThrow('rejected')
    tookMs.push(performance.now() - startMs)
  }
  clearTimeout(open)
  // Without the preload each of them takes a second at the least.
  expect(Math.min(...tookMs)).toBeLessThan(500)
})
