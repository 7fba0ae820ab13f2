// `countersign webhook`: the endpoints that receive an organization's session events, and the state of each message. Only add and
// rotate print a secret, once, to stdout.
import { VERIFICATION_SERVICES } from '../domain/webhook-message.ts'
import { WEBHOOK_MESSAGE_STATES } from '../store/webhooks/webhook-messages.ts'
import { type AnswerOf, type InputOf, type Open, type Opened, readPages } from './admin-client.ts'
import { runInOrganization } from './in-organization.ts'
import { parseDuration, parseLimit } from './key-options.ts'
import { type CommandOutput, type ParsedCommand, print, shortTime, UsageError, type Verbs } from './output.ts'
import { readText } from './read-text.ts'
import { runVerbOf } from './run-verb.ts'

const USAGE = `Usage: countersign webhook add --url URL [--test] [--decides] [--org NAME]
       countersign webhook list [--org NAME]
       countersign webhook rotate ENDPOINT [--overlap 24h] [--org NAME]
       countersign webhook service ENDPOINT SERVICE --secret-file FILE [--overlap 24h] [--org NAME]
       countersign webhook remove ENDPOINT [--org NAME]
       countersign webhook deliveries [--state STATE] [--endpoint ENDPOINT] [--limit N] [--org NAME]
       countersign webhook resend MESSAGE | --dead [--org NAME]

add and rotate print the endpoint's new secret, once. Messages are signed with it by Standard Webhooks 1.0.0. They are tried
12 times over about two days; those that nobody took are dead, and resend tries them again.
service has a verification service decide over an endpoint that decides: ${VERIFICATION_SERVICES.join(', ')}. It prints
the path for the service's own webhooks.

  --url URL            https, leading to a public address (see the setting webhook-reach)
  --test               Told of sessions of test keys, not of live keys
  --decides            Asked to decide what live keys' sessions hand in, in place of operators: one an organization
  --overlap DURATION   How long the old secret holds beside the new one: 0, 15m, 24h (default), 30d
  --secret-file FILE   With which the service signs, as it has it; - reads it from stdin
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
  readonly open: Open
}

interface Context extends Opened {
  readonly output: CommandOutput
  readonly command: ParsedCommand
  readonly organizationId: string
}

const OVERLAP_DEFAULT = '24h'

const ENDPOINTS = 'GET /organizations/{organization}/webhooks'
const MESSAGES = 'GET /organizations/{organization}/webhook-messages'

const describeEndpoint = (endpoint: AnswerOf<typeof ENDPOINTS>['data'][number]) => ({
  id: endpoint.id,
  purpose: endpoint.purpose,
  environment: endpoint.environment,
  url: endpoint.url,
  service: endpoint.service,
  createdAt: shortTime(endpoint.created_at),
  oldSecretUntil: shortTime(endpoint.old_secret_until),
})

const describeMessage = (message: AnswerOf<typeof MESSAGES>['data'][number]) => ({
  id: message.id,
  endpointId: message.endpoint_id,
  sessionId: message.session_id,
  sequence: message.sequence,
  type: message.type,
  state: message.state,
  attempts: message.attempts,
  lastStatus: message.last_status,
  lastFailure: message.last_failure,
  createdAt: shortTime(message.created_at),
  nextAttemptAt: shortTime(message.next_attempt_at),
})

/** Prints the secret alone to stdout, so that it can be piped, and everything about it to stderr. */
const printSecret = ({ output, command }: Context, id: string, secret: string | null): void => {
  const text = secret ?? ''
  if (command.flag('json')) {
    output.stdout(`${JSON.stringify({ id, secret: text })}\n`)
    return
  }
  output.stdout(`${text}\n`)
  output.stderr(`endpoint ${id}\nThe secret is not shown again.\n`)
}

const FLAGS = { url: '--url', overlap_seconds: '--overlap' }

const add = async (context: Context): Promise<void> => {
  const { admin, command, organizationId } = context
  const { endpoint, secret } = await admin.call('POST /organizations/{organization}/webhooks', {
    params: { organization: organizationId },
    body: {
      url: command.required('url'),
      environment: command.flag('test') ? 'test' : 'live',
      purpose: command.flag('decides') ? 'decisions' : 'events',
    },
    flags: FLAGS,
  })
  printSecret(context, endpoint.id, secret)
}

const list = async ({ admin, output, command, organizationId }: Context): Promise<void> => {
  const params = { organization: organizationId }
  const rows = (await admin.call(ENDPOINTS, { params })).data.map(describeEndpoint)
  print({ output, command }, rows, [
    ['ENDPOINT', 'PURPOSE', 'SERVICE', 'ENV', 'CREATED', 'OLD SECRET UNTIL', 'URL'],
    ...rows.map((row) => [
      row.id,
      row.purpose,
      row.service ?? '-',
      row.environment,
      row.createdAt,
      row.oldSecretUntil ?? '-',
      row.url,
    ]),
  ])
}

/** Path parameters of the endpoint that the command names. */
const paramsOf = ({ command, organizationId }: Context) => {
  const endpoint = command.positionals[1]
  if (endpoint === undefined) throw new UsageError('ENDPOINT is missing')
  return { organization: organizationId, endpoint }
}

const rotate = async (context: Context): Promise<void> => {
  const { admin, command } = context
  const { endpoint, secret } = await admin.call('POST /organizations/{organization}/webhooks/{endpoint}/rotate', {
    params: paramsOf(context),
    body: { overlap_seconds: parseDuration(command.text('overlap') ?? OVERLAP_DEFAULT, '--overlap') },
    flags: FLAGS,
  })
  printSecret(context, endpoint.id, secret)
}

const service = async (context: Context): Promise<void> => {
  const { admin, output, command } = context
  const params = paramsOf(context)
  const named = command.positionals[2]
  const known = VERIFICATION_SERVICES.find((name) => name === named)
  if (known === undefined) throw new UsageError(`SERVICE is one of ${VERIFICATION_SERVICES.join(', ')}`)
  const endpoint = await admin.call('PUT /organizations/{organization}/webhooks/{endpoint}/service', {
    params,
    body: {
      service: known,
      secret: readText(command.required('secret-file')).trim(),
      overlap_seconds: parseDuration(command.text('overlap') ?? OVERLAP_DEFAULT, '--overlap'),
    },
    flags: { ...FLAGS, secret: '--secret-file' },
  })
  print({ output, command }, { id: endpoint.id, path: endpoint.service_path }, `${endpoint.service_path}\n`)
}

const remove = async (context: Context): Promise<void> => {
  const params = paramsOf(context)
  const { admin, output, command } = context
  await admin.call('DELETE /organizations/{organization}/webhooks/{endpoint}', { params })
  const { endpoint: id } = params
  print({ output, command }, { id }, `removed ${id}\n`)
}

const deliveries = async ({ admin, output, command, organizationId }: Context): Promise<void> => {
  const params = { organization: organizationId }
  // The operation checks the values.
  const filter = { state: command.text('state'), endpoint_id: command.text('endpoint') } as InputOf<
    typeof MESSAGES
  >['query']
  const messages = await readPages(
    (page) =>
      admin.call(MESSAGES, {
        params,
        query: { ...filter, ...page },
        flags: { state: '--state', endpoint_id: '--endpoint' },
      }),
    parseLimit(command.text('limit')),
  )
  const rows = messages.map(describeMessage)
  print({ output, command }, rows, [
    ['MESSAGE', 'TYPE', 'SESSION', '#', 'STATE', 'ATTEMPTS', 'CREATED', 'NEXT', 'LAST'],
    ...rows.map((row) => [
      row.id,
      row.type,
      row.sessionId,
      String(row.sequence),
      row.state,
      String(row.attempts),
      row.createdAt,
      row.nextAttemptAt ?? '-',
      row.lastFailure ?? (row.lastStatus === null ? '-' : String(row.lastStatus)),
    ]),
  ])
}

const resend = async ({ admin, output, command, organizationId }: Context): Promise<void> => {
  const message = command.positionals[1] ?? null
  if ((message === null) !== command.flag('dead')) throw new UsageError('give a MESSAGE or --dead')
  const params = { organization: organizationId }
  let messages = 1
  if (message === null) {
    const path = 'POST /organizations/{organization}/webhook-messages/resend-dead'
    messages = (await admin.call(path, { params, body: {} })).messages
  } else {
    const path = 'POST /organizations/{organization}/webhook-messages/{message}/resend'
    await admin.call(path, { params: { ...params, message }, body: {} })
  }
  print({ output, command }, { messages }, `${messages} to be sent again\n`)
}

const VERBS: Verbs<(context: Context) => Promise<void>> = {
  add: { run: add, words: 0 },
  list: { run: list, words: 0 },
  rotate: { run: rotate, words: 1 },
  service: { run: service, words: 2 },
  remove: { run: remove, words: 1 },
  deliveries: { run: deliveries, words: 0 },
  resend: { run: resend, words: 1 },
}

const COMMAND = {
  help: USAGE,
  subject: 'webhooks',
  verbs: VERBS,
  texts: ['org', 'url', 'overlap', 'state', 'endpoint', 'limit', 'secret-file'],
  flags: ['test', 'decides', 'dead'],
}

export const runWebhook = (commandArguments: readonly string[], input: WebhookCommandInput): Promise<number> =>
  runVerbOf(COMMAND, commandArguments, input.output, (run, command) =>
    runInOrganization(input.open, command, (opened, organizationId) =>
      run({ ...opened, output: input.output, command, organizationId }),
    ),
  )
