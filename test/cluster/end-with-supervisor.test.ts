// A supervised process exits with its supervisor. Each test uses a separate process.
import { expect, test } from 'bun:test'
import { join } from 'node:path'

const MODULE = join(import.meta.dir, '..', '..', 'src', 'cluster', 'end-with-supervisor.ts')

/** Starts a process that logs the reason for its exit. @param supervisor expression of the supervisor's process id */
const startOrphanable = (supervisor: string) => {
  const script = `
    import { endWithSupervisor } from ${JSON.stringify(MODULE)}
    const log = { warn: console.log, error: console.log }
    endWithSupervisor(process, ${supervisor}, log, () => process.exit(7))
    setInterval(() => undefined, 60_000)
    process.send('watches')`
  const watches = Promise.withResolvers<void>()
  const child = Bun.spawn([process.execPath, '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
    ipc: () => watches.resolve(),
  })
  return { child, watches: watches.promise }
}
const OUTPUT = 'the supervisor exited: stopping this process\n'

test('a process whose supervisor has already exited exits immediately', async () => {
  const { child } = startOrphanable('process.ppid + 1')
  expect(await child.exited).toBe(7)
  expect(await child.stdout.text()).toBe(OUTPUT)
})

test('a process exits when its channel to the supervisor closes', async () => {
  const { child, watches } = startOrphanable('process.ppid')
  await watches
  child.disconnect()
  expect(await child.exited).toBe(7)
  expect(await child.stdout.text()).toBe(OUTPUT)
})
