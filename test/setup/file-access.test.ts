// Reports about the permissions of the data folder and its secrets, and refusals of secrets that others can change.
import { beforeEach, describe, expect, test } from 'bun:test'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SettingInvalidError } from '../../src/config/settings.ts'
import { type DataFolder, dataFolderAt, makeDataFolder } from '../../src/setup/data-folder.ts'
import { checkAccess, inspectAccess, type SecretSettings } from '../../src/setup/file-access.ts'
import { cleanEnvironment, runCountersign, runToEnd } from '../service/run-to-end.ts'
import { newFolder } from '../support/folder.ts'

const NONE: SecretSettings = { secretFiles: [] }

let root: string
let folder: DataFolder
let keystore: string

const writeWithMode = (path: string, mode: number): void => {
  writeFileSync(path, 'secret')
  chmodSync(path, mode)
}
const found = (settings: SecretSettings = NONE): string[] =>
  inspectAccess(folder, settings).map(
    ({ path, detail, refused }) => `${refused ? 'refused' : 'reported'} ${path}: ${detail}`,
  )

beforeEach(() => {
  root = newFolder()
  folder = dataFolderAt(join(root, 'data'))
  makeDataFolder(folder)
  keystore = join(folder.keystores, 'one.json')
  for (const path of [keystore, folder.passphrase, folder.evidenceKey, folder.quickstart]) writeWithMode(path, 0o600)
})

describe('inspectAccess', () => {
  test('reports nothing about a new or missing data folder', () => {
    expect(found()).toEqual([])
    expect(inspectAccess(dataFolderAt(join(root, 'none')), NONE)).toEqual([])
  })

  test('reports folders that their group or all users can open', () => {
    chmodSync(folder.root, 0o755)
    chmodSync(folder.keystores, 0o750)
    chmodSync(join(folder.root, 'secrets'), 0o777)
    expect(found()).toEqual([
      `reported ${folder.root}: the data folder is open to everyone (mode 0755): run chmod 700, unless this is intended`,
      `reported ${folder.keystores}: the keystore folder is open to its group (mode 0750): the service makes it private at its next startup; check its content`,
      `reported ${folder.root}/secrets: the secrets folder is open to everyone (mode 0777): the service makes it private at its next startup; check its content`,
    ])
  })

  test('reports secrets that others can read, and refuses secrets that others can change', () => {
    chmodSync(keystore, 0o640)
    chmodSync(folder.evidenceKey, 0o604)
    chmodSync(folder.passphrase, 0o620)
    chmodSync(folder.quickstart, 0o602)
    expect(found().sort()).toEqual(
      [
        `reported ${keystore}: a secret that its group can read (mode 0640): chmod 600`,
        `reported ${folder.evidenceKey}: a secret that everyone can read (mode 0604): chmod 600`,
        `refused ${folder.passphrase}: a secret that its group can change (mode 0620): verify its content, then run chmod 600`,
        `refused ${folder.quickstart}: a secret that everyone can change (mode 0602): verify its content, then run chmod 600`,
      ].sort(),
    )
  })

  test('allows the group of a configured secret file only to read it', () => {
    const path = join(root, 'named')
    const settings: SecretSettings = { secretFiles: [path] }
    expect(found(settings)).toEqual([])
    writeWithMode(path, 0o440)
    expect(found(settings)).toEqual([])
    chmodSync(path, 0o444)
    expect(found(settings)).toEqual([`reported ${path}: a secret that everyone can read (mode 0444): chmod 600`])
    chmodSync(path, 0o460)
    expect(found(settings)).toHaveLength(1)
    expect(() => checkAccess(folder, settings, () => undefined)).toThrow(SettingInvalidError)
  })
})

describe('reports of programs', () => {
  const settings = () => ({
    COUNTERSIGN_DATA_DIR: folder.root,
    COUNTERSIGN_API_LISTEN: '127.0.0.1:0',
    COUNTERSIGN_PORTAL_LISTEN: '127.0.0.1:0',
    COUNTERSIGN_DASHBOARD_LISTEN: '127.0.0.1:0',
  })

  test('a service with one or several processes refuses to start, and changes nothing', async () => {
    chmodSync(join(folder.root, 'secrets'), 0o755)
    chmodSync(folder.passphrase, 0o666)
    for (const processes of ['1', '2']) {
      const { code, stderr } = await runToEnd(['bun', 'src/main.ts', '--processes', processes], settings())
      expect(code).toBe(2)
      expect(stderr).toContain(`countersign: ${folder.passphrase} is a secret that everyone can change (mode 0666)`)
    }
    expect(found()[0]).toContain('the secrets folder is open to everyone (mode 0755)')
  })

  test('a start that is not refused reports a folder once', async () => {
    chmodSync(folder.root, 0o750)
    const child = Bun.spawn(['bun', 'src/main.ts', '--processes', '1'], {
      cwd: join(import.meta.dir, '..', '..'),
      env: { ...cleanEnvironment(), ...settings() },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    // The invalid keystore of this test ends the start later.
    const text = await child.stderr.text()
    expect(await child.exited).not.toBe(0)
    expect(text.split('users other than the service can read or change this file or folder')).toHaveLength(2)
    expect(text).toContain(`"path":"${folder.root}"`)
  })

  test('doctor lists the findings, and fails if a start would be refused', async () => {
    chmodSync(keystore, 0o644)
    const note = await runCountersign({ COUNTERSIGN_DATA_DIR: folder.root }, 'doctor')
    expect([note.code, note.stdout]).toEqual([
      0,
      expect.stringContaining('a secret that everyone can read (mode 0644)'),
    ])
    chmodSync(keystore, 0o666)
    const problem = await runCountersign({ COUNTERSIGN_DATA_DIR: folder.root }, 'doctor', '--json')
    expect(problem.code).toBe(1)
    const { ok, exposure } = JSON.parse(problem.stdout) as { ok: boolean; exposure: { check: string }[] }
    expect(ok).toBe(false)
    expect(exposure.filter(({ check }) => check === 'access')).toMatchObject([{ result: 'problem', subject: keystore }])
  })
})
