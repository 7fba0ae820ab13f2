// Messages about a full disk, on a mounted disk if this user can mount one.
import { afterAll, describe, expect, test } from 'bun:test'
import {
  closeSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { explainFileProblem, fileProblem } from '../../../src/lib/file-problem.ts'
import { StoreUnavailableError } from '../../../src/store/errors.ts'
import { lockFolder } from '../../../src/store/sqlite/folder-lock.ts'
import { projectRequest } from '../../service/calls.ts'
import { runToEnd } from '../../service/run-to-end.ts'
import { freePort, startAlone } from '../../service/start-service.ts'
import { newFolder } from '../../support/folder.ts'

const folder = newFolder()
const isMounted =
  process.platform === 'linux' &&
  Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', folder], { stderr: 'ignore' }).success
afterAll(() => {
  // Lazily, because a background process may still use it.
  if (isMounted) Bun.spawnSync(['umount', '--lazy', folder])
})

const thrownBy = (work: () => void): unknown => {
  try {
    work()
    return null
  } catch (error) {
    return error
  }
}

/** Fills the disk except for this number of bytes. */
const fill = (leftBytes: number): void => {
  const descriptor = openSync(join(folder, 'fill'), 'w')
  const page = new Uint8Array(4_096)
  try {
    while (thrownBy(() => writeSync(descriptor, page)) === null);
    ftruncateSync(descriptor, fstatSync(descriptor).size - leftBytes)
  } finally {
    closeSync(descriptor)
  }
}

const empty = (): void => {
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true })
}

const environment = () => ({
  COUNTERSIGN_DATA_DIR: join(folder, 'data'),
  COUNTERSIGN_API_LISTEN: `127.0.0.1:${freePort()}`,
  COUNTERSIGN_PORTAL_LISTEN: `127.0.0.1:${freePort()}`,
  COUNTERSIGN_DASHBOARD_LISTEN: `127.0.0.1:${freePort()}`,
})
const start = (): ReturnType<typeof runToEnd> =>
  runToEnd(['bun', 'src/main.ts', '--processes', '1', '--workers', '1'], environment())

describe('messages about files', () => {
  test.skipIf(process.platform !== 'linux')('describe a full disk', () => {
    const descriptor = openSync('/dev/full', 'w')
    const error = thrownBy(() => writeSync(descriptor, 'x'))
    closeSync(descriptor)
    expect(fileProblem(error)).toBe('the disk is full')
    expect(fileProblem(new StoreUnavailableError(error))).toBe('the disk is full')
    const message = 'the data folder cannot be used: the disk is full; resolve this, then try again'
    expect(explainFileProblem(new StoreUnavailableError(error))).toBe(message)
  })

  test('describe a folder that cannot be created, but not a missing file', () => {
    symlinkSync(join(folder, 'nowhere', 'at-all'), join(folder, 'link'))
    const made = thrownBy(() => mkdirSync(join(folder, 'link', 'new'), { recursive: true }))
    const read = thrownBy(() => readFileSync(join(folder, 'missing')))
    expect(fileProblem(made)).toBe('it cannot be created there')
    expect(fileProblem(read)).toBeNull()
  })

  test('are absent for other errors', () => {
    expect(fileProblem(new StoreUnavailableError(new Error('closed')))).toBeNull()
    expect(fileProblem('ENOSPC')).toBeNull()
  })

  test('describe a locked folder and a missing folder', () => {
    const path = join(folder, 'lock')
    const lock = lockFolder(path, folder)
    expect(String(thrownBy(() => lockFolder(path, folder)))).toContain(`another service uses ${folder}`)
    lock.release()
    expect(String(thrownBy(() => lockFolder(join(folder, 'none', 'lock'), folder)))).toContain('could not lock')
  })
})

describe.skipIf(!isMounted)('a full disk', () => {
  test.each([0, 8, 64, 512])('with %d KiB left is reported at the first startup', async (left) => {
    empty()
    fill(left * 1_024)
    const { code, stderr } = await start()
    expect(code).toBe(2)
    expect(stderr.trim().split('\n').at(-1)).toMatch(/^countersign: .*the disk is full/)
  })

  test('does not prevent locking, and is reported at a later startup', async () => {
    empty()
    const service = await startAlone({ dataDirectory: environment().COUNTERSIGN_DATA_DIR })
    await service.stop()
    fill(0)
    lockFolder(join(folder, 'data', 'service.lock'), folder).release()
    const { code, stderr } = await start()
    expect([code, stderr.trim().split('\n').at(-1)]).toEqual([2, expect.stringContaining('the disk is full')])
    rmSync(join(folder, 'fill'))
    await (await startAlone({ dataDirectory: service.dataDirectory })).stop()
  })

  test('in a running service is logged with its code and path, and without a stack', async () => {
    empty()
    const service = await startAlone({ dataDirectory: environment().COUNTERSIGN_DATA_DIR })
    fill(0)
    // The segment has space until the end of its page.
    for (let status = 200; status === 200; ) ({ status } = await service.attest(projectRequest(service)))
    const decision = await service.logLine(({ message }) => String(message).startsWith('decisions cannot be recorded'))
    expect(decision['error_class']).toBe(`DecisionLogError: ENOSPC ${join(service.dataDirectory, 'decisions', 'w00')}`)
    const { error } = (await service.logLine((line) => JSON.stringify(line).includes('"code":"SQLITE_FULL"'))) as {
      error: { cause: unknown }
    }
    const path = join(service.dataDirectory, 'countersign.db')
    expect(error.cause).toEqual({ class: 'SQLiteError', code: 'SQLITE_FULL', path, problem: 'the disk is full' })
    rmSync(join(folder, 'fill'))
    await service.stop()
  })
})
