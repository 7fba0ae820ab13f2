// `countersign session`: lists, shows and decides identity sessions. A running service notices a decision within a second and
// sends it to the session's streams and webhooks.

import { levelName } from '../domain/level.ts'
import { HIT_STATES } from '../domain/screening-hit.ts'
import {
  CHECK_TYPES,
  COMMENT_MAX,
  parseSessionType,
  SESSION_STATUSES,
  SESSION_TYPES,
  type Session,
  type SessionEvent,
  type SessionState,
  type SessionStatus,
} from '../domain/session.ts'
import type { Open, Opened } from './door.ts'
import { runInOrganization } from './in-organization.ts'
import { nameOf, parseLimit, printable } from './key-options.ts'
import {
  CommandFailedError,
  type CommandOutput,
  formatTable,
  type ParsedCommand,
  print,
  timeOrNull,
  timeText,
  UsageError,
  type Verbs,
} from './output.ts'
import { runVerbOf } from './run-verb.ts'

const USAGE = `Usage: countersign session list [--status STATUS] [--type TYPE] [--hits STATE] [--test | --live] [--limit N] [--quiet]
                                [--org NAME]
       countersign session show SESSION [--org NAME]
       countersign session decide SESSION completed|rejected|retry [--comment TEXT] [--note TEXT] [--by NAME] [--revoke]
                                  [--fix PARTS] [--org NAME]
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

const describe = (session: Session) => ({
  sessionId: session.id,
  type: SESSION_TYPES[session.checkType],
  status: session.status,
  environment: session.environment,
  level: levelName(session.level),
  provider: session.provider,
  walletAddress: session.lockedAddress,
  originUrl: session.originUrl,
  userId: session.userId,
  retryCount: session.retryCount,
  publicComment: session.publicComment,
  createdAt: timeText(session.createdAtSeconds),
  completedAt: timeOrNull(session.completedAtSeconds),
})

const parseStatus = (text: string | undefined): SessionStatus | undefined => {
  const status = SESSION_STATUSES.find((known) => known === text)
  if (text !== undefined && status === undefined) {
    throw new UsageError(`--status must be one of ${SESSION_STATUSES.join(', ')}`)
  }
  return status
}

const HITS = [...HIT_STATES, 'none'] as const

const parseHits = (text: string | undefined) => {
  const hits = HITS.find((known) => known === text)
  if (text !== undefined && hits === undefined) throw new UsageError(`--hits must be one of ${HITS.join(', ')}`)
  return hits
}

const parseEnvironment = (command: ParsedCommand) => {
  if (command.flag('test') && command.flag('live')) throw new UsageError('--test excludes --live')
  return command.flag('test') ? ('test' as const) : command.flag('live') ? ('live' as const) : undefined
}

const list = async ({ store, output, command, organizationId }: Context): Promise<void> => {
  const status = parseStatus(command.text('status'))
  const typeText = command.text('type')
  const type = typeText === undefined ? null : parseSessionType(typeText)
  if (typeText !== undefined && type === null) throw new UsageError('--type must be individual or business')
  const environment = parseEnvironment(command)
  const hits = parseHits(command.text('hits'))
  const filter = {
    organizationId,
    ...(status === undefined ? {} : { status }),
    ...(type === null ? {} : { checkType: CHECK_TYPES[type] }),
    ...(environment === undefined ? {} : { environment }),
    ...(hits === undefined ? {} : { hits }),
  }
  const page = { after: null, limit: parseLimit(command.text('limit')) }
  const rows = (await store.sessions.page(filter, page)).items.map(describe)
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

const requireSession = async ({ store, command, organizationId }: Context): Promise<SessionState> => {
  const id = command.positionals[1]
  if (id === undefined) throw new UsageError('SESSION is missing')
  const state = await store.sessions.find(organizationId, id.toLowerCase())
  if (state === null) throw new CommandFailedError(`there is no session ${printable(id)}`)
  return state
}

const describeState = ({ session, wallets }: SessionState, events: readonly SessionEvent[]) => ({
  ...describe(session),
  wallets: wallets.map(({ id, chain, addressText, connectedAtSeconds }) => ({
    id,
    chain,
    address: addressText,
    connectedAt: timeText(connectedAtSeconds),
  })),
  events: events.map(({ createdAtSeconds, ...event }) => ({ ...event, at: timeText(createdAtSeconds) })),
})

const printState = ({ output, command }: Context, state: SessionState, events: readonly SessionEvent[]): void => {
  const { wallets, events: past, ...session } = describeState(state, events)
  const tables = [
    Object.entries(session).map(([name, value]) => [name, printable(String(value ?? '-'))]),
    [['WALLET', 'CHAIN'], ...wallets.map(({ address, chain }) => [address, chain])],
    [
      ['#', 'AT', 'EVENT', 'STATUS', 'BY', 'COMMENT', 'NOTE'],
      ...past.map((event) => [
        String(event.sequence),
        event.at,
        event.kind,
        event.status,
        printable(event.actor),
        printable(event.publicComment ?? ''),
        printable(event.privateComment ?? ''),
      ]),
    ],
  ]
  print({ output, command }, { ...session, wallets, events: past }, tables.map(formatTable).join('\n'))
}

const show = async (context: Context): Promise<void> => {
  const state = await requireSession(context)
  printState(context, state, await context.store.sessions.listEvents(context.organizationId, state.session.id))
}

/** The option of each field of a decision. */
const FLAGS = { public_comment: '--comment', private_comment: '--note', corrections: '--fix', status: 'the decision' }

const decide = async (context: Context): Promise<void> => {
  const { store, door, command, organizationId, user } = context
  const to = DECISIONS.find((status) => status === command.positionals[2])
  if (to === undefined) throw new UsageError(`say ${DECISIONS.join(', ')}`)
  const { session } = await requireSession(context)
  const fix = command.text('fix')
  const revoke = command.flag('revoke')
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
  const by = door.as(nameOf(command, 'by', user))
  if (session.status !== 'completed') {
    const path = 'POST /organizations/{organization}/sessions/{session}/decide'
    await by.call(path, { params, body: { status: to, ...body }, flags: FLAGS })
  } else {
    const path = 'POST /organizations/{organization}/sessions/{session}/revoke'
    // The operation checks the status.
    await by.call(path, { params, body: { status: to as 'rejected' | 'retry', ...body }, flags: FLAGS })
  }
  printState(context, await requireSession(context), await store.sessions.listEvents(organizationId, session.id))
}

/** `session policy`: shows or sets whether people or a policy decide sessions. */
const decider = async ({ door, output, command, organizationId }: Context): Promise<void> => {
  const [, wanted] = command.positionals
  const params = { organization: organizationId }
  const path = '/organizations/{organization}/session-policy'
  const { policy_id, name, revision } =
    wanted === undefined
      ? await door.call(`GET ${path}`, { params })
      : await door.call(`PUT ${path}`, {
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
  flags: ['test', 'live', 'quiet', 'revoke'],
}

export const runSession = (commandArguments: readonly string[], input: SessionCommandInput): Promise<number> =>
  runVerbOf(COMMAND, commandArguments, input.output, (run, command) =>
    runInOrganization(input.open, command, (opened, organizationId) =>
      run({ ...opened, output: input.output, user: input.user, command, organizationId }),
    ),
  )
