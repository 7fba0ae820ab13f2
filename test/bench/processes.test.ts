// The processes that the benchmark starts.
import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { createProcesses } from '../../bench/processes.ts'

test('stopAll ends every process and removes every folder', async () => {
  const processes = createProcesses()
  const folder = processes.temporaryFolder()
  const started = Promise.withResolvers<unknown>()
  const exited = Promise.withResolvers<number | null>()
  const managed = processes.start({
    name: 'idle',
    command: [process.execPath, '-e', 'process.send("here"); setInterval(() => undefined, 1000)'],
    onMessage: started.resolve,
    onExit: exited.resolve,
  })
  expect(await started.promise).toBe('here')
  expect(existsSync(folder)).toBe(true)
  await processes.stopAll()
  await exited.promise
  expect(managed.exitCode()).toBe(128)
  expect(existsSync(folder)).toBe(false)
  expect(() => process.kill(managed.pid, 0)).toThrow()
  await processes.stopAll()
  expect(() => processes.start({ name: 'late', command: ['true'] })).toThrow('the bench is stopping')
})

test('run returns the output of a program, and stopAll ends it', async () => {
  const processes = createProcesses()
  expect(await processes.run('echo', ['echo', 'here'])).toBe('here\n')
  await expect(processes.run('shell', ['sh', '-c', 'echo broken >&2; exit 3'])).rejects.toThrow('shell failed: broken')
  const endless = processes.run('endless', ['sleep', '600']).catch((error: Error) => error.message)
  await processes.stopAll()
  expect(await endless).toBe('endless failed: ')
})

test('started processes do not inherit settings of the service', async () => {
  const processes = createProcesses()
  const received = Promise.withResolvers<unknown>()
  process.env['COUNTERSIGN_BENCH_PROBE'] = 'leaks'
  try {
    processes.start({
      name: 'probe',
      command: [
        process.execPath,
        '-e',
        'process.send(Object.keys(process.env).filter((n) => /^COUNTERSIGN_/.test(n)))',
      ],
      environment: { COUNTERSIGN_SIGNER: 'noble' },
      onMessage: received.resolve,
    })
    expect(await received.promise).toEqual(['COUNTERSIGN_SIGNER'])
  } finally {
    delete process.env['COUNTERSIGN_BENCH_PROBE']
    await processes.stopAll()
  }
})
