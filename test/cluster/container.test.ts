// The files that the Containerfile copies can serve: with its start command and environment, as an ordinary user, on a
// read-only file system. The build of the image itself needs a container runtime.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { chmodSync, chownSync, cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { freePort, parseEnvironmentFile } from '../service/start-service.ts'
import { newFolder } from '../support/folder.ts'
import { until } from '../support/until.ts'
import { startWatchdog } from '../support/watchdog.ts'

const ROOT = join(import.meta.dir, '..', '..')
const CONTAINER = readFileSync(join(ROOT, 'deploy', 'Containerfile'), 'utf8').replaceAll(/\\\n\s*/g, '')
const folder = newFolder()
const application = join(folder, 'app')
const data = join(folder, 'data')
const temporary = join(folder, 'tmp')
setDefaultTimeout(60_000)

const isRoot = process.getuid?.() === 0
const NOBODY = 65_534
/** Root can write everything, so the service runs as another user. */
const asUser = isRoot ? ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', '--no-new-privs'] : []
const MISSING = ((): string | null => {
  if (process.platform !== 'linux') return 'needs Linux'
  if (isRoot && Bun.which('setpriv') === null) return 'setpriv is not installed'
  for (const path of [join(ROOT, 'node_modules', 'elysia', 'package.json'), process.execPath]) {
    if (Bun.spawnSync([...asUser, 'test', '-r', path]).exitCode !== 0)
      return 'an ordinary user cannot read the packages'
  }
  return null
})()

const forbidWriting = (path: string): void => {
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const inner = join(path, entry.name)
    if (entry.isSymbolicLink()) continue
    if (entry.isDirectory()) forbidWriting(inner)
    else chmodSync(inner, 0o444)
  }
  chmodSync(path, 0o555)
}
const allowRemoving = (path: string): void => {
  chmodSync(path, 0o755)
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (entry.isDirectory()) allowRemoving(join(path, entry.name))
  }
}

beforeAll(() => {
  chmodSync(folder, 0o755)
  mkdirSync(application)
  for (const [, list] of CONTAINER.matchAll(/^COPY (?!--from)(.+)$/gm)) {
    for (const path of (list ?? '').split(' ').slice(0, -1)) {
      mkdirSync(dirname(join(application, path)), { recursive: true })
      cpSync(join(ROOT, path), join(application, path), { recursive: true })
    }
  }
  symlinkSync(join(ROOT, 'node_modules'), join(application, 'node_modules'))
  forbidWriting(application)
  for (const path of [data, temporary]) {
    mkdirSync(path, { mode: 0o700 })
    if (isRoot) chownSync(path, NOBODY, NOBODY)
  }
})
afterAll(() => {
  allowRemoving(application)
})

test.skipIf(MISSING !== null)(
  `the service serves all three listeners, and stops cleanly${MISSING === null ? '' : ` (${MISSING})`}`,
  async () => {
    const settings = Object.fromEntries(
      [...(/^ENV (.+)$/m.exec(CONTAINER)?.[1] ?? '').matchAll(/([A-Z_]+)=(\S+)/g)].map(([, name, value]) => [
        name,
        value,
      ]),
    ) as Record<string, string>
    const ports = { API: freePort(), PORTAL: freePort(), DASHBOARD: freePort() }
    for (const [name, port] of Object.entries(ports)) {
      expect(settings[`COUNTERSIGN_${name}_LISTEN`]).toStartWith('0.0.0.0:80')
      settings[`COUNTERSIGN_${name}_LISTEN`] = `127.0.0.1:${port}`
    }
    const command = JSON.parse(/^CMD (\[.+\])$/m.exec(CONTAINER)?.[1] ?? '[]') as string[]
    const folders = { HOME: temporary, TMPDIR: temporary, COUNTERSIGN_DATA_DIR: data }
    const child = Bun.spawn([...asUser, process.execPath, ...command], {
      cwd: application,
      env: { ...settings, ...folders, PATH: '/usr/bin:/bin' },
      stdin: 'ignore',
      stdout: 'ignore',
      stderr: Bun.file(join(folder, 'log')),
    })
    const watchdog = startWatchdog(child.pid, null)
    const log = (): string => readFileSync(join(folder, 'log'), 'utf8')
    try {
      const answers = (url: string): Promise<boolean> =>
        fetch(url).then(
          ({ ok }) => ok,
          () => false,
        )
      await until(async () => {
        if (child.exitCode !== null) throw new Error(`the service ended:\n${log()}`)
        return answers(`http://127.0.0.1:${ports.API}/readyz`)
      })
      await until(() => answers(`http://127.0.0.1:${ports.PORTAL}/robots.txt`))
      await until(() => answers(`http://127.0.0.1:${ports.DASHBOARD}/`))
      const values = parseEnvironmentFile(readFileSync(join(data, 'quickstart.env'), 'utf8'))
      const attested = await fetch(`http://127.0.0.1:${ports.API}/v2/attestation`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': values['ATTESTATION_API_KEY'] ?? '' },
        body: JSON.stringify({
          from: '0x1111111111111111111111111111111111111111',
          chain: 'base',
          verification_hash: values['VERIFICATION_HASH'],
        }),
      })
      expect(attested.status).toBe(200)
      child.kill('SIGTERM')
      expect({ code: await child.exited, log: log() }).toMatchObject({ code: 0 })
      expect(log()).not.toMatch(/"level":"(warn|error)"|EACCES|EROFS/)
    } finally {
      child.kill('SIGKILL')
      await child.exited
      await watchdog.dismiss()
    }
  },
)
