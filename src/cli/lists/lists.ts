// `countersign lists …`: changes lists of addresses by hand, by file and by source. A running service uses a change within a
// second.
import type { Clock } from '../../lib/time.ts'
import type { Open, Opened } from '../admin-client.ts'
import { requireOrganization } from '../in-organization.ts'
import { type CommandOutput, parseCommand, runToExitCode, UsageError } from '../output.ts'
import type { ListsContext } from './list-context.ts'
import { add, exportList, find, remove, upload } from './list-entries.ts'
import { create, deleteList, list, refresh, show, source } from './list-sources.ts'

const USAGE = `Usage: countersign lists list
       countersign lists create NAME [--description TEXT]
       countersign lists show NAME
       countersign lists upload NAME FILE [--format text|csv|sdn-advanced] [--merge] [--skip-bad] [--author NAME]
       countersign lists export NAME [--format text|csv] [--output FILE]
       countersign lists add NAME ADDRESS… [--memo TEXT] [--author NAME]
       countersign lists remove NAME ADDRESS… [--author NAME]
       countersign lists find NAME ADDRESS
       countersign lists source NAME --from FILE|URL [--format …] [--every 24h] [--skip-bad] [--reach …]
       countersign lists source NAME --none
       countersign lists refresh NAME
       countersign lists delete NAME

Lists of EVM and Solana addresses, up to a million each. An organization's lists named deny and allow come before its
policies: a deny entry beats an allow entry, an allow entry beats the policy. Others are read by policies, by name.
An EVM address stands for itself on every EVM chain, in any case.

  upload   Replaces the list by a file (- for standard input): one address a line, or CSV of address and memo, or the US
           Treasury's sdn_advanced.xml; --merge adds to it. A bad line refuses the whole file, unless --skip-bad.
  export   All entries: text, CSV (which upload takes back), or with --json one object a line with author and time.
  source   Keeps the list by a file or an https URL, read at once and then on its schedule. When it can't be read, or is
           not good, the last good content stays and grows older; policies may demand a maximum age.
  refresh  Reads the source now.

  --org NAME       Organization, by name or id (default demo)
  --shared         The deployment's lists, which all organizations' policies can read
  --every TIME     60s at least, for example 15m, 12h or 7d (default 24h)
  --reach WHERE    Which addresses the URL may lead to: public (default), private (this network, too), or loopback
                   (this machine only; http is allowed). No redirect is followed.
  --author NAME    Who adds the entries (default: the operating system's user)
  --json           Print JSON
  --help           Print this

Exit codes: 0 done, 1 a bad line, not found, or it can't be done, 2 the call is wrong.
`

export interface ListsCommandInput {
  readonly output: CommandOutput
  readonly open: Open
  readonly clock: Clock
  /** The operating system's user. */
  readonly user: string
}

interface Command {
  readonly run: (context: ListsContext) => Promise<number>
  readonly words: number
  /** Options it takes, besides --org, --shared, --json and --help. */
  readonly options: readonly string[]
}

/** Any number of words: the command checks the addresses itself. */
const ANY = Number.POSITIVE_INFINITY

const COMMANDS: Readonly<Record<string, Command>> = {
  list: { run: list, words: 0, options: [] },
  create: { run: create, words: 1, options: ['description'] },
  show: { run: show, words: 1, options: [] },
  upload: { run: upload, words: 2, options: ['format', 'merge', 'skip-bad', 'author'] },
  export: { run: exportList, words: 1, options: ['format', 'output'] },
  add: { run: add, words: ANY, options: ['memo', 'author'] },
  remove: { run: remove, words: ANY, options: ['author'] },
  find: { run: find, words: ANY, options: [] },
  source: { run: source, words: 1, options: ['from', 'format', 'every', 'skip-bad', 'reach', 'none'] },
  refresh: { run: refresh, words: 1, options: [] },
  delete: { run: deleteList, words: 1, options: [] },
}

const text = { type: 'string' } as const
const flag = { type: 'boolean' } as const
const COMMON = { org: text, shared: flag, json: flag, help: { type: 'boolean', short: 'h' } } as const
const OPTIONS = {
  description: text,
  format: text,
  author: text,
  memo: text,
  output: text,
  from: text,
  every: text,
  reach: text,
  merge: flag,
  'skip-bad': flag,
  none: flag,
} as const

const ownerOf = async (opened: Opened, name: string | undefined, shared: boolean): Promise<string | null> => {
  if (shared) {
    if (name !== undefined) throw new UsageError('--shared excludes --org')
    return null
  }
  return requireOrganization(opened, name)
}

export const runLists = (commandArguments: readonly string[], input: ListsCommandInput): Promise<number> =>
  runToExitCode(input.output, USAGE, commandArguments, async () => {
    const command = parseCommand(commandArguments, { ...COMMON, ...OPTIONS }, COMMANDS)
    if (command.flag('help')) {
      input.output.stdout(USAGE)
      return 0
    }
    const name = command.positionals[0] ?? ''
    const known = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
    if (known === undefined) throw new UsageError('say what to do with lists')
    for (const option of Object.keys(OPTIONS)) {
      const given = command.text(option) !== undefined || command.flag(option)
      if (given && !known.options.includes(option)) throw new UsageError(`${name} does not take --${option}`)
    }
    const opened = await input.open()
    try {
      const owner = await ownerOf(opened, command.text('org'), command.flag('shared'))
      const { output, clock, user } = input
      return await known.run({ ...opened, output, command, owner, clock, user })
    } finally {
      await opened.close()
    }
  })
