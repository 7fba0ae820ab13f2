// `countersign account`: lets an administrator sign in again when nobody else can help. Whoever may run commands can read the
// database too, so this gives no new rights.
import type { Open, Opened } from './admin-client.ts'
import { runOpened } from './in-organization.ts'
import { CommandFailedError, type CommandOutput, type ParsedCommand, print, UsageError, type Verbs } from './output.ts'
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
  readonly open: Open
}

interface Context extends Opened {
  readonly output: CommandOutput
  readonly command: ParsedCommand
}

const recover = async ({ store, admin, output, command }: Context): Promise<void> => {
  const email = command.positionals[1]
  if (email === undefined) throw new UsageError('EMAIL is missing')
  const user = await store.users.findByEmail(email)
  if (user === null) throw new CommandFailedError('there is no account with this email address')
  if (user.disabledAtSeconds !== null) {
    throw new CommandFailedError('the account is disabled: another deployment admin has to enable it first')
  }
  const { url, expires_at } = await admin.call('POST /users/{user}/recovery', {
    params: { user: user.id },
    body: { remove_second_factors: command.flag('remove-second-factors') },
  })
  const expiresAt = new Date(expires_at).toISOString()
  print(
    { output, command },
    { url, expiresAt },
    `${url}\nOpens once, until ${expiresAt}. Whoever has it can take the account: pass it on safely.\n`,
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
  runVerbOf(COMMAND, commandArguments, input.output, (run, command) =>
    runOpened(input.open, (opened) => run({ ...opened, output: input.output, command })),
  )
