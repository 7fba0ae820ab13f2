// The creation of the data folder, and the message if it cannot be created or written.
import { beforeAll, expect, test } from 'bun:test'
import { chmodSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SettingInvalidError } from '../../src/config/settings.ts'
import { dataFolderAt, makeDataFolder } from '../../src/setup/data-folder.ts'
import { runToEnd } from '../service/run-to-end.ts'
import { newFolder } from '../support/folder.ts'

const NOBODY = 65_534

let root: string
beforeAll(() => {
  root = newFolder()
  chmodSync(root, 0o755)
})

/** Runs as a user without permissions if the test runs as root. */
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

test('makes the folder accessible only to its owner, even if it exists', () => {
  const folder = dataFolderAt(join(root, 'created'))
  makeDataFolder(folder)
  makeDataFolder(folder)
  for (const path of [folder.root, folder.keystores, folder.evidence, folder.decisions])
    expect(statSync(path).mode & 0o777).toBe(0o700)
})

test('names a file that exists at the path of the folder', () => {
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

test('names the folder that cannot be written', () => {
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

test('the service exits with code 2 and the message', async () => {
  const file = join(root, 'in-the-way')
  writeFileSync(file, '')
  const listen = { COUNTERSIGN_PORTAL_LISTEN: '127.0.0.1:0', COUNTERSIGN_DASHBOARD_LISTEN: '127.0.0.1:0' }
  const words = ['bun', 'src/main.ts', '--data-dir', file, '--api-listen', '127.0.0.1:0']
  const { code, stderr } = await runToEnd(words, listen)
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: `countersign: the data folder ${file} cannot be used: a file with this name already exists; fix this, or set another --data-dir\n`,
  })
})
