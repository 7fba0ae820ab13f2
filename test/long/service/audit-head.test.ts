// The signed head of the audit log, which detects a truncated log.
import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runCountersign } from '../../service/run-to-end.ts'
import { startService } from '../../service/start-service.ts'
import { newFolder } from '../../support/folder.ts'
import { until } from '../../support/until.ts'

test('verify and the next startup detect that the newest entries were deleted', async () => {
  const dataDirectory = newFolder()
  const command = (...words: string[]) => runCountersign({ COUNTERSIGN_DATA_DIR: dataDirectory }, ...words)
  const head = join(dataDirectory, 'audit.checkpoint')
  let service = await startService({ dataDirectory })
  for (const name of ['one', 'two']) expect((await command('org', 'create', name, '--name', name)).code).toBe(0)
  const { entries } = JSON.parse((await command('audit', 'verify', '--json')).stdout) as { entries: number }
  await until(() => existsSync(head) && Number(readFileSync(head, 'utf8').split('\n')[1]) >= entries)
  expect(await command('audit', 'verify')).toMatchObject({ code: 0 })
  expect(await command('decisions', 'verify')).toMatchObject({ code: 0 })
  await service.stop()

  const database = new Database(join(dataDirectory, 'countersign.db'))
  const triggers = database.query(
    "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'audit_log'",
  )
  const guards = triggers.all() as { name: string; sql: string }[]
  for (const { name } of guards) database.run(`DROP TRIGGER ${name}`)
  database.run('DELETE FROM audit_log WHERE sequence = ?', [entries])
  database.run("UPDATE counters SET value = ? WHERE name = 'audit'", [entries - 1])
  for (const { sql } of guards) database.run(sql)
  database.close()

  const problem = `the audit log was truncated, rolled back or rewritten: its entry ${entries} is missing`
  const audit = await command('audit', 'verify')
  expect([audit.code, audit.stderr]).toEqual([1, expect.stringContaining(problem)])
  const decisions = await command('decisions', 'verify')
  expect([decisions.code, decisions.stdout]).toEqual([1, expect.stringContaining(problem)])
  service = await startService({ dataDirectory })
  await service.logLine((line) => JSON.stringify(line).includes(`its entry ${entries} is missing`))
  // No newer head is signed, although the log has the same number of entries again.
  expect((await command('org', 'create', 'three', '--name', 'three')).code).toBe(0)
  expect((await command('audit', 'verify')).stderr).toContain(`its entry ${entries} is different`)
  await service.stop()
}, 120_000)

test('a signed head covers the last entry before shutdown', async () => {
  const dataDirectory = newFolder()
  const command = (...words: string[]) => runCountersign({ COUNTERSIGN_DATA_DIR: dataDirectory }, ...words)
  const head = join(dataDirectory, 'audit.checkpoint')
  const service = await startService({ dataDirectory })
  expect((await command('org', 'create', 'early', '--name', 'early')).code).toBe(0)
  await until(() => existsSync(head))
  expect((await command('org', 'create', 'late', '--name', 'late')).code).toBe(0)
  await service.stop()
  const { entries } = JSON.parse((await command('audit', 'verify', '--json')).stdout) as { entries: number }
  expect(Number(readFileSync(head, 'utf8').split('\n')[1])).toBe(entries)
}, 120_000)
