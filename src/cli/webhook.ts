// `countersign webhook`: who is told of an organization's sessions, and what became of each message. A secret is written once,
// to stdout, by add and rotate; nothing else that a command prints holds one.
import type { Reach } from '../domain/list.ts'
import { parseReachableUrl, UrlRefusedError } from '../facts/reachable.ts'
import { formatWebhookSecret, newWebhookSecret } from '../http/webhook-signature.ts'
import type { OrganizationKeys } from '../identity/evidence/organization-keys.ts'
import { ConstraintViolatedError } from '../store/errors.ts'
import type { Store } from '../store/store.ts'
import { newWebhookEndpointId, type WebhookEndpoint } from '../store/webhook-endpoints.ts'
import { WEBHOOK_MESSAGE_STATES, type WebhookMessage } from '../store/webhook-messages.ts'
import { runInOrganization } from './in-organization.ts'
import { parseDuration } from './key-options.ts'
import {
  CommandFailedError,
  type CommandOutput,
  findVerb,
  formatTable,
  type ParsedCommand,
  parseCommand,
  runToExitCode,
  UsageError,
  type Verbs,
} from './output.ts'

const USAGE = `Usage: countersign webhook add --url URL [--test] [--decides] [--org NAME]
       countersign webhook list [--org NAME]
       countersign webhook rotate ENDPOINT [--overlap 24h] [--org NAME]
       countersign webhook remove ENDPOINT [--org NAME]
       countersign webhook deliveries [--state STATE] [--endpoint ENDPOINT] [--limit N] [--org NAME]
       countersign webhook resend MESSAGE | --dead [--org NAME]

add and rotate print the endpoint's new secret, once. Messages are signed with it by Standard Webhooks 1.0.0. They are tried
12 times over about two days; those that nobody took are dead, and resend tries them again.

  --url URL            https, leading to a public address (see the setting webhook-reach)
  --test               Told of sessions of test keys, not of live keys
  --decides            Asked to decide what live keys' sessions hand in, in place of operators: one an organization
  --overlap DURATION   How long the old secret signs beside the new one: 0, 15m, 24h (default), 30d
  --state STATE        One of ${WEBHOOK_MESSAGE_STATES.join(', ')}
  --limit N            At most so many, newest first, 1 to 1000 (default 20)
  --dead               All dead messages of the organization
  --org NAME           Organization, by name or id (default demo)
  --json               Print JSON
  --help               Print this

Exit codes: 0 done, 1 it can't be done, 2 the call is wrong.
`

export interface WebhookCommandInput {
  readonly output: CommandOutput
  readonly openStore: () => Promise<Store>
  readonly openKeys: (store: Store) => Promise<OrganizationKeys>
  readonly reach: Reach
  readonly nowSeconds: () => number
}

interface Context extends WebhookCommandInput {
  readonly store: Store
  readonly command: ParsedCommand
  readonly organizationId: string
}

const URL_MAX = 2_048
const OVERLAP_DEFAULT = '24h'
const LIMIT_DEFAULT = 20
const LIMIT_MAX = 1_000

const timeText = (seconds: number): string => new Date(seconds * 1000).toISOString().replace('.000Z', 'Z')

const describeEndpoint = ({
  id,
  purpose,
  environment,
  url,
  createdAtSeconds,
  previousUntilSeconds,
}: WebhookEndpoint) => ({
  ...{ id, purpose, environment, url, createdAt: timeText(createdAtSeconds) },
  oldSecretUntil: previousUntilSeconds === null ? null : timeText(previousUntilSeconds),
})

const describeMessage = (message: WebhookMessage) => ({
  ...{ id: message.id, endpointId: message.endpointId, sessionId: message.sessionId, sequence: message.sequence },
  ...{ type: message.type, state: message.state, attempts: message.attempts },
  ...{
    lastStatus: message.lastStatus,
    lastFailure: message.lastFailure,
    createdAt: timeText(message.createdAtSeconds),
  },
  nextAttemptAt: message.state === 'waiting' ? timeText(message.nextAttemptAtSeconds) : null,
})

const parseUrl = (command: ParsedCommand, reach: Reach): string => {
  try {
    const { href } = parseReachableUrl(command.required('url'), reach)
    if (href.length > URL_MAX) throw new UsageError(`--url has at most ${URL_MAX} characters`)
    return href
  } catch (error) {
    if (error instanceof UrlRefusedError) throw new UsageError(`--url ${error.detail}`)
    throw error
  }
}

/** The secret alone goes to stdout, so that it can be piped; what there is to say about it goes to stderr. */
const printSecret = ({ output, command }: Context, id: string, secret: Uint8Array): void => {
  const text = formatWebhookSecret(secret)
  if (command.flag('json')) {
    output.stdout(`${JSON.stringify({ id, secret: text })}\n`)
    return
  }
  output.stdout(`${text}\n`)
  output.stderr(`endpoint ${id}\nThe secret is not shown again.\n`)
}

const add = async (context: Context): Promise<void> => {
  const { store, command, organizationId, reach } = context
  const url = parseUrl(command, reach)
  if (command.flag('test') && command.flag('decides')) throw new UsageError('--decides is for sessions of live keys')
  const keys = await context.openKeys(store)
  const id = newWebhookEndpointId()
  const secret = newWebhookSecret()
  try {
    await store.webhookEndpoints.add({
      ...{ id, organizationId, url },
      environment: command.flag('test') ? 'test' : 'live',
      purpose: command.flag('decides') ? 'decisions' : 'events',
      sealedSecret: await keys.seal(organizationId, 'webhook secret', id, secret),
    })
  } catch (error) {
    if (!(error instanceof ConstraintViolatedError)) throw error
    throw new CommandFailedError('the organization has an endpoint that decides already: remove it first')
  }
  printSecret(context, id, secret)
}

