// Arguments of `countersign plan`. test/long/bench/run.test.ts runs its measurement.
import { expect, test } from 'bun:test'
import { runCountersign } from '../service/run-to-end.ts'

test.each([
  [['--p99', '20ms'], '--rate is missing or invalid. Example: --rate 5000'],
  [['--rate', '5k', '--p99', '20ms'], '--rate is missing or invalid. Example: --rate 5000'],
  [['--rate', '5000', '--p99', '20'], '--p99 is missing or invalid. Example: --p99 20ms'],
  [['--rate', '5000', '--p99', '0ms'], '--p99 is missing or invalid. Example: --p99 20ms'],
])('plan %j is refused before the measurement', async (words, message) => {
  const { code, stderr } = await runCountersign({}, 'plan', ...words)
  expect({ code, line: stderr.split('\n')[0] }).toEqual({ code: 2, line: message })
})
