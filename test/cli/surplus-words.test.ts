// What every command with verbs refuses: a word too many, and a verb that is only a name that objects have.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { runAttester } from '../../src/cli/attester.ts'
import { runEvidence } from '../../src/cli/evidence.ts'
import { runLists } from '../../src/cli/lists/lists.ts'
import { runOrg } from '../../src/cli/org.ts'
import { findVerb, parseCommand, UsageError } from '../../src/cli/output.ts'
import { runPolicy } from '../../src/cli/policy/policy.ts'
import { runSession } from '../../src/cli/session.ts'
import { runSolana } from '../../src/cli/solana.ts'
import { createChainTable } from '../../src/domain/chain.ts'
import { dataFolderAt } from '../../src/setup/data-folder.ts'
import { openTemporaryStore, type TemporaryStore } from '../store/temporary-store.ts'
import { allPolicies } from '../support/all-rows.ts'
import { openOver } from './admin-client-over.ts'
import { recordOutput } from './recorded-output.ts'

let temporary: TemporaryStore
let opened = 0
let { output, printed } = recordOutput()

beforeEach(async () => {
  temporary = await openTemporaryStore()
  await temporary.store.organizations.create({ slug: 'demo', name: 'Demo' })
  opened = 0
})
afterEach(() => temporary.remove())

const never = (): never => {
  throw new Error('not reached')
}
const open = async () => {
  opened += 1
  return openOver(temporary)()
}
const chains = createChainTable([])

const COMMANDS = {
  attester: (words: string[]) =>
    runAttester(words, {
      output,
      open,
      folder: dataFolderAt(dirname(temporary.path)),
      passphrase: never,
      rotatePassphrase: never,
    }),
  evidence: (words: string[]) => runEvidence(words, { output, open, rotateKey: never, user: 'anna' }),
  lists: (words: string[]) => runLists(words, { output, open, clock: temporary.clock, user: 'anna' }),
  org: (words: string[]) => runOrg(words, { output, open }),
  policy: (words: string[]) =>
    runPolicy(words, {
      screeners: new Set(),
      output,
      open,
      chains,
      clock: temporary.clock,
      isTerminal: false,
      decisionsDirectory: dirname(temporary.path),
    }),
  session: (words: string[]) => runSession(words, { output, open, user: 'anna' }),
  solana: (words: string[]) =>
    runSolana(words, { output, openStore: async () => (await open()).store, settings: undefined }),
} as const
type Command = keyof typeof COMMANDS

const run = async (command: Command, ...words: string[]): Promise<number> => {
  ;({ output, printed } = recordOutput())
  return COMMANDS[command](words)
}

/** The words that each verb takes. */
const VERBS: Readonly<Record<Command, Readonly<Record<string, number>>>> = {
  attester: { add: 0, import: 1, list: 0, retire: 1 },
  evidence: { show: 1, save: 2, reads: 1, erase: 1, retention: 0 },
  lists: { list: 0, create: 1, show: 1, upload: 2, export: 1, source: 1, refresh: 1, delete: 1 },
  org: { list: 0, create: 1, level: 2 },
  policy: {
    check: 1,
    test: 1,
    templates: 0,
    new: 0,
    schema: 0,
    diff: 2,
    apply: 1,
    activate: 1,
    shadow: 1,
    replay: 1,
    list: 0,
    show: 1,
  },
  session: { list: 0, show: 1, decide: 2 },
  solana: { 'deploy-plan': 0 },
}
const names = Object.keys(COMMANDS) as Command[]

test.each(names)('%s: a word too many is refused before anything is opened', async (command) => {
  for (const [verb, words] of Object.entries(VERBS[command])) {
    const given = Array.from({ length: words + 1 }, (_, index) => `canary${index}`)
    expect({ verb, code: await run(command, verb, ...given) }).toEqual({ verb, code: 2 })
    expect(printed.stderr).toStartWith(`${verb} takes `)
    expect(printed.stdout + printed.stderr).not.toContain('canary')
  }
  expect(opened).toBe(0)
})

test.each(names)('%s: what objects inherit is no verb', async (command) => {
  for (const verb of ['toString', '__proto__', 'constructor', 'hasOwnProperty', '']) {
    expect({ verb, code: await run(command, verb) }).toEqual({ verb, code: 2 })
    expect(printed.stderr).toStartWith('say what to do with ')
  }
  expect(opened).toBe(0)
})

test('policy apply FILE ID, without --policy, makes no policy', async () => {
  const file = join(dirname(temporary.path), 'policy.yaml')
  expect(await run('policy', 'new', '--template', 'allow-list-only')).toBe(0)
  writeFileSync(file, printed.stdout)
  expect(await run('policy', 'apply', file, 'policy_1')).toBe(2)
  const { store } = temporary
  const organization = await store.organizations.find('demo')
  expect(await allPolicies(store, organization!.id)).toEqual([])
})

describe('parseCommand', () => {
  const options = { help: { type: 'boolean', short: 'h' }, name: { type: 'string' } } as const
  const verbs = { add: { run: 'add', words: 1 }, list: { run: 'list', words: 0 } }

  test('takes as many words as the verb does, options not counted', () => {
    const command = parseCommand(['add', '--name', 'x', 'y'], options, verbs)
    expect(findVerb(verbs, command)).toBe('add')
    expect(command.positionals).toEqual(['add', 'y'])
    expect(() => parseCommand(['add', 'y', 'z'], options, verbs)).toThrow(
      new UsageError('add takes 1 word and options'),
    )
    expect(() => parseCommand(['list', 'y'], options, verbs)).toThrow(new UsageError('list takes options only'))
  })

  test("help is given whatever else there is; unknown verbs are their command's to refuse", () => {
    expect(parseCommand(['list', 'y', '-h'], options, verbs).flag('help')).toBe(true)
    expect(findVerb(verbs, parseCommand(['other', 'y'], options, verbs))).toBeUndefined()
    expect(parseCommand(['list', 'y'], options).positionals).toEqual(['list', 'y'])
  })
})
