// Errors of waiting helpers name the missing event, and services find another port if a port is taken.
import { expect, test } from 'bun:test'
import { atFreePorts, freePort } from '../service/start-service.ts'
import { until } from './until.ts'

test('a timeout names its condition, well before the runner ends the test', async () => {
  let asked = 0
  await until(() => ++asked === 3)
  expect(asked).toBe(3)
  const [never, limitMs] = [() => asked > 100, 40]
  await expect(until(never, { limitMs })).rejects.toThrow('still waiting after 0.04 s for: () => asked > 100')
  await expect(until(never, { limitMs, what: 'a hundred' })).rejects.toThrow('for: a hundred')
})

test('a start is retried on another port only if its port was taken', async () => {
  const socket = { data: () => undefined }
  const other = Bun.listen({ hostname: '127.0.0.1', port: 0, exclusive: true, socket })
  const ports = [other.port]
  const listener = await atFreePorts(async () => {
    const port = ports.pop() ?? freePort()
    return Bun.listen({ hostname: '127.0.0.1', port, exclusive: true, socket })
  })
  expect(listener.port).not.toBe(other.port)
  for (const each of [other, listener]) each.stop(true)
  let tries = 0
  const failing = async (): Promise<void> => {
    tries += 1
    throw new Error('no memory')
  }
  await expect(atFreePorts(failing)).rejects.toThrow('no memory')
  expect(tries).toBe(1)
})