const list = async ({ store, output, command, organizationId }: Context): Promise<void> => {
  const rows = (await store.webhookEndpoints.list(organizationId)).map(describeEndpoint)
  if (command.flag('json')) {
    output.stdout(`${JSON.stringify(rows)}\n`)
    return
  }
  output.stdout(
    formatTable([
      ['ENDPOINT', 'PURPOSE', 'ENV', 'CREATED', 'OLD SECRET UNTIL', 'URL'],
      ...rows.map((row) => [row.id, row.purpose, row.environment, row.createdAt, row.oldSecretUntil ?? '-', row.url]),
    ]),
  )
}

const requireEndpoint = async ({ store, command, organizationId }: Context): Promise<WebhookEndpoint> => {
  const id = command.positionals[1]
  if (id === undefined) throw new UsageError('ENDPOINT is missing')
  const endpoint = await store.webhookEndpoints.find(organizationId, id)
  if (endpoint === null) throw new CommandFailedError(`there is no endpoint ${JSON.stringify(id)}`)
  return endpoint
}

const rotate = async (context: Context): Promise<void> => {
  const { store, command, organizationId, nowSeconds } = context
  const overlapSeconds = parseDuration(command.text('overlap') ?? OVERLAP_DEFAULT, '--overlap')
  const { id } = await requireEndpoint(context)
  const keys = await context.openKeys(store)
  const secret = newWebhookSecret()
  const rotated = await store.webhookEndpoints.rotateSecret({
    ...{ organizationId, id, previousUntilSeconds: nowSeconds() + overlapSeconds },
    sealedSecret: await keys.seal(organizationId, 'webhook secret', id, secret),
  })
  if (!rotated) throw new CommandFailedError('the endpoint is gone')
  printSecret(context, id, secret)
}

const remove = async (context: Context): Promise<void> => {
  const { id } = await requireEndpoint(context)
  await context.store.webhookEndpoints.remove(context.organizationId, id)
  context.output.stdout(context.command.flag('json') ? `${JSON.stringify({ id })}\n` : `removed ${id}\n`)
}

const parseLimit = (text: string | undefined): number => {
  if (text === undefined) return LIMIT_DEFAULT
  const limit = /^[1-9][0-9]{0,3}$/.test(text) ? Number(text) : 0
  if (limit < 1 || limit > LIMIT_MAX) throw new UsageError(`--limit must be a whole number from 1 to ${LIMIT_MAX}`)
  return limit
}

const deliveries = async ({ store, output, command, organizationId }: Context): Promise<void> => {
  const stateText = command.text('state')
  const state = WEBHOOK_MESSAGE_STATES.find((known) => known === stateText)
  if (stateText !== undefined && state === undefined) {
    throw new UsageError(`--state must be one of ${WEBHOOK_MESSAGE_STATES.join(', ')}`)
  }
  const endpointId = command.text('endpoint')
  const messages = await store.webhookMessages.list(organizationId, {
    ...(state === undefined ? {} : { state }),
    ...(endpointId === undefined ? {} : { endpointId }),
    limit: parseLimit(command.text('limit')),
  })
  const rows = messages.map(describeMessage)
  if (command.flag('json')) {
    output.stdout(`${JSON.stringify(rows)}\n`)
    return
  }
  output.stdout(
    formatTable([
      ['MESSAGE', 'TYPE', 'SESSION', '#', 'STATE', 'ATTEMPTS', 'CREATED', 'NEXT', 'LAST'],
      ...rows.map((row) => [
        ...[row.id, row.type, row.sessionId, String(row.sequence), row.state, String(row.attempts), row.createdAt],
        ...[row.nextAttemptAt ?? '-', row.lastFailure ?? (row.lastStatus === null ? '-' : String(row.lastStatus))],
      ]),
    ]),
  )
}

const resend = async ({ store, output, command, organizationId }: Context): Promise<void> => {
  const id = command.positionals[1] ?? null
  if ((id === null) !== command.flag('dead')) throw new UsageError('give a MESSAGE or --dead')
  const count = await store.webhookMessages.resend(organizationId, id)
  if (id !== null && count === 0) {
    throw new CommandFailedError('there is no such message that was sent before, to an endpoint that exists')
  }
  output.stdout(command.flag('json') ? `${JSON.stringify({ messages: count })}\n` : `${count} to be sent again\n`)
}

const VERBS: Verbs<(context: Context) => Promise<void>> = {
  add: { run: add, words: 0 },
  list: { run: list, words: 0 },
  rotate: { run: rotate, words: 1 },
  remove: { run: remove, words: 1 },
  deliveries: { run: deliveries, words: 0 },
  resend: { run: resend, words: 1 },
}

export const runWebhook = (commandArguments: readonly string[], input: WebhookCommandInput): Promise<number> =>
  runToExitCode(input.output, USAGE, async () => {
    const text = { type: 'string' } as const
    const flag = { type: 'boolean' } as const
    const command = parseCommand(
      commandArguments,
      {
        ...{ org: text, url: text, overlap: text, state: text, endpoint: text, limit: text },
        ...{ test: flag, decides: flag, dead: flag, json: flag, help: { ...flag, short: 'h' } },
      },
      VERBS,
    )
    if (command.flag('help')) {
      input.output.stdout(USAGE)
      return 0
    }
    const run = findVerb(VERBS, command)
    if (run === undefined) throw new UsageError('say what to do with webhooks')
    return runInOrganization(input.openStore, command, (store, organizationId) =>
      run({ ...input, store, command, organizationId }),
    )
  })
