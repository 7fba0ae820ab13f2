// Determines why PostgreSQL is unreachable: the driver reports only that connecting failed.
import { errorCodeOf } from '../../lib/named-error.ts'
import { StoreUnreachableError } from '../errors.ts'
import { describeStore, type PostgresTarget } from '../store-address.ts'
import { sqlStateOf } from './postgres-errors.ts'

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens at this address',
  ENOTFOUND: 'unknown host name',
  DNS_ENOTFOUND: 'unknown host name',
  EHOSTUNREACH: 'there is no network route to the host',
  ENETUNREACH: 'there is no network route to the host',
  ENOENT: 'the socket does not exist',
  EACCES: 'permission denied to use the socket',
}
const REFUSALS: Readonly<Record<string, string>> = {
  '57P03': 'the server is starting or stopping',
  '53300': 'the server has too many connections',
}

const tryOnce = async ({ host, port }: PostgresTarget, limitMs: number): Promise<string> => {
  const answered = Promise.withResolvers<string>()
  const timer = setTimeout(() => answered.resolve('the host does not respond'), limitMs)
  const socket = {
    open: (connected: Bun.Socket) => {
      connected.end()
      answered.resolve('a server listens there, but did not accept the connection in time')
    },
    data: () => undefined,
  }
  const connecting = host.startsWith('/')
    ? Bun.connect({ unix: `${host}/.s.PGSQL.${port}`, socket })
    : Bun.connect({ hostname: host, port, socket })
  connecting.catch((error: unknown) => {
    const code = String(errorCodeOf(error))
    answered.resolve(REASONS[code] ?? `the connection failed (${code})`)
  })
  try {
    return await answered.promise
  } finally {
    clearTimeout(timer)
  }
}

export const explainUnreachable = async (
  target: PostgresTarget,
  error: unknown,
  limitMs: number,
): Promise<StoreUnreachableError> => {
  const why = REFUSALS[sqlStateOf(error) ?? ''] ?? (await tryOnce(target, limitMs))
  return new StoreUnreachableError(`${describeStore(target)} cannot be reached: ${why}`, error)
}
