// A child process closes its channel before it exits. A message that is sent between must not crash the supervisor.
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Glob } from 'bun'
import { sendToChild } from '../../src/cluster/send.ts'

test('a message to a running child with a closed channel is dropped', async () => {
  const closed = Promise.withResolvers<void>()
  const child = Bun.spawn([process.execPath, '-e', 'setInterval(() => {}, 1e6); process.disconnect()'], {
    stdio: ['ignore', 'ignore', 'inherit'],
    ipc: () => undefined,
    onDisconnect: () => closed.resolve(),
  })
  try {
    await closed.promise
    expect([child.exitCode, child.signalCode]).toEqual([null, null])
    // The runtime throws.
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

test('a message that cannot be serialized still fails', async () => {
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

test('source files that start a child with a channel do not call send themselves', () => {
  const root = join(import.meta.dir, '..', '..')
  const starters = [...new Glob('src/**/*.ts').scanSync({ cwd: root })]
    .map((path) => ({ path, source: readFileSync(join(root, path), 'utf8') }))
    .filter(({ source }) => /\bipc: \(/.test(source))
  expect(starters.length).toBeGreaterThan(2)
  expect(starters.filter(({ source }) => /\.send\(/.test(source)).map(({ path }) => path)).toEqual([])
})
