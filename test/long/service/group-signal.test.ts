// A signal to the whole process group, as sent by a process manager.
import { expect, test } from 'bun:test'
import { startService } from '../../service/start-service.ts'
import { until } from '../../support/until.ts'

const descendantsOf = (pid: number): number[] => {
  const text = Bun.spawnSync(['pgrep', '-P', String(pid)]).stdout.toString()
  return text
    .split('\n')
    .filter((line) => line !== '')
    .flatMap((line) => [Number(line), ...descendantsOf(Number(line))])
}

test.skipIf(Bun.which('pgrep') === null)('SIGTERM to all processes logs no warning', async () => {
  const service = await startService({ environment: { COUNTERSIGN_WORKERS: '1' } })
  const { pid } = service.process
  // The decision index, its search, and the tree of the log.
  await until(() => descendantsOf(pid).length >= 3, { what: 'the background processes', limitMs: 20_000 })
  await until(async () => (await fetch(`${service.url}/readyz`)).ok, { what: 'readiness', limitMs: 20_000 })
  for (const each of [...descendantsOf(pid), pid]) process.kill(each, 'SIGTERM')
  expect(await service.stop()).toBe(0)
  const lines = service.output().stderr.split('\n')
  expect(lines.filter((line) => /"level":"(warn|error)"/.test(line))).toEqual([])
})
