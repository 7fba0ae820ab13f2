// Runs admin API operations for the command line on an open store, with the same checks and audit entries.
import { fixedError } from '../domain/errors.ts'
import type { FindService, ServiceKey } from '../lib/service-key.ts'
import type { Deadline } from '../server/deadline.ts'
import { storeWithin } from '../store/store.ts'
import type { CommandActor } from './actor.ts'
import { RoleInsufficientError } from './errors.ts'
import { authorize } from './gate.ts'
import { type Input, performOperation } from './perform.ts'
import { Reply, type Route, SecretReply } from './route.ts'
import { closed } from './schema.ts'
import type { Services } from './services.ts'
import { checkValue } from './validate.ts'

export interface CommandInput {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
  /** JSON; use `file` for other media types. */
  readonly body?: unknown
  readonly file?: { readonly mediaType: string; readonly bytes: ReadableStream<Uint8Array> }
}

export interface CommandClient {
  /** @param operation for example `POST /attesters` @throws the error that the API would return as a problem */
  call(operation: string, input?: CommandInput): Promise<unknown>
  together<Result>(work: (admin: CommandClient) => Promise<Result>): Promise<Result>
  /** Returns a client with another author (see CommandActor). */
  as(author: string): CommandClient
}

const RUNNING_SERVICES = [
  'passwords',
  'passkeys',
  'sessions',
  'signIn',
  'box',
  'processes',
  'decisions',
  'attest',
  'tasks',
  'live',
  'liveStreams',
  'documents',
  'apiUrl',
  'version',
  'signer',
] as const
type CommandServices = Omit<Services, (typeof RUNNING_SERVICES)[number]>

export class ServiceNeededError extends fixedError(
  'DEPENDENCY_UNAVAILABLE',
  'this operation requires the running service: use --url with an admin key, or the dashboard',
) {}

export const requireRunning = <Value>(find: FindService, key: ServiceKey<Value>): Value => {
  const service = find(key)
  if (service === null) throw new ServiceNeededError()
  return service
}

class OperationLeftOutError extends fixedError(
  'NOT_FOUND',
  'the module of this operation is disabled: to enable it, remove it from the “without” setting and restart the service',
) {}

/** Adds getters that throw for services that only exist in a running service. */
const withoutService = (services: CommandServices): Services => {
  const missing = RUNNING_SERVICES.map((name) => [
    name,
    {
      // Not enumerable, because spreading the services would call the getter.
      enumerable: false,
      get: (): never => {
        throw new ServiceNeededError()
      },
    },
  ])
  return Object.defineProperties({ ...services }, Object.fromEntries(missing)) as Services
}

const NO_DEADLINE: Deadline = { deadlineMs: Number.POSITIVE_INFINITY, passed: false }
const NO_REQUEST = new Request('http://command-line')
const NOTHING = closed({})
const NOBODY = { userAgent: '', address: '', sessionToken: null, deviceToken: null } as const

/** Wraps a file for operations that read it from their request, which is never sent. */
const fileRequest = ({ method }: Route, { file }: CommandInput): Request =>
  file === undefined
    ? NO_REQUEST
    : new Request(NO_REQUEST.url, { method, body: file.bytes, headers: { 'content-type': file.mediaType } })

const checkInput = (route: Route, { params = {}, query = {}, body }: CommandInput): Input => {
  const given = Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined))
  return {
    params,
    query: checkValue(route.query ?? NOTHING, given),
    body: { text: '', value: route.body === null ? undefined : checkValue(route.body, body ?? {}) },
  }
}

const bodyOf = (answer: unknown): unknown =>
  answer instanceof Reply || answer instanceof SecretReply ? answer.body : answer

interface CommandClientDependencies {
  readonly routes: readonly Route[]
  readonly services: CommandServices
  readonly actor: CommandActor
}

export const createCommandClient = ({ routes, services, actor }: CommandClientDependencies): CommandClient => {
  // Keyed by declared path. Parameters aren't interpreted, so `..` can't reach another path.
  const declared = new Map(routes.map((route) => [`${route.method} ${route.path}`, route]))

  const over = (services: Services, actor: CommandActor): CommandClient => ({
    call: async (operation, input = {}) => {
      const route = declared.get(operation)
      if (route === undefined) throw new OperationLeftOutError()
      const { access } = route
      if (access.kind === 'public' || access.kind === 'second-factor' || access.kind === 'person') {
        throw new RoleInsufficientError('person')
      }
      const organization = await authorize(services.store, access, actor, input.params?.['organization'])
      const answer = await performOperation(
        { services, report: () => undefined },
        route,
        { actor, pending: null, organization, rateLimit: null },
        checkInput(route, input),
        {
          request: fileRequest(route, input),
          requestId: '',
          caller: NOBODY,
          deadline: NO_DEADLINE,
          origin: null,
          claim: () => null,
          stillAllowed: async () => true,
        },
      )
      return bodyOf(answer)
    },
    together: (work) =>
      services.store.transaction((tables) =>
        work(over(withoutService({ ...services, store: storeWithin(services.store, tables) }), actor)),
      ),
    as: (author) => over(services, { ...actor, author }),
  })
  return over(withoutService(services), actor)
}
