// `countersign session`: lists, shows and decides identity sessions. A running service notices a decision within a second and
// sends it to the session's streams and webhooks.

import { COMMENT_MAX, SESSION_STATUSES } from '../domain/session.ts'
import { type AnswerOf, type InputOf, type Open, type Opened, readPages } from './admin-client.ts'
import { runInOrganization } from './in-organization.ts'
import { nameOf, parseLimit, printable } from './key-options.ts'
import {
  CommandFailedError,
  type CommandOutput,
  formatTable,
  type ParsedCommand,
  print,
  shortTime,
  UsageError,
  type Verbs,
} from './output.ts'
import { runVerbOf } from './run-verb.ts'

const USAGE = `Usage: countersign session list [--status STATUS] [--type TYPE] [--hits STATE] [--test | --live] [--limit N] [--quiet]
                                [--org NAME]
       countersign session show SESSION [--org NAME]
       countersign session decide SESSION completed|rejected|retry [--comment TEXT] [--note TEXT] [--by NAME] [--revoke]
                                  [--fix PARTS] [--override] [--org NAME]
       countersign session policy [POLICY | off] [--org NAME]

"policy" says which policy decides sessions that are handed in; "off": people do. Without either it shows which. Try it on
past sessions first: countersign policy replay.

  --status STATUS  One of ${SESSION_STATUSES.join(', ')}
  --type TYPE      individual or business
  --hits STATE     With a hit on a list or of a screener that is open, cleared or confirmed; none: without any
  --test, --live   Sessions of test keys, or of live keys, only
  --limit N        At most so many, newest first, 1 to 1000 (default 20)
  --quiet          Print ids only
  --comment TEXT   What the person is told, at most ${COMMENT_MAX} characters
  --note TEXT      For operators alone, at most ${COMMENT_MAX} characters
  --fix PARTS      With retry: what is to be given again, as a list with commas: names of fields and documents
                   (fullName,identity-document), or wallets. Without it the person looks at everything
  --override       Complete the session although a wallet or evidence is missing. The audit log records what was missing
  --by NAME        Who decides (default: the user that runs the command)
  --revoke         Needed to take back a completed session
  --org NAME       Organization, by name or id (default demo)
  --json           Print JSON
  --help           Print this

Exit codes: 0 done, 1 it can't be done, 2 the call is wrong.
`

export interface SessionCommandInput {
  readonly output: CommandOutput
  readonly open: Open
  /** Name of the user who runs the command. */
  readonly user: string
}

interface Context extends Opened, Pick<SessionCommandInput, 'output' | 'user'> {
  readonly command: ParsedCommand
  readonly organizationId: string
}

const DECISIONS = ['completed', 'rejected', 'retry'] as const

type SessionDetail = AnswerOf<'GET /organizations/{organization}/sessions/{session}'>
type Session = AnswerOf<'GET /organizations/{organization}/sessions'>['data'][number]
type ListQuery = NonNullable<InputOf<'GET /organizations/{organization}/sessions'>['query']>

const describe = (session: Session) => ({
  sessionId: session.id,
  type: session.type,
  status: session.status,
  environment: session.environment,
  level: session.level,
  provider: session.provider,
  walletAddress: session.wallet_address,
  originUrl: session.origin_url,
  userId: session.user_id,
  retryCount: session.retry_count,
  publicComment: session.public_comment,
  createdAt: shortTime(session.created_at),
  completedAt: shortTime(session.completed_at),
})

const parseEnvironment = (command: ParsedCommand) => {
  if (command.flag('test') && command.flag('live')) throw new UsageError('--test excludes --live')
  return command.flag('test') ? ('test' as const) : command.flag('live') ? ('live' as const) : undefined
}

const list = async ({ admin, output, command, organizationId }: Context): Promise<void> => {
  // The operation checks the values.
  const filter = {
    status: command.text('status'),
    type: command.text('type'),
    environment: parseEnvironment(command),
    hits: command.text('hits'),
  } as ListQuery
  const limit = parseLimit(command.text('limit'))
  const sessions = await readPages(
    (page) =>
      admin.call('GET /organizations/{organization}/sessions', {
        params: { organization: organizationId },
        query: { ...filter, ...page },
        flags: { status: '--status', type: '--type', hits: '--hits' },
      }),
    limit,
  )
  const rows = sessions.map(describe)
  if (command.flag('quiet')) {
    output.stdout(rows.map(({ sessionId }) => `${sessionId}\n`).join(''))
    return
  }
  print({ output, command }, rows, [
    ['SESSION', 'TYPE', 'STATUS', 'ENV', 'LEVEL', 'CREATED', 'WALLET'],
    ...rows.map((row) => [
      row.sessionId,
      row.type,
      row.status,
      row.environment,
      row.level,
      row.createdAt,
      row.walletAddress ?? 'any',
    ]),
  ])
}

