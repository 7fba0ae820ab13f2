// A child closes its channel before it ends; between the two, whoever supervises it must not fall over its silence.
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'
import { sendToChild } from '../../src/cluster/send.ts'

test('a child that has closed its channel and still runs is not told, and nothing fails', async () => {
  const closed = Promise.withResolvers<void>()
  const child = Bun.spawn([process.execPath, '-e', 'setInterval(() => {}, 1e6); process.disconnect()'], {
    stdio: ['ignore', 'ignore', 'inherit'],
    ipc: () => undefined,
    onDisconnect: () => closed.resolve(),
  })
  try {
    await closed.promise
    expect([child.exitCode, child.signalCode]).toEqual([null, null])
    // What a supervisor would have fallen over.
    expect(() => child.send({ type: 'ping' })).toThrow('IPC channel is open')
    sendToChild(child, { type: 'ping' })
    child.kill('SIGKILL')
    await child.exited
    sendToChild(child, { type: 'ping' })
  } finally {
    child.kill('SIGKILL')
    await child.exited
  }
})

test('what can not be sent at all still fails', async () => {
  const child = Bun.spawn([process.execPath, '-e', 'process.on("message", () => {})'], {
    stdio: ['ignore', 'ignore', 'inherit'],
    serialization: 'json',
    ipc: () => undefined,
  })
  try {
    expect(() => sendToChild(child, 1n)).toThrow()
  } finally {
    child.kill('SIGKILL')
    await child.exited
  }
})

test('whoever starts a child with a channel writes to it this way only', () => {
  const root = join(import.meta.dir, '..', '..')
  const starters = [...new Glob('src/**/*.ts').scanSync({ cwd: root })]
    .map((path) => ({ path, source: readFileSync(join(root, path), 'utf8') }))
    .filter(({ source }) => /\bipc: \(/.test(source))
  expect(starters.length).toBeGreaterThan(2)
  expect(starters.filter(({ source }) => /\.send\(/.test(source)).map(({ path }) => path)).toEqual([])
})
