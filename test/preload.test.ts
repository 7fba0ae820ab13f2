// What the preload of the tests (bunfig.toml) does for each file.
import { expect, test } from 'bun:test'

const afterSomeTurns = async (): Promise<never> => {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
  throw new Error('rejected')
}

test('a rejection that is waited for is seen at once, whatever else is open', async () => {
  const open = setTimeout(() => undefined, 60_000)
  const startMs = performance.now()
  for (let round = 0; round < 10; round++) await expect(afterSomeTurns()).rejects.toThrow('rejected')
  clearTimeout(open)
  // Without the preload 0.5 s each, by turns 0.1 and 0.9.
  expect(performance.now() - startMs).toBeLessThan(2_500)
})
