// A data folder that can't be made or written is said in one line with its name, before anything else is tried.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SettingInvalidError } from '../../src/config/settings.ts'
import { dataFolderAt, makeDataFolder } from '../../src/setup/data-folder.ts'
import { cleanEnvironment } from '../service/run-to-end.ts'

const ROOT = join(import.meta.dir, '..', '..')
const NOBODY = 65_534

let root: string
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'countersign-folder-'))
  chmodSync(root, 0o755)
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

/** As a user who may write nothing here: root may write anything. */
const asNobody = (work: () => void): void => {
  const isRoot = process.getuid?.() === 0
  if (isRoot) process.seteuid?.(NOBODY)
  try {
    work()
  } finally {
    if (isRoot) process.seteuid?.(0)
  }
}

const failureOf = (path: string): unknown => {
  try {
    makeDataFolder(dataFolderAt(path))
    return null
  } catch (error) {
    return error
  }
}

test('is made for its owner alone, twice as well as once', () => {
  const folder = dataFolderAt(join(root, 'made'))
  makeDataFolder(folder)
  makeDataFolder(folder)
  for (const path of [folder.root, folder.keystores, folder.evidence, folder.decisions])
    expect(statSync(path).mode & 0o777).toBe(0o700)
})

test('where a file is in its way is named', () => {
  const file = join(root, 'file')
  writeFileSync(file, '')
  const problems = {
    [file]: 'a file with this name already exists',
    [join(file, 'data')]: 'a file exists where a folder is required',
  }
  for (const [path, problem] of Object.entries(problems)) {
    const error = failureOf(path)
    expect(error).toBeInstanceOf(SettingInvalidError)
    expect(String(error)).toContain(`the data folder ${path} cannot be used: ${problem}`)
  }
})

test('that nobody may write is named, with the part that is missing', () => {
  const path = join(root, 'read-only')
  mkdirSync(path, { mode: 0o555 })
  let error: unknown = null
  asNobody(() => {
    error = failureOf(path)
  })
  expect(String(error)).toContain(
    `the data folder ${path} cannot be used: permission denied (${join(path, 'keystores')})`,
  )
})

test('stops the start with exit code 2 and that line', async () => {
  const file = join(root, 'in-the-way')
  writeFileSync(file, '')
  const child = Bun.spawn(['bun', 'src/main.ts', '--data-dir', file, '--api-listen', '127.0.0.1:0'], {
    cwd: ROOT,
    env: {
      ...cleanEnvironment(),
      COUNTERSIGN_PORTAL_LISTEN: '127.0.0.1:0',
      COUNTERSIGN_DASHBOARD_LISTEN: '127.0.0.1:0',
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const [code, stderr] = await Promise.all([child.exited, new Response(child.stderr).text()])
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: `countersign: the data folder ${file} cannot be used: a file with this name already exists; fix this, or set another --data-dir\n`,
  })
})