/** @throws CommandFailedError when the organization has no session of the command's id */
export const requireSession = async ({
  admin,
  command,
  organizationId,
}: Pick<Context, 'admin' | 'command' | 'organizationId'>): Promise<SessionDetail> => {
  const session = command.positionals[1]
  if (session === undefined) throw new UsageError('SESSION is missing')
  return admin.call('GET /organizations/{organization}/sessions/{session}', {
    params: { organization: organizationId, session },
    unknown: `there is no session ${printable(session)}`,
  })
}

const printSession = ({ output, command }: Context, detail: SessionDetail): void => {
  const session = describe(detail)
  const wallets = detail.wallets.map(({ id, chain, address, connected_at: at }) => ({
    id,
    chain,
    address,
    connectedAt: shortTime(at),
  }))
  const past = detail.events.map((event) => ({
    sequence: event.sequence,
    kind: event.kind,
    status: event.status,
    actor: event.actor,
    publicComment: event.public_comment,
    privateComment: event.private_comment,
    overridden: event.overridden,
    at: shortTime(event.at),
  }))
  const tables = [
    Object.entries(session).map(([name, value]) => [name, printable(String(value ?? '-'))]),
    [['WALLET', 'CHAIN'], ...wallets.map(({ address, chain }) => [address, chain])],
    [
      ['#', 'AT', 'EVENT', 'STATUS', 'BY', 'COMMENT', 'NOTE', 'OVERRIDDEN'],
      ...past.map((event) => [
        String(event.sequence),
        event.at,
        event.kind,
        event.status,
        printable(event.actor),
        printable(event.publicComment ?? ''),
        printable(event.privateComment ?? ''),
        event.overridden.join(', '),
      ]),
    ],
  ]
  print({ output, command }, { ...session, wallets, events: past }, tables.map(formatTable).join('\n'))
}

const show = async (context: Context): Promise<void> => {
  printSession(context, await requireSession(context))
}

/** The option of each field of a decision. */
const FLAGS = {
  public_comment: '--comment',
  private_comment: '--note',
  corrections: '--fix',
  override: '--override',
  status: 'the decision',
}

const decide = async (context: Context): Promise<void> => {
  const { admin, command, organizationId, user } = context
  const to = DECISIONS.find((status) => status === command.positionals[2])
  if (to === undefined) throw new UsageError(`say ${DECISIONS.join(', ')}`)
  const session = await requireSession(context)
  const fix = command.text('fix')
  const revoke = command.flag('revoke')
  const override = command.flag('override')
  if (session.status === 'completed' && !revoke) {
    throw new CommandFailedError('the session is completed: --revoke takes that back')
  }
  const params = { organization: organizationId, session: session.id }
  const body = {
    // The state that was read: if somebody else decides meanwhile, the operation refuses.
    sequence: session.sequence,
    public_comment: command.text('comment') ?? null,
    private_comment: command.text('note') ?? null,
    ...(fix === undefined ? {} : { corrections: [...new Set(fix.split(',').map((part) => part.trim()))] }),
  }
  const by = admin.as(nameOf(command, 'by', user))
  const path = 'POST /organizations/{organization}/sessions/{session}'
  const decided =
    session.status === 'completed'
      ? // The operation checks the status.
        await by.call(`${path}/revoke`, { params, body: { status: to as 'rejected' | 'retry', ...body }, flags: FLAGS })
      : await by.call(`${path}/decide`, {
          params,
          body: { status: to, ...body, ...(override ? { override } : {}) },
          flags: FLAGS,
        })
  printSession(context, decided)
}

/** `session policy`: shows or sets whether people or a policy decide sessions. */
const decider = async ({ admin, output, command, organizationId }: Context): Promise<void> => {
  const [, wanted] = command.positionals
  const params = { organization: organizationId }
  const path = '/organizations/{organization}/session-policy'
  const { policy_id, name, revision } =
    wanted === undefined
      ? await admin.call(`GET ${path}`, { params })
      : await admin.call(`PUT ${path}`, {
          params,
          body: { policy_id: wanted === 'off' ? null : wanted },
          flags: { policy_id: 'POLICY' },
        })
  const shown = { policy: policy_id, name, revision }
  print({ output, command }, shown, [
    ['DECIDED BY', 'NAME', 'REVISION'],
    [policy_id ?? 'people', printable(name ?? '-'), revision === null ? '-' : String(revision)],
  ])
}

const VERBS: Verbs<(context: Context) => Promise<void>> = {
  list: { run: list, words: 0 },
  show: { run: show, words: 1 },
  decide: { run: decide, words: 2 },
  policy: { run: decider, words: 1 },
}

const COMMAND = {
  help: USAGE,
  subject: 'sessions',
  verbs: VERBS,
  texts: ['org', 'status', 'type', 'hits', 'limit', 'comment', 'note', 'by', 'fix'],
  flags: ['test', 'live', 'quiet', 'revoke', 'override'],
}

export const runSession = (commandArguments: readonly string[], input: SessionCommandInput): Promise<number> =>
  runVerbOf(COMMAND, commandArguments, input.output, (run, command) =>
    runInOrganization(input.open, command, (opened, organizationId) =>
      run({ ...opened, output: input.output, user: input.user, command, organizationId }),
    ),
  )
