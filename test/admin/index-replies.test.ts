import { afterEach, expect, test } from 'bun:test'
import { tellStatus } from '../../workers/index/answer-finds.ts'
import type { IndexStatus } from '../../workers/index/decision-index.ts'

const { send } = process
afterEach(() => void Object.assign(process, { send }))

test('the index process reports its status once, and again after each change', () => {
  const sent: unknown[] = []
  process.send = (message: unknown) => {
    sent.push(message)
    return true
  }
  const status: IndexStatus = { decisions: 1, unreadable: 0, newestAtMs: 5, upToDate: true }
  for (const each of [status, { ...status }, { ...status, newestAtMs: 6 }, status]) tellStatus(each)
  expect(sent).toEqual([5, 6, 5].map((newestAtMs) => ({ id: 0, ok: true, status: { ...status, newestAtMs } })))
})
