// A process that is restarted after it exits.
import { expect, test } from 'bun:test'
import { keepProcess } from '../../src/program/kept-process.ts'

const keep = (start: (onExit: () => void) => { kill(): void } | Promise<{ kill(): void }>) => {
  const delays: number[] = []
  const lost: string[] = []
  let next = (): void => undefined
  const kept = keepProcess({
    start,
    after: (delayMs, callback) => {
      delays.push(delayMs)
      next = callback
      return () => {
        next = () => undefined
      }
    },
    firstRestartMs: 100,
    longestRestartMs: 400,
    onLost: (errorClass) => lost.push(errorClass),
  })
  return { kept, delays, lost, next: () => next() }
}

test('each restart is delayed longer, up to a limit, until the process works', () => {
  let exit = (): void => undefined
  const { kept, delays, lost, next } = keep((onExit) => {
    exit = onExit
    return { kill: () => undefined }
  })
  for (let times = 0; times < 4; times++) {
    exit()
    expect(kept.running()).toBeNull()
    next()
    expect(kept.running()).not.toBeNull()
  }
  kept.works()
  exit()
  expect(delays).toEqual([100, 200, 400, 400, 100])
  expect(lost).toEqual(Array(5).fill('ProcessEnded'))
})

test('a failed start is retried, whether it fails synchronously or not', async () => {
  for (const fail of [
    () => {
      throw new TypeError('could not start')
    },
    () => Promise.reject(new TypeError('no store')),
  ]) {
    const { lost, delays } = keep(fail)
    await Bun.sleep(0)
    expect({ lost, delays }).toEqual({ lost: ['TypeError'], delays: [100] })
  }
})

test('a process that exits before its start is reported does not count as running', async () => {
  const { kept, lost, next } = keep(async (onExit) => {
    onExit()
    return { kill: () => undefined }
  })
  await Bun.sleep(0)
  expect(kept.running()).toBeNull()
  next()
  await Bun.sleep(0)
  expect(kept.running()).toBeNull()
  expect(lost).toEqual(['ProcessEnded', 'ProcessEnded'])
})

test('a process that starts after the close is killed, and not restarted', async () => {
  let killed = 0
  let exit = (): void => undefined
  const { kept, delays, lost } = keep(async (onExit) => {
    exit = onExit
    return { kill: () => void killed++ }
  })
  kept.close()
  await Bun.sleep(0)
  expect(killed).toBe(1)
  exit()
  expect({ delays, lost }).toEqual({ delays: [], lost: [] })
})
