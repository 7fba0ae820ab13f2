// Translates earlier spellings of commands, for operators' scripts. Help and completion omit them.
import { parseArgs } from 'node:util'
import { type Command, optionsOf } from '../command-line/command.ts'
import { UsageError } from '../command-line/output.ts'
import { PROGRAM } from '../program/labels.ts'
import { isHelp } from './run-command.ts'

/** Options with another name or form; others are unchanged. */
type RenamedOptions = Readonly<Record<string, string>>

/** Required words and options, then the current command. Uppercase: a placeholder; …: all remaining words. */
export type Spelling = readonly [from: string, to: string, options?: RenamedOptions]

const EARLIER_NOUNS: Readonly<Record<string, string>> = { keys: 'key', lists: 'list', org: 'organization' }

const nounOf = (word: string): string => (Object.hasOwn(EARLIER_NOUNS, word) ? (EARLIER_NOUNS[word] ?? word) : word)

const TEST = { test: '--environment=test' }
const WEBHOOK = { ...TEST, decides: '--purpose=decisions' }
const FETCHED = { 'url URL': '--fetch-url=URL' }
const AGAIN = { 'screeners-again on': '--screeners-again', 'screeners-again off': '--no-screeners-again' }
const REQUEST = Object.fromEntries(
  ['chain', 'from', 'to', 'data', 'msg-value', 'user-ip', 'on-behalf'].map((name) => [
    `request-${name} VALUE`,
    `--${name}=VALUE`,
  ]),
)

const ruleSpellings = (rule: 'second-factor' | 'second-person'): readonly Spelling[] => [
  [`org ${rule}`, `${rule}-rule show --deployment`],
  [`org ${rule} on`, `${rule}-rule update --required --deployment`],
  [`org ${rule} off`, `${rule}-rule update --no-required --deployment`],
  [`org ${rule} ORG`, `${rule}-rule show --org=ORG`],
  [`org ${rule} ORG on`, `${rule}-rule update --required --org=ORG`],
  [`org ${rule} ORG off`, `${rule}-rule update --no-required --org=ORG`],
]

/** The first matching spelling applies. */
export const EARLIER_SPELLINGS: readonly Spelling[] = [
  ['attester add', 'attester create'],
  ['evidence reads SESSION', 'evidence list-reads SESSION'],
  ['evidence retention', 'evidence-retention show'],
  ['evidence retention', 'evidence-retention update'],
  ['keys issue --name NAME', 'key create --name=NAME', TEST],
  ['keys issue', 'key create --name=unnamed', TEST],
  ['lists export LIST', 'list export LIST', { 'output FILE': '--out=FILE' }],
  ['lists source LIST --none', 'list-source delete LIST'],
  ['lists source LIST', 'list-source update LIST'],
  ['lists refresh LIST', 'list-source refresh LIST'],
  ['org level ORG LEVEL', 'organization update ORG --level=LEVEL'],
  ['org brand ORG', 'brand update --org=ORG'],
  ['org trust ORG', 'verification-trust show --org=ORG'],
  ['org trust ORG all', 'verification-trust update --trusts=all --org=ORG'],
  ['org trust ORG none', 'verification-trust update --trusts=none --org=ORG'],
  ['org trust ORG OTHER…', 'verification-trust update --trusts=listed --organizations=OTHER… --org=ORG'],
  ['org minimum-age ORG', 'minimum-age show --org=ORG'],
  ['org minimum-age ORG YEARS --level LEVEL', 'minimum-age update --LEVEL=YEARS --org=ORG'],
  ['org minimum-age ORG YEARS', 'minimum-age update --years=YEARS --org=ORG'],
  ...ruleSpellings('second-factor'),
  ...ruleSpellings('second-person'),
  ['policy show POLICY --revisions', 'policy list-revisions POLICY'],
  ['policy shadow POLICY --off', 'policy shadow POLICY --revision=none'],
  ['project create --hash HASH', 'project create --verification-hash=HASH'],
  ['project set PROJECT', 'project update PROJECT'],
  ['project try PROJECT', 'project try PROJECT', REQUEST],
  ['project bind PROJECT', 'binding create --project=PROJECT'],
  ['project unbind PROJECT --address ADDRESS', 'binding delete ADDRESS --project=PROJECT'],
  ['project bindings PROJECT', 'binding list --project=PROJECT'],
  ['screening enable LIST', 'screening-list enable LIST', FETCHED],
  ['screening disable LIST', 'screening-list disable LIST'],
  ['screening import LIST FILE…', 'screening-list import LIST FILE…'],
  ['screening status', 'screening-list list'],
  ['screening settings', 'screening show'],
  ['screening settings', 'screening update', AGAIN],
  ['screening trial --threshold SCORE', 'screening trial'],
  ['session list --live', 'session list --environment=live'],
  ['session list --test', 'session list --environment=test'],
  ['session policy', 'session-policy show'],
  ['session policy off', 'session-policy update --policy=none'],
  ['session policy POLICY', 'session-policy update --policy=POLICY'],
  ['webhook add', 'webhook create', WEBHOOK],
  ['webhook remove ENDPOINT', 'webhook delete ENDPOINT'],
  ['webhook service ENDPOINT SERVICE', 'webhook set-service ENDPOINT SERVICE'],
  ['webhook deliveries', 'webhook-message list'],
  ['webhook resend --dead', 'webhook-message resend-dead'],
  ['webhook resend MESSAGE', 'webhook-message resend MESSAGE'],
]

