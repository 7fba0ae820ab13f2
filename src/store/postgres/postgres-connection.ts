// One connection to PostgreSQL, with limits on both sides: a Bun.SQL pool of size one. A connection reopened by Bun is
// never used, because it could split a transaction. https://bun.com/docs/api/sql
import { SQL } from 'bun'
import { errorCodeOf } from '../../lib/named-error.ts'
import type { SqlParameter } from '../database.ts'
import { StoreStatementError } from '../errors.ts'
import type { PostgresTarget, TlsMode } from '../store-address.ts'
import {
  AuthorityUnreadableError,
  CertificateRefusedError,
  ConnectionLostError,
  endsConnection,
  TlsMissingError,
} from './postgres-errors.ts'
import { numberPlaceholders, toBinding, toRows } from './postgres-values.ts'

export interface ConnectionLimits {
  readonly connectMs: number
  readonly statementMs: number
  readonly lockMs: number
  readonly idleInTransactionMs: number
}

export interface PostgresConnection {
  readonly usable: () => boolean
  /** `count`: number of changed rows. @throws the driver's errors, ConnectionLostError */
  run<Row>(sql: string, parameters?: readonly SqlParameter[]): Promise<{ readonly rows: Row[]; readonly count: number }>
  command(sql: string): Promise<void>
  /** Ends the connection immediately and rejects statements in progress. */
  drop(): void
}

/** The server times out earlier than the client, so that the connection usually survives. */
const SERVER_AHEAD_MS = 300

/** Verify explicitly: otherwise, NODE_TLS_REJECT_UNAUTHORIZED=0 would disable the verification. */
const VERIFYING: ReadonlySet<TlsMode> = new Set(['verify-ca', 'verify-full'])

/** Any TLS option makes the driver require TLS, so none is set if the mode is enough. */
const tlsOptions = ({ tls, authorityFile }: PostgresTarget): Pick<Bun.SQL.PostgresOrMySQLOptions, 'tls'> => {
  const authority = authorityFile === null ? null : Bun.file(authorityFile)
  if (VERIFYING.has(tls)) return { tls: { rejectUnauthorized: true, ...(authority === null ? {} : { ca: authority }) } }
  return authority === null ? {} : { tls: { ca: authority } }
}

/** Credentials are separate from the address, so that messages with the address don't contain them. */
export const driverOptions = (target: PostgresTarget, connectMs: number): Bun.SQL.Options => ({
  adapter: 'postgres',
  url: `postgres://localhost/?sslmode=${target.tls}`,
  ...(target.host.startsWith('/') ? { path: target.host } : { hostname: target.host }),
  port: target.port,
  database: target.database,
  username: target.user,
  password: target.password,
  ...tlsOptions(target),
  connection: { application_name: 'countersign' },
  max: 1,
  bigint: true,
  connectionTimeout: Math.max(1, Math.ceil(connectMs / 1000)),
})

/** Converts connection errors that a retry cannot fix. */
const whyNotConnected = (error: unknown): unknown => {
  if (errorCodeOf(error) === 'ERR_POSTGRES_TLS_NOT_AVAILABLE') {
    return new TlsMissingError('the server does not support TLS', { cause: error })
  }
  if (error instanceof SQL.PostgresError || error instanceof ConnectionLostError) return error
  // Other errors come from reading the CA certificate file or from the TLS library.
  return ['ENOENT', 'EACCES', 'EISDIR'].includes(String(errorCodeOf(error)))
    ? new AuthorityUnreadableError('the CA certificate file cannot be read', { cause: error })
    : new CertificateRefusedError('could not verify the server’s certificate', { cause: error })
}

const setUp = (limits: ConnectionLimits, readOnly: boolean): string =>
  [
    `SET statement_timeout = ${limits.statementMs}`,
    `SET lock_timeout = ${limits.lockMs}`,
    `SET idle_in_transaction_session_timeout = ${limits.idleInTransactionMs}`,
    "SET default_transaction_isolation = 'read committed'",
    `SET default_transaction_read_only = ${readOnly ? 'on' : 'off'}`,
    // An acknowledged write must survive a crash of any server process (`survives` in database.ts).
    `SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'`,
  ].join('; ')

/** @throws ConnectionLostError after a timeout, or if the server is a standby */
export const openPostgresConnection = async (
  target: PostgresTarget,
  limits: ConnectionLimits,
  readOnly: boolean,
): Promise<PostgresConnection> => {
  let usable = true
  const client = new SQL({
    ...driverOptions(target, limits.connectMs),
    onclose: () => {
      usable = false
    },
  } as Bun.SQL.Options)

  const drop = (): void => {
    usable = false
    client.close({ timeout: 0 }).catch(() => undefined)
  }

  const within = <Result>(limitMs: number, work: Promise<Result>): Promise<Result> =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        drop()
        reject(new ConnectionLostError('the server did not respond in time'))
      }, limitMs)
      work.then(
        (result) => {
          clearTimeout(timer)
          resolve(result)
        },
        (error: unknown) => {
          clearTimeout(timer)
          if (endsConnection(error)) drop()
          reject(error)
        },
      )
    })

  let session: Bun.ReservedSQL
  try {
    session = await within(limits.connectMs, client.reserve())
  } catch (error) {
    drop()
    throw whyNotConnected(error)
  }
  const statementLimitMs = limits.statementMs + SERVER_AHEAD_MS
  const requireUsable = (): void => {
    if (!usable) throw new ConnectionLostError('the connection was lost')
  }
  const connection: PostgresConnection = {
    usable: () => usable,
    run: async <Row>(sql: string, parameters: readonly SqlParameter[] = []) => {
      requireUsable()
      const { text, parameterCount } = numberPlaceholders(sql)
      if (parameterCount !== parameters.length) {
        throw new StoreStatementError(
          `the statement needs ${parameterCount} parameters, but ${parameters.length} were given`,
        )
      }
      const bindings = parameters.map(toBinding)
      const result: { readonly count: number } & Iterable<unknown> = await within(
        statementLimitMs,
        session.unsafe(text, bindings),
      )
      return { rows: toRows<Row>(result), count: result.count }
    },
    command: async (sql) => {
      requireUsable()
      await within(statementLimitMs, session.unsafe(sql).simple())
    },
    drop,
  }
  try {
    await connection.command(setUp(limits, readOnly))
    const { rows } = await connection.run<{ standby: boolean }>('SELECT pg_is_in_recovery() AS standby')
    if (rows[0]?.standby !== false) throw new ConnectionLostError('the server is a standby')
    return connection
  } catch (error) {
    drop()
    throw error
  }
}
