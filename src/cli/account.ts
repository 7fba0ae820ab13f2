// `countersign account`: for an administrator who can't sign in any more and has nobody to ask. Whoever may run commands
// may read the database too; what this does is in the audit log and ends nothing quietly.
import { recoverAccount } from '../admin/accounts/links.ts'
import type { Clock } from '../domain/time.ts'
import { COMMAND_LINE } from '../store/account-makers.ts'
import type { Store } from '../store/store.ts'
import { CommandFailedError, type CommandOutput, type ParsedCommand, UsageError, type Verbs } from './output.ts'
import { runVerbOf } from './run-verb.ts'

const USAGE = `Usage: countersign account recover EMAIL [--remove-second-factors]

Prints a link that opens once, within a day: with it the account sets a new password, which ends its sessions. The links
made for the account before stop working.

  --remove-second-factors  Also end its one-time codes, recovery codes, passkeys and sessions, now
  --json                   Print JSON
  --help                   Print this

Exit codes: 0 done, 1 it can't be done, 2 the call is wrong.
`

export interface AccountCommandInput {
  readonly output: CommandOutput
  readonly openStore: () => Promise<Store>
  readonly clock: Clock
  /** Where people open the dashboard, without a slash at the end. */
  readonly dashboardUrl: string
  /** Name of the operating system's user. */
  readonly user: string
}

const recover = async (input: AccountCommandInput, store: Store, command: ParsedCommand): Promise<void> => {
  const email = command.positionals[1]
  if (email === undefined) throw new UsageError('EMAIL is missing')
  const removes = command.flag('remove-second-factors')
  const link = await store.transaction(async (tables) => {
    const user = await tables.users.findByEmail(email)
    if (user === null) throw new CommandFailedError('there is no account with this email address')
    if (user.disabledAtSeconds !== null) {
      throw new CommandFailedError('the account is disabled: another deployment admin has to enable it first')
    }
    const made = await recoverAccount(tables, input.clock, input.dashboardUrl, user.id, {
      by: COMMAND_LINE,
      removeSecondFactors: removes,
    })
    await tables.audit.append({
      organizationId: null,
      actor: COMMAND_LINE,
      actorName: input.user,
      action: 'account.recovery',
      subject: user.id,
      detail: { second_factors_removed: removes },
      requestId: '',
    })
    return { url: made.url, expiresAt: new Date(made.expiresAtSeconds * 1000).toISOString() }
  })
  input.output.stdout(
    command.flag('json')
      ? `${JSON.stringify(link)}\n`
      : `${link.url}\nOpens once, until ${link.expiresAt}. Whoever has it can take the account: pass it on safely.\n`,
  )
}

const VERBS: Verbs<typeof recover> = { recover: { run: recover, words: 1 } }

const COMMAND = {
  help: USAGE,
  subject: 'accounts',
  verbs: VERBS,
  texts: [],
  flags: ['remove-second-factors'],
}

export const runAccount = (commandArguments: readonly string[], input: AccountCommandInput): Promise<number> =>
  runVerbOf(COMMAND, commandArguments, input.output, async (run, command) => {
    const store = await input.openStore()
    try {
      await run(input, store, command)
      return 0
    } finally {
      await store.close()
    }
  })