const PLACEHOLDER = /[A-Z]+…?/
const PLACEHOLDERS = /[A-Z]+…?/g
const fill = (parts: readonly string[], values: ReadonlyMap<string, readonly string[]>): readonly string[] =>
  parts.flatMap(
    (part) => values.get(part) ?? [part.replaceAll(PLACEHOLDERS, (name) => values.get(name)?.join(',') ?? '')],
  )

/** Returns the values of the placeholders; null if the words don't match. */
const matchWords = (expected: readonly string[], given: readonly string[]): Map<string, readonly string[]> | null => {
  const takesRest = expected.at(-1)?.endsWith('…') ?? false
  if (takesRest ? given.length < expected.length : given.length !== expected.length) return null
  const values = new Map<string, readonly string[]>()
  for (const [index, word] of expected.entries()) {
    if (PLACEHOLDER.test(word)) values.set(word, given.slice(index, word.endsWith('…') ? undefined : index + 1))
    else if (word !== given[index]) return null
  }
  return values
}

const parserOptions = (target: Command, ofSpelling: readonly string[]) =>
  Object.fromEntries([
    ...optionsOf(target).flatMap(({ name, value, short, negatable }) => {
      const type = value === null ? ('boolean' as const) : ('string' as const)
      return [name, ...(negatable ? [`no-${name}`] : [])].map(
        (each) => [each, { type, ...(short && { short }) }] as const,
      )
    }),
    ...ofSpelling.map((option) => {
      const [name = '', value] = option.split(' ')
      return [name, { type: value === undefined ? ('boolean' as const) : ('string' as const) }] as const
    }),
  ])

const splitSpelling = ([from]: Spelling) => {
  const [words = '', ...required] = from.split(' --')
  const [noun = '', verb = '', ...expected] = words.split(' ')
  return { noun: nounOf(noun), verb, expected, required }
}

/** Returns the words and options of the current command; null if the spelling doesn't match. */
const apply = (spelling: Spelling, target: Command, args: readonly string[]): readonly string[] | null => {
  const [, to, renamed = {}] = spelling
  const { verb, expected, required } = splitSpelling(spelling)
  const options = parserOptions(target, [...required, ...Object.keys(renamed)])
  const { tokens } = parseArgs({ args: [...args], options, allowPositionals: true, strict: false, tokens: true })
  const [first, ...given] = tokens.flatMap((token) => (token.kind === 'positional' ? [token.value] : []))
  const values = first === verb ? matchWords(expected, given) : null
  if (values === null) return null
  const left = new Set(required)
  const rewritten: string[] = []
  for (const token of tokens) {
    if (token.kind !== 'option') continue
    if (!Object.hasOwn(options, token.name)) return null
    const isToken = (option: string): boolean => {
      const [name, value] = option.split(' ')
      return name === token.name && (value === undefined || PLACEHOLDER.test(value) || value === token.value)
    }
    const own = required.find(isToken)
    const other = Object.keys(renamed).find(isToken)
    const value = [token.value ?? '']
    if (own !== undefined) {
      left.delete(own)
      values.set(own.split(' ')[1] ?? '', value)
    } else if (other !== undefined) {
      rewritten.push(...fill([renamed[other] ?? ''], new Map([[other.split(' ')[1] ?? '', value]])))
    } else rewritten.push(token.value === undefined ? `--${token.name}` : `--${token.name}=${token.value}`)
  }
  if (left.size > 0) return null
  const [, newVerb = '', ...parts] = to.split(' ')
  const isOption = (part: string): boolean => part.startsWith('--')
  const words = fill(
    parts.filter((part) => !isOption(part)),
    values,
  )
  return [newVerb, ...fill(parts.filter(isOption), values), ...rewritten, ...(words.length > 0 ? ['--', ...words] : [])]
}

/** Returns all other commands unchanged. @throws UsageError for a partial match of an earlier spelling */
export const translateEarlier = (
  [word, ...args]: readonly [noun: string, ...args: string[]],
  commandsOf: (noun: string) => readonly Command[],
): readonly [noun: string, ...args: string[]] => {
  const noun = nounOf(word)
  const current = commandsOf(noun).map(({ verb }) => verb)
  const spellings = EARLIER_SPELLINGS.map((spelling) => ({ spelling, ...splitSpelling(spelling) })).filter(
    (each) => each.noun === noun,
  )
  const verb = args.find((each) => current.includes(each) || spellings.some((known) => known.verb === each))
  const ofVerb = spellings.filter((each) => each.verb === verb).map(({ spelling }) => spelling)
  const wantsHelp = args.some(isHelp)
  let now = ''
  for (const spelling of ofVerb) {
    const [newNoun = '', newVerb = ''] = spelling[1].split(' ')
    const target = commandsOf(newNoun).find((command) => command.verb === newVerb)
    const translated = target === undefined ? null : apply(spelling, target, args)
    if (translated !== null && !wantsHelp) return [newNoun, ...translated]
    now = `${newNoun} ${newVerb}`
  }
  if (verb === undefined || ofVerb.length === 0 || current.includes(verb)) return [noun, ...args]
  if (wantsHelp) return [...(now.split(' ') as [string, string]), '--help']
  throw new UsageError(
    `the command ${word} ${verb} is called ${now}, and takes different arguments: see ${PROGRAM} help ${now}`,
  )
}
