// A restore of an older backup, whose tree lacks leaves that signed heads cover: no head is signed until the operator starts a
// new tree, while attestations continue.
import { expect, test } from 'bun:test'
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openCheckpoint } from '../../../src/modules/transparency/tree/checkpoint.ts'
import { parseVerifierKey } from '../../../src/modules/transparency/tree/note.ts'
import { attestOnce } from '../../service/calls.ts'
import { runCountersign } from '../../service/run-to-end.ts'
import { type RunningService, startService } from '../../service/start-service.ts'
import { newFolder } from '../../support/folder.ts'
import { until } from '../../support/until.ts'

test('heads of an older log are not signed until begin-tree starts a new tree with a new key', async () => {
  const dataDirectory = newFolder()
  const at = (name: string): string => join(dataDirectory, name)
  const command = (...words: string[]) => runCountersign({ COUNTERSIGN_DATA_DIR: dataDirectory }, ...words)
  const start = () => startService({ dataDirectory, environment: { COUNTERSIGN_WORKERS: '1' } })
  const isRefused = async (service: RunningService): Promise<boolean> =>
    /countersign_decision_tree_refused 1/.test(await (await fetch(`${service.url}/metrics`)).text())
  let service = await start()
  await attestOnce(service)
  await service.stop()
  const old = newFolder()
  for (const name of ['decisions', 'decision-tree.db']) cpSync(at(name), join(old, name), { recursive: true })
  const oldHead = readFileSync(at('decision-tree.checkpoint'), 'utf8')
  const oldKey = (await command('proof', 'key')).stdout
  service = await start()
  await attestOnce(service)
  await service.stop()
  const head = readFileSync(at('decision-tree.checkpoint'), 'utf8')
  expect(head).not.toBe(oldHead)
  // Only the head in the store is left.
  rmSync(at('decision-tree.checkpoint'))
  for (const name of ['decisions', 'decision-tree.db', 'decision-tree.db-wal', 'decision-tree.db-shm']) {
    rmSync(at(name), { recursive: true, force: true })
  }
  for (const name of ['decisions', 'decision-tree.db']) cpSync(join(old, name), at(name), { recursive: true })

  service = await start()
  await attestOnce(service)
  await until(() => isRefused(service))
  const verified = await command('decisions', 'verify')
  expect([verified.code, verified.stdout]).toEqual([1, expect.stringContaining('the head in the store: the head has')])
  expect((await command('decisions', 'begin-tree')).code).toBe(1)
  await service.stop()
  expect(existsSync(at('decision-tree.checkpoint'))).toBe(false)

  const begun = await command('decisions', 'begin-tree')
  expect([begun.code, begun.stderr]).toEqual([0, ''])
  const newKey = (await command('proof', 'key')).stdout
  expect(begun.stdout).toEndWith(newKey)
  expect(newKey).not.toBe(oldKey)
  service = await start()
  await until(() => existsSync(at('decision-tree.checkpoint')))
  expect(await isRefused(service)).toBe(false)
  expect((await command('decisions', 'verify')).code).toBe(0)
  await service.stop()
  const signed = openCheckpoint(readFileSync(at('decision-tree.checkpoint'), 'utf8'), parseVerifierKey(newKey.trim()))
  expect(signed.origin).toEndWith('/2')
  // Three segment headers, and the two remaining decisions.
  expect(signed.size).toBeGreaterThanOrEqual(4)
  // Another node may still have the head of the earlier log.
  writeFileSync(at('decision-tree.checkpoint'), head)
  const elsewhere = await command('decisions', 'verify')
  expect([elsewhere.code, elsewhere.stdout]).toEqual([0, expect.stringContaining('the head belongs to another log')])
  const audit = await command('audit', 'list', '--json')
  expect(audit.stdout).toContain('command.decisions.begin-tree')
}, 180_000)
