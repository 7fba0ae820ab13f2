// `countersign session decide`: also revokes decisions.

import { authorOption, type Command, type CommandContext, flag, ORG, text } from '../command-line/command.ts'
import { requireOrganization } from '../command-line/in-organization.ts'
import { nameOf } from '../command-line/option-values.ts'
import { CommandFailedError, UsageError } from '../command-line/output.ts'
import { COMMENT_MAX } from '../domain/session.ts'
import { printAnswer, UNDECLARED } from './derived/answer.ts'

const DECISIONS = ['completed', 'rejected', 'retry'] as const

const FLAGS = {
  public_comment: '--comment',
  private_comment: '--note',
  corrections: '--fix',
  override: '--override',
  status: 'DECISION',
}

const SESSION = '/organizations/{organization}/sessions/{session}'

const decide = async (context: CommandContext): Promise<void> => {
  const { command, user } = context
  const [given = '', decision] = command.words
  const status = DECISIONS.find((known) => known === decision)
  if (status === undefined) throw new UsageError(`DECISION must be one of ${DECISIONS.join(', ')}`)
  const revoke = command.flag('revoke')
  if (revoke && command.flag('override')) throw new UsageError('--override completes a session: omit it with --revoke')
  const { admin } = await context.open()
  const params = { organization: await requireOrganization({ admin }, command.text('org')), session: given }
  const session = await admin.call(`GET ${SESSION}`, { params })
  if (session.status === 'completed' && !revoke) {
    throw new CommandFailedError('the session is already completed: use --revoke to revoke the completion')
  }
  if (session.status !== 'completed' && revoke) {
    throw new CommandFailedError(`the session is ${session.status}, not completed: omit --revoke to decide it`)
  }
  const fix = command.text('fix')
  const body = {
    // Sequence that the decision is based on: if another person decides first, the operation is refused.
    sequence: session.sequence,
    public_comment: command.text('comment') ?? null,
    private_comment: command.text('note') ?? null,
    ...(fix === undefined ? {} : { corrections: [...new Set(fix.split(',').map((part) => part.trim()))] }),
  }
  const by = admin.as(nameOf(command, 'by', user))
  const decided = revoke
    ? // The operation refuses to revoke to `completed`.
      await by.call(`POST ${SESSION}/revoke`, {
        params,
        body: { status: status as 'rejected' | 'retry', ...body },
        flags: FLAGS,
      })
    : await by.call(`POST ${SESSION}/decide`, {
        params,
        body: { status, ...body, ...(command.flag('override') ? { override: true } : {}) },
        flags: FLAGS,
      })
  printAnswer(context, decided, UNDECLARED)
}

export const SESSION_COMMANDS: readonly Command[] = [
  {
    noun: 'session',
    verb: 'decide',
    summary: 'Complete, reject or send back a session',
    words: [
      { name: 'SESSION', help: 'Session ID' },
      { name: 'DECISION', help: DECISIONS.join(', ') },
    ],
    options: [
      text('comment', 'TEXT', `Comment for the person, at most ${COMMENT_MAX} characters`),
      text('note', 'TEXT', `Comment for operators, at most ${COMMENT_MAX} characters`),
      text('fix', 'A,B', 'Fields and documents to submit again after retry, or wallets. Defaults to everything'),
      flag('override', 'Complete the session despite missing parts. The audit log records them'),
      flag('revoke', 'Revoke a completed session'),
      authorOption('by'),
      ORG,
    ],
    run: async (context) => {
      await decide(context)
      return 0
    },
  },
]
