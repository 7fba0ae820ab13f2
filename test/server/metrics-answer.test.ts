// The text of `/metrics`, which callers share for one second.
import { expect, test } from 'bun:test'
import { createMetricsAnswer } from '../../src/server/operations.ts'
import { createRequestIds } from '../../src/server/request-id.ts'
import { createManualClock } from './manual-clock.ts'

test('a text is shared for one second, and a failure is not', async () => {
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
  const read = async (): Promise<string> => (await answer(new Request('http://127.0.0.1/metrics'))).text()
  await expect(read()).rejects.toThrow('no metrics')
  expect(await Promise.all([read(), read()])).toEqual(['2', '2'])
  clock.advance(999)
  expect(await read()).toBe('2')
  clock.advance(1)
  expect(await read()).toBe('3')
})
