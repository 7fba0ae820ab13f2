// Log lines of sign-ins, with a limit for refusals.
import { expect, test } from 'bun:test'
import { createLogger } from '../../src/telemetry/log.ts'
import { createSignInReport } from '../../src/telemetry/sign-in-report.ts'

test('a line contains kind, account, address and code; at most 50 refusals per second are logged', () => {
  const lines: Record<string, unknown>[] = []
  let nowMs = 0
  const log = createLogger({ level: 'info', write: (line) => void lines.push(JSON.parse(line)) })
  const report = createSignInReport({ log, monotonicMs: () => nowMs })
  const attempt = { how: 'password', account: 'user_1', address: '192.0.2.7' }
  for (let at = 0; at < 60; at++) report({ ...attempt, refused: 'CREDENTIAL_WRONG' })
  report({ ...attempt, refused: null })
  nowMs = 1_000
  report({ ...attempt, account: null, refused: 'TOO_MANY' })
  expect(lines).toHaveLength(52)
  expect(lines[0]).toMatchObject({ ...attempt, code: 'CREDENTIAL_WRONG', unlogged: 0 })
  expect(lines[50]).toMatchObject({ ...attempt, message: 'sign-in or confirmation succeeded' })
  expect(lines[51]).toMatchObject({ account: null, code: 'TOO_MANY', unlogged: 10 })
})
