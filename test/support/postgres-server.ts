// Starts PostgreSQL on a free loopback port, in a temporary folder. It ends with the process, which removes the folder.
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SQL } from 'bun'
import { atFreePorts, freePort } from '../service/start-service.ts'
import { findAccount, findBinaries, linkLibraries } from './postgres-binaries.ts'
import { until } from './until.ts'

/** Must not occur in logs and errors; tests search for it. */
export const POSTGRES_PASSWORD = 'canary-password-7c1f'
const USER = 'countersign'
const STOP_LIMIT_MS = 5_000
/** Many servers start at once on a busy machine. */
const START_LIMIT_MS = 120_000
/** In seconds. A starting or stopped server refuses immediately; a silent server waits for a processor or a disk. */
const CONNECT_LIMIT_S = 20

/** Ends the server and removes its folder if this process has ended. QUIT leaves no shared memory behind. */
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

/** `initdb` takes a second of CPU time, so the processes of a suite's run share its result. Null outside the suite. */
const RUN_FOLDER = process.env['TEST_RUN_FOLDER']
const INITIALIZED = RUN_FOLDER === undefined ? null : join(RUN_FOLDER, 'postgres-initialized')

/** Keeps owners and modes. */
const copyFolder = (from: string, to: string): boolean => Bun.spawnSync(['cp', '-a', from, to]).exitCode === 0

const copyInitialized = (data: string): boolean => {
  if (INITIALIZED === null || !existsSync(INITIALIZED)) return false
  rmdirSync(data)
  return copyFolder(INITIALIZED, data)
}

/** If several processes start at once, the first copy is kept. */
const keepInitialized = (data: string): void => {
  if (INITIALIZED === null) return
  const made = `${INITIALIZED}.${process.pid}`
  if (!copyFolder(data, made)) throw new Error('the new PostgreSQL folder could not be copied')
  try {
    renameSync(made, INITIALIZED)
  } catch (error) {
    if (!existsSync(INITIALIZED)) throw error
    rmSync(made, { recursive: true })
  }
}

/** A server that this or another process started. */
export interface PostgresAccess {
  readonly port: number
  /** Returns the `postgres://…` URL of a database on this server. */
  address(database: string): string
  /** Runs statements as the administrator, in order. */
  administer(...statements: readonly string[]): Promise<void>
}

export interface PostgresServer extends PostgresAccess {
  /** Returns the id of the postmaster process, which a restart changes. */
  pid(): number
  /** Kills the server with all its processes, as a power failure would, and starts it again. */
  restart(downMs?: number): Promise<void>
  stop(): Promise<void>
}

const MEANS: readonly string[] = [
  '-c',
  'listen_addresses=127.0.0.1',
  '-c',
  'unix_socket_directories=',
  '-c',
  'max_connections=400',
  '-c',
  'shared_buffers=64MB',
  '-c',
  'timezone=UTC',
  '-c',
  'log_timezone=UTC',
]
/** Tests do not need durability. */
const IN_HASTE: readonly string[] = [
  // In the data folder, which is always removed: a killed server leaves shared memory behind.
  '-c',
  'dynamic_shared_memory_type=mmap',
  '-c',
  'fsync=off',
  '-c',
  'full_page_writes=off',
  '-c',
  'autovacuum=off',
  '-c',
  'max_wal_size=2GB',
]

/** Returns access to a server that startPostgres started in this or another process. */
export const postgresAt = (port: number): PostgresAccess => {
  const address = (database: string): string =>
    `postgres://${USER}:${POSTGRES_PASSWORD}@127.0.0.1:${port}/${database}?sslmode=disable`
  return {
    port,
    address,
    administer: async (...statements) => {
      const client = new SQL(address('postgres'), { max: 1, connectionTimeout: CONNECT_LIMIT_S })
      try {
        for (const statement of statements) await client.unsafe(statement).simple()
      } finally {
        await client.close({ timeout: 0 })
      }
    },
  }
}

/** Starts a separate, empty server. @param durable whether to wait for the disk as in production, for measurements */
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
  const run = (native: string, ...words: readonly string[]): boolean => {
    try {
      return Bun.spawnSync([join(native, 'bin', 'initdb'), ...words], { ...asUser, stderr: 'ignore' }).exitCode === 0
    } catch {
      // The user may not be able to reach the folder of the packages, for example under /root.
      return false
    }
  }
  const initialize = (native: string): boolean => {
    const collation = ['--locale=C', '--encoding=UTF8']
    const access = [`--username=${USER}`, `--pwfile=${passwordFile}`, '--auth=scram-sha-256']
    if (!run(native, '--no-sync', '--pgdata', data, ...collation, ...access)) return false
    keepInitialized(data)
    return true
  }
  let native = packaged
  if (!run(native, '--version')) {
    native = join(folder, 'native')
    cpSync(packaged, native, { recursive: true })
    for (const name of readdirSync(join(native, 'bin'))) chmodSync(join(native, 'bin', name), 0o755)
    rmSync(libraries, { recursive: true })
    linkLibraries(native, libraries)
  }
  if (!copyInitialized(data) && !initialize(native)) {
    rmSync(folder, { recursive: true, force: true })
    throw new Error('initdb failed')
  }

  let port = 0
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
  const launchAndWait = async () => {
    const launched = await launch()
    const accepts = async (): Promise<boolean> => {
      try {
        await postgresAt(port).administer('SELECT 1')
        return true
      } catch (error) {
        if (launched.child.exitCode === null) return false
        throw new Error(`PostgreSQL ended: ${await Bun.file(log).text()}`, { cause: error })
      }
    }
    try {
      await until(accepts, { what: 'PostgreSQL to accept connections', limitMs: START_LIMIT_MS })
      return launched
    } catch (error) {
      launched.child.kill('SIGKILL')
      launched.watchdog.dismiss()
      throw error
    }
  }
  /** SIGQUIT ends the server without a checkpoint; the next start recovers committed data. */
  const end = async (): Promise<void> => {
    server.watchdog.dismiss()
    server.child.kill('SIGCONT')
    server.child.kill('SIGQUIT')
    const limit = setTimeout(() => server.child.kill('SIGKILL'), STOP_LIMIT_MS)
    await server.child.exited
    clearTimeout(limit)
  }
  let server = await atFreePorts(() => {
    port = freePort()
    return launchAndWait()
  })
  return {
    ...postgresAt(port),
    pid: () => server.child.pid,
    restart: async (downMs = 0) => {
      await end()
      await Bun.sleep(downMs)
      server = await launchAndWait()
    },
    stop: async () => {
      await end()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
