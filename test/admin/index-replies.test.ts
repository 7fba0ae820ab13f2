import { afterEach, expect, test } from 'bun:test'
import { tellStatus } from '../../workers/index/answer-finds.ts'
import type { IndexStatus } from '../../workers/index/decision-index.ts'

const { send } = process
afterEach(() => void Object.assign(process, { send }))

test('a process tells the state of its index once, and again when any part of it has changed', () => {
  const sent: unknown[] = []
  process.send = (message: unknown) => {
    sent.push(message)
    return true
  }
  const status: IndexStatus = { decisions: 1, unreadable: 0, newestAtMs: 5, upToDate: true }
  for (const told of [status, { ...status }, { ...status, newestAtMs: 6 }, status]) tellStatus(told)
  expect(sent).toEqual([5, 6, 5].map((newestAtMs) => ({ id: 0, ok: true, status: { ...status, newestAtMs } })))
})
