// Shipping of the audit log by a running service, and the verification of the copy.
import { expect, test } from 'bun:test'
import { newFolder } from '../support/folder.ts'
import { until } from '../support/until.ts'
import { runCountersign } from './run-to-end.ts'
import { startService } from './start-service.ts'

test('changes by a command are shipped', async () => {
  const folder = newFolder()
  const environment = { COUNTERSIGN_DECISIONS_SHIP: `dir:${folder}`, COUNTERSIGN_DECISIONS_SHIP_INTERVAL_SECONDS: '1' }
  const service = await startService({ environment: { ...environment, COUNTERSIGN_WORKERS: '1' } })
  const run = (...words: string[]) =>
    runCountersign({ ...environment, COUNTERSIGN_DATA_DIR: service.dataDirectory }, ...words)
  try {
    expect(await run('org', 'create', 'acme', '--name', 'Acme')).toMatchObject({ code: 0 })
    await until(async () => {
      const { stdout } = await run('audit', 'verify', '--shipped', '--json')
      const report = JSON.parse(stdout.trim().split('\n').at(-1) ?? '{}') as { entries: number; behind: number }
      return report.entries > 0 && report.behind === 0
    })
    expect(await run('audit', 'verify', '--shipped')).toMatchObject({ code: 0 })
    expect(service.output().stderr).not.toContain('could not ship')
  } finally {
    expect(await service.stop()).toBe(0)
  }
}, 60_000)
