// `countersign keys …`: issues, lists, regenerates and revokes API keys. Only issue and regenerate print a key, once, to stdout.
// Source: decisions §1, "Keys".
import { type ApiKeyRateLimit, DEFAULT_RATE_LIMIT } from '../domain/api-key.ts'
import { type Clock, isoSeconds } from '../lib/time.ts'
import { type AnswerOf, type Open, type Opened, readPages } from './admin-client.ts'
import { findOrganization } from './in-organization.ts'
import { parseDuration, parseExpiry, parseKeyId, parseRateLimit, printable } from './key-options.ts'
import {
  CommandFailedError,
  type CommandOutput,
  type ParsedCommand,
  parseCommand,
  print,
  runToExitCode,
  shortTime,
  UsageError,
} from './output.ts'

interface KeysIo extends CommandOutput, Opened {
  readonly clock: Clock
}

export interface KeysInput extends CommandOutput {
  readonly clock: Clock
  /** Not called where only help is asked for. */
  readonly open: Open
}

export const KEYS_HELP = `Usage: countersign keys issue --org ORG --kind attestation|identity|admin [--name TEXT] [--test]
                              [--expires 30d|2027-01-31|2027-01-31T12:00:00Z]
                              [--rate REQUESTS_PER_SECOND] [--burst REQUESTS] [--no-rate-limit]
       countersign keys list [--org ORG]
       countersign keys regenerate KEYID [--overlap 24h]
       countersign keys revoke KEYID

  issue       Makes a key and prints it, once. ${DEFAULT_RATE_LIMIT.requestsPerSecond} requests/s with bursts of ${DEFAULT_RATE_LIMIT.burst} unless stated.
  list        Lists keys, never the keys themselves.
  regenerate  Makes a key in place of another, which keeps working for the overlap (0: not at all).
  revoke      Ends a key within a second, for good.

ORG is an organization's short name or id; KEYID the 12 characters after the key's prefix.
Durations: 90s, 15m, 24h, 30d. With --json each command prints one JSON value.

Exit codes: 0 done, 1 it can't be done, 2 the call is wrong.
`

const DEFAULT_OVERLAP = '24h'
/** Name of a key that is issued without --name. */
const DEFAULT_NAME = 'unnamed'
const FLAGS = {
  kind: '--kind',
  name: '--name',
  rate_limit: '--rate',
  'rate_limit.requests_per_second': '--rate',
  'rate_limit.burst': '--burst',
  expires_at: '--expires',
  overlap_seconds: '--overlap',
}

const rateText = (limit: ApiKeyRateLimit | null): string =>
  limit === null ? 'no limit' : `${limit.requestsPerSecond}/s, burst ${limit.burst}`

type Key = AnswerOf<'GET /organizations/{organization}/keys/{key}'>

const describe = (organizationId: string, { rate_limit: limit, ...key }: Key) => ({
  keyId: key.id,
  organizationId,
  kind: key.kind,
  environment: key.environment,
  status: key.status,
  name: key.name,
  scopes: key.scopes,
  createdAt: shortTime(key.created_at),
  expiresAt: shortTime(key.expires_at),
  revokedAt: shortTime(key.revoked_at),
  lastUsedAt: shortTime(key.last_used_at),
  replacedByKeyId: key.replaced_by,
  rateLimit: limit === null ? null : { requestsPerSecond: limit.requests_per_second, burst: limit.burst },
})

type Described = ReturnType<typeof describe>

