// A project whose policy has no active revision, in `project list` and `doctor`.
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { systemClock } from '../../src/lib/time.ts'
import { openStore } from '../../src/store/store.ts'
import { runCountersign } from '../service/run-to-end.ts'
import { newFolder } from '../support/folder.ts'

test('project list and doctor name a project without an active policy, with a remedy', async () => {
  const folder = newFolder()
  const run = (...words: string[]) => runCountersign({ COUNTERSIGN_DATA_DIR: folder }, ...words)
  await (await openStore({ path: join(folder, 'countersign.db'), clock: systemClock })).close()
  expect(await run('org', 'create', 'demo')).toMatchObject({ code: 0, stderr: '' })
  const path = join(folder, 'p.yaml')
  await Bun.write(path, 'name: P\nrules: []\n')
  const { policy } = JSON.parse((await run('policy', 'apply', path, '--draft', '--json')).stdout)
  expect((await run('project', 'create', '--name', 'Waiting', '--policy', policy)).code).toBe(0)
  const reason = `requests for Waiting are refused, because ${policy} has no active revision`
  expect(await run('project', 'list')).toEqual({
    code: 0,
    stdout: expect.stringMatching(new RegExp(`${policy} +no `)),
    stderr: expect.stringContaining(reason),
  })
  const { code, stdout } = await run('doctor', '--json')
  expect(code).toBe(1)
  expect(JSON.parse(stdout).exposure).toContainEqual({
    check: 'project',
    subject: 'demo: Waiting',
    result: 'problem',
    detail: expect.stringContaining(`countersign policy activate ${policy} --revision N --org demo`),
  })
  expect((await run('policy', 'activate', policy, '--revision', '1')).code).toBe(0)
  expect((await run('project', 'list')).stderr).toBe('')
  expect((await run('doctor')).stdout).not.toContain('Waiting')
}, 60_000)
