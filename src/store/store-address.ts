// Parses the setting `store`: `sqlite:<file>` or `postgres://…`. Messages never repeat the password. A connection to
// another machine verifies the server's certificate unless a weaker mode is set, and never falls back to clear text.
import { isLoopbackHost } from '../lib/loopback.ts'

export type TlsMode = 'disable' | 'prefer' | 'require' | 'verify-ca' | 'verify-full'

export interface PostgresTarget {
  readonly kind: 'postgres'
  readonly host: string
  readonly port: number
  readonly database: string
  readonly user: string
  readonly password: string
  readonly tls: TlsMode
  /** Authorities for the server's certificate; null for the system authorities. */
  readonly authorityFile: string | null
  /** Maximum connections per process, without the listening connection. */
  readonly poolSize: number
}

export interface SqliteTarget {
  readonly kind: 'sqlite'
  readonly path: string
}

export type StoreTarget = SqliteTarget | PostgresTarget

const POOL_SIZE_MIN = 2
const POOL_SIZE_MAX = 200
const POOL_SIZE = 10
const TLS_MODES: readonly TlsMode[] = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full']
const OPTIONS: ReadonlySet<string> = new Set(['sslmode', 'sslrootcert', 'host', 'pool_max'])

/** Modes in which the driver uses clear text if the server, or an attacker in its place, does not support TLS. */
const FALLBACK_MODES: ReadonlySet<string> = new Set(['allow', 'prefer'])

const staysHere = (host: string): boolean => host.startsWith('/') || isLoopbackHost(host)

const parseTlsMode = (given: string | null, host: string): TlsMode => {
  const mode = given ?? (staysHere(host) ? 'prefer' : 'verify-full')
  if (FALLBACK_MODES.has(mode) && !staysHere(host)) {
    throw new Error(
      'has an sslmode that falls back to clear text: omit sslmode and set sslrootcert=FILE to the certificate authority of the server or, in a private network, set sslmode=disable',
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
    throw new Error('contains a percent sign that does not start an escape; write % in the password as %25')
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
    if (!OPTIONS.has(name)) throw new Error(`has an unknown option: valid options are ${[...OPTIONS].join(', ')}`)
  }
  const named = url.searchParams.get('host') ?? decode(url.hostname)
  const host = named.startsWith('[') ? named.slice(1, -1) : named
  const database = decode(url.pathname.slice(1))
  const user = decode(url.username)
  const tls = parseTlsMode(url.searchParams.get('sslmode'), host)
  const authorityFile = url.searchParams.get('sslrootcert')
  if (tls === 'disable' && authorityFile !== null) {
    throw new Error('has an sslrootcert, but sslmode=disable uses no certificate: omit one of them')
  }
  if (host === '' || database === '' || user === '') throw new Error('must contain a user, a host and a database')
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

export const describeStore = (target: StoreTarget): string =>
  target.kind === 'sqlite'
    ? `the store ${target.path}`
    : `the store ${target.database} at ${target.host}${target.host.startsWith('/') ? '' : `:${target.port}`}`

const WEAKNESSES: Readonly<Partial<Record<TlsMode, string>>> = {
  disable: 'in clear text: anyone on the network path can read and change the data',
  require: 'over TLS without verifying the server: anyone on the network path can impersonate it',
  'verify-ca':
    'over TLS without verifying the server’s name: any server with a certificate from the same authority is accepted',
}

/** Describes the weakness of the connection to the store; null if it is safe. */
export const describeWeakConnection = (target: StoreTarget): string | null => {
  if (target.kind === 'sqlite' || staysHere(target.host)) return null
  const weakness = WEAKNESSES[target.tls]
  return weakness === undefined
    ? null
    : `the service connects to ${describeStore(target)} ${weakness}; set sslmode=verify-full in the store setting to prevent that`
}
