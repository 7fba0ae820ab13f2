// Reads the setting `store`, the address of the store: `sqlite:<file>` or `postgres://…`. The address of a PostgreSQL
// database may hold its password, so no message here repeats any part of it. A connection that leaves this machine verifies
// the server's certificate unless the address names a weaker mode, and never falls back from TLS to clear text.
// Source: https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS.
import { isLoopbackHost } from '../lib/loopback.ts'

export type TlsMode = 'disable' | 'prefer' | 'require' | 'verify-ca' | 'verify-full'

export interface PostgresTarget {
  readonly kind: 'postgres'
  /** A host name, an address, or the folder of a Unix socket. */
  readonly host: string
  readonly port: number
  readonly database: string
  readonly user: string
  readonly password: string
  readonly tls: TlsMode
  /** The file of the authorities that may have signed the server's certificate; null for the system's. */
  readonly authorityFile: string | null
  /** Connections that one process opens at most, besides the one that listens. */
  readonly poolSize: number
}

export interface SqliteTarget {
  readonly kind: 'sqlite'
  readonly path: string
}

export type StoreTarget = SqliteTarget | PostgresTarget

/** At least one connection reads and one writes. */
const POOL_SIZE_MIN = 2
const POOL_SIZE_MAX = 200
const POOL_SIZE = 10
const TLS_MODES: readonly TlsMode[] = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full']
const OPTIONS: ReadonlySet<string> = new Set(['sslmode', 'sslrootcert', 'host', 'pool_max'])

/** With these the driver uses clear text when the server, or an attacker in its place, says that it has no TLS. */
const FALLBACK_MODES: ReadonlySet<string> = new Set(['allow', 'prefer'])

/** Whether bytes to this host stay on this machine: a loopback address, or the folder of a Unix socket. */
const staysHere = (host: string): boolean => host.startsWith('/') || isLoopbackHost(host)

const parseTlsMode = (given: string | null, host: string): TlsMode => {
  const mode = given ?? (staysHere(host) ? 'prefer' : 'verify-full')
  if (FALLBACK_MODES.has(mode) && !staysHere(host)) {
    throw new Error(
      'has an sslmode that falls back to clear text: leave sslmode out, and name the file of the server’s authority as sslrootcert=FILE; or write sslmode=disable where the network itself is private',
    )
  }
  const tls = TLS_MODES.find((known) => known === mode)
  if (tls === undefined) throw new Error(`has an sslmode that is not one of ${TLS_MODES.join(', ')}`)
  return tls
}

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new Error('holds a percent sign that starts no escape; write a % in the password as %25')
  }
}

const parsePoolSize = (text: string | null): number => {
  if (text === null) return POOL_SIZE
  const size = /^[0-9]{1,3}$/.test(text) ? Number(text) : 0
  if (size < POOL_SIZE_MIN || size > POOL_SIZE_MAX) {
    throw new Error(`has a pool_max that is not a whole number from ${POOL_SIZE_MIN} to ${POOL_SIZE_MAX}`)
  }
  return size
}

const parsePostgres = (text: string): PostgresTarget => {
  const url = URL.parse(text)
  if (url === null) throw new Error('is not a URL of the form postgres://user:password@host:port/database')
  for (const name of url.searchParams.keys()) {
    if (!OPTIONS.has(name)) throw new Error(`may have the options ${[...OPTIONS].join(', ')} only`)
  }
  const named = url.searchParams.get('host') ?? decode(url.hostname)
  const host = named.startsWith('[') ? named.slice(1, -1) : named
  const database = decode(url.pathname.slice(1))
  const user = decode(url.username)
  const tls = parseTlsMode(url.searchParams.get('sslmode'), host)
  const authorityFile = url.searchParams.get('sslrootcert')
  if (tls === 'disable' && authorityFile !== null) {
    throw new Error('has an sslrootcert, and with sslmode=disable no certificate is asked for: leave one of them out')
  }
  if (host === '' || database === '' || user === '') throw new Error('must name a user, a host and a database')
  return {
    kind: 'postgres',
    host,
    port: url.port === '' ? 5432 : Number(url.port),
    database,
    user,
    password: decode(url.password),
    tls,
    authorityFile,
    poolSize: parsePoolSize(url.searchParams.get('pool_max')),
  }
}

/** @throws Error with a message that continues "the address …" and repeats no part of the address */
export const parseStoreAddress = (text: string): StoreTarget => {
  if (/^postgres(ql)?:\/\//.test(text)) return parsePostgres(text)
  const path = text.startsWith('sqlite:') ? text.slice('sqlite:'.length) : ''
  if (path === '' || path.includes('\0')) throw new Error('must be sqlite:FILE or postgres://…')
  return { kind: 'sqlite', path }
}

/** For people: without user, password or options. */
export const describeStore = (target: StoreTarget): string =>
  target.kind === 'sqlite'
    ? `the store ${target.path}`
    : `the store ${target.database} at ${target.host}${target.host.startsWith('/') ? '' : `:${target.port}`}`

const WEAKNESSES: Readonly<Partial<Record<TlsMode, string>>> = {
  disable: 'in clear text: anyone on the way reads and changes it',
  require: 'over TLS without asking who answers: anyone on the way can take the server’s place',
  'verify-ca': 'over TLS with any server of the same authority, whatever its name',
}

/** What an attacker between this machine and the store could do, in one line for people; null when nothing. */
export const describeWeakConnection = (target: StoreTarget): string | null => {
  if (target.kind === 'sqlite' || staysHere(target.host)) return null
  const weakness = WEAKNESSES[target.tls]
  return weakness === undefined
    ? null
    : `the service talks to ${describeStore(target)} ${weakness}; sslmode=verify-full in the setting store ends that`
}
