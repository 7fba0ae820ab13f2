// The text of `/metrics`, which callers share for a second.
import { expect, test } from 'bun:test'
import { createMetricsAnswer } from '../../src/server/operations.ts'
import { createRequestIds } from '../../src/server/request-id.ts'
import { createManualClock } from './manual-clock.ts'

test('a text is kept for a second, and a failure is not', async () => {
  const clock = createManualClock()
  let rendered = 0
  const answer = createMetricsAnswer({
    requestIds: createRequestIds('test'),
    contentType: 'text/plain',
    monotonicMs: clock.monotonicMs,
    expose: async () => {
      rendered += 1
      if (rendered === 1) throw new Error('no metrics')
      return `${rendered}`
    },
  })
  const ask = async (): Promise<string> => (await answer(new Request('http://127.0.0.1/metrics'))).text()
  await expect(ask()).rejects.toThrow('no metrics')
  expect([await ask(), await ask()]).toEqual(['2', '2'])
  clock.advance(1_000)
  expect(await ask()).toBe('3')
})