const OPTIONS = {
  org: { type: 'string' },
  kind: { type: 'string' },
  name: { type: 'string' },
  expires: { type: 'string' },
  rate: { type: 'string' },
  burst: { type: 'string' },
  'no-rate-limit': { type: 'boolean' },
  test: { type: 'boolean' },
  overlap: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const

/** Options of each command, besides --json and --help. */
const COMMAND_OPTIONS: Readonly<Record<string, readonly string[]>> = {
  issue: ['org', 'kind', 'name', 'expires', 'rate', 'burst', 'no-rate-limit', 'test'],
  list: ['org'],
  regenerate: ['overlap'],
  revoke: [],
}

/** Prints the key alone to stdout, so that it can be piped, and everything about it to stderr. */
const printNewKey = (io: KeysIo, json: boolean, key: string, record: Described, previous: Described | null): void => {
  if (json) {
    io.stdout(`${JSON.stringify({ key, ...record, ...(previous !== null && { previous }) })}\n`)
    return
  }
  io.stdout(`${key}\n`)
  io.stderr(
    `key id ${record.keyId}; expires: ${record.expiresAt ?? 'never'}; rate limit: ${rateText(record.rateLimit)}\n`,
  )
  if (previous !== null) io.stderr(`${previous.keyId} works until: ${previous.expiresAt ?? 'never'}\n`)
  io.stderr('The key is not kept and not shown again.\n')
}

const issue = async (command: ParsedCommand, io: KeysIo): Promise<void> => {
  if (command.positionals.length > 1) throw new UsageError('issue takes options only')
  const kind = command.required('kind')
  const expires = command.text('expires')
  const limit = parseRateLimit(command.text('rate'), command.text('burst'), command.flag('no-rate-limit'))
  const { id: organization } = await findOrganization(io, command.required('org'))
  const { key, record } = await io.admin.call('POST /organizations/{organization}/keys', {
    params: { organization },
    body: {
      // The operation checks the kind.
      kind: kind as Key['kind'],
      environment: command.flag('test') ? 'test' : 'live',
      name: command.text('name') ?? DEFAULT_NAME,
      expires_at: expires === undefined ? null : isoSeconds(parseExpiry(expires, io.clock.unixSeconds())),
      rate_limit: limit === null ? null : { requests_per_second: limit.requestsPerSecond, burst: limit.burst },
    },
    flags: FLAGS,
  })
  printNewKey(io, command.flag('json'), key ?? '', describe(organization, record), null)
}

const list = async (command: ParsedCommand, io: KeysIo): Promise<void> => {
  if (command.positionals.length > 1) throw new UsageError('list takes options only')
  const wanted = command.text('org')
  const organizations =
    wanted === undefined
      ? await readPages((query) => io.admin.call('GET /organizations', { query }))
      : [await findOrganization(io, wanted)]
  const keys = []
  for (const { id, slug } of organizations) {
    const params = { organization: id }
    const path = 'GET /organizations/{organization}/keys'
    for (const key of await readPages((query) => io.admin.call(path, { params, query }))) {
      keys.push({ ...describe(id, key), organization: slug })
    }
  }
  const rows = keys.map((key) => [
    key.keyId,
    key.organization,
    key.kind,
    key.environment,
    key.status,
    key.createdAt,
    key.expiresAt ?? 'never',
    key.lastUsedAt ?? 'never',
    rateText(key.rateLimit),
    printable(key.name),
  ])
  const header = ['KEY ID', 'ORG', 'KIND', 'ENV', 'STATUS', 'CREATED', 'EXPIRES', 'LAST USED', 'RATE LIMIT', 'NAME']
  print({ output: io, command }, keys, [header, ...rows])
}

/** Path parameters of a key. Commands may change every organization's keys, so they need the key id alone. */
const paramsOf = async ({ store }: KeysIo, keyId: string) => {
  const key = await store.apiKeys.findForAuthentication(keyId)
  if (key === null) throw new CommandFailedError(`there is no key ${keyId}`)
  return { organization: key.organizationId, key: keyId }
}

const regenerate = async (command: ParsedCommand, io: KeysIo): Promise<void> => {
  const keyId = parseKeyId(command.positionals.slice(1))
  const overlapSeconds = parseDuration(command.text('overlap') ?? DEFAULT_OVERLAP, '--overlap')
  const params = await paramsOf(io, keyId)
  const { key, record, previous } = await io.admin.call('POST /organizations/{organization}/keys/{key}/regenerate', {
    params,
    body: { overlap_seconds: overlapSeconds },
    flags: FLAGS,
  })
  const of = params.organization
  printNewKey(io, command.flag('json'), key ?? '', describe(of, record), describe(of, previous))
}

const revoke = async (command: ParsedCommand, io: KeysIo): Promise<void> => {
  const keyId = parseKeyId(command.positionals.slice(1))
  const params = await paramsOf(io, keyId)
  const path = 'POST /organizations/{organization}/keys/{key}/revoke'
  const revoked = describe(params.organization, await io.admin.call(path, { params, body: {} }))
  print({ output: io, command }, revoked, `revoked ${keyId} at ${revoked.revokedAt}\n`)
}

const COMMANDS: Readonly<Record<string, (command: ParsedCommand, io: KeysIo) => Promise<void>>> = {
  issue,
  list,
  regenerate,
  revoke,
}

/**
 * @param commandArguments the words after `keys`
 * @returns the exit code: 0 done, 1 it can't be done, 2 the call is wrong
 * @throws StoreUnavailableError
 */
export const runKeys = (commandArguments: readonly string[], input: KeysInput): Promise<number> =>
  runToExitCode(input, KEYS_HELP, commandArguments, async () => {
    const command = parseCommand(commandArguments, OPTIONS)
    if (command.flag('help')) {
      input.stdout(KEYS_HELP)
      return 0
    }
    const name = command.positionals[0] ?? ''
    const perform = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
    if (perform === undefined) throw new UsageError('give one of issue, list, regenerate, revoke')
    const allowed = COMMAND_OPTIONS[name] ?? []
    for (const option of Object.keys(OPTIONS)) {
      const given = command.text(option) !== undefined || command.flag(option)
      if (given && option !== 'json' && !allowed.includes(option)) {
        throw new UsageError(`${name} does not take --${option}`)
      }
    }
    const { stdout, stderr, clock } = input
    const opened = await input.open()
    try {
      await perform(command, { stdout, stderr, clock, ...opened })
      return 0
    } finally {
      await opened.close()
    }
  })
