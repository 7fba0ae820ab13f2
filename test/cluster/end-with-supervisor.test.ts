// How a supervised process learns that its supervisor is gone, in a process of its own: the system is asked to end it.
import { expect, test } from 'bun:test'
import { join } from 'node:path'

const MODULE = join(import.meta.dir, '..', '..', 'src', 'cluster', 'end-with-supervisor.ts')

/** Says how it came to be ended; `supervisor` is an expression. */
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
const SAID = 'the supervisor exited: stopping this process\n'

test('one whose supervisor ended before the process asked ends at once', async () => {
  const { child } = startOrphanable('process.ppid + 1')
  expect(await child.exited).toBe(7)
  expect(await child.stdout.text()).toBe(SAID)
})

test('one whose channel to the supervisor closes ends, whatever the system does', async () => {
  const { child, watches } = startOrphanable('process.ppid')
  await watches
  child.disconnect()
  expect(await child.exited).toBe(7)
  expect(await child.stdout.text()).toBe(SAID)
})
